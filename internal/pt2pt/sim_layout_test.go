package pt2pt

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Sends and receives with layouts. Either side of a message may have one, whatever the
// other has: the oracle sees the bytes at their places, and the layout sees that the
// engine does with it what it may, and writes to nothing else.

// simLayout is a message in blocks, in their order in memory or backwards.
type simLayout struct {
	w      *simWorld
	mem    []byte
	size   int // of the message
	block  int
	stride int // from one block to the next; below 0 backwards
	first  int // where the first block is
	next   int // the byte of the message behind the latest piece
	pieces int
	freed  bool
}

// gap is what lies between the blocks, and is in no message.
const gap = 0xD7

// newLayout makes a layout for n bytes.
func (w *simWorld) newLayout(n int) *simLayout {
	rng := w.shapes
	y := &simLayout{w: w, size: n, block: 1 + rng.IntN(1+rng.IntN(40))}
	y.stride = y.block + rng.IntN(1+rng.IntN(12))
	blocks := (n + y.block - 1) / y.block
	margin := rng.IntN(5)
	y.mem = bytes.Repeat([]byte{gap}, 2*margin+blocks*y.stride)
	if y.first = margin; rng.IntN(3) == 0 && blocks > 0 {
		y.first, y.stride = margin+(blocks-1)*y.stride, -y.stride
	}
	return y
}

func (y *simLayout) place(k int) *byte { return &y.mem[y.first+k/y.block*y.stride+k%y.block] }

func (y *simLayout) Pack(dst []byte, at uint64) {
	y.use(len(dst), int(at), y.next)
	for i := range dst {
		dst[i] = *y.place(int(at) + i)
	}
}

func (y *simLayout) Unpack(src []byte, at uint64) {
	if at > 0 && int(at) != y.next {
		y.w.fail("bytes from %d of a layout are unpacked behind those to %d", at, y.next)
	}
	y.use(len(src), int(at), y.size)
	for i, b := range src {
		*y.place(int(at) + i) = b
	}
}

// use checks a piece of n bytes, which begins up to last.
func (y *simLayout) use(n, at, last int) {
	switch {
	case y.freed:
		y.w.fail("a layout is used that has been freed")
	case at > last || n > y.size-at:
		y.w.fail("bytes %d to %d of a layout of %d, of which %d are done", at, at+n, y.size, y.next)
	}
	y.next = at + n
	y.pieces++
}

func (y *simLayout) Free() {
	if y.freed {
		y.w.fail("a layout is freed twice")
	}
	y.freed = true
}

// put puts bytes at their places, get fetches them.
func (y *simLayout) put(b []byte) {
	for k := range b {
		*y.place(k) = b[k]
	}
}

func (y *simLayout) get(b []byte) {
	for k := range b {
		b[k] = *y.place(k)
	}
}

// checkGaps fails if anything but the message's bytes has been written to.
func (y *simLayout) checkGaps() {
	rest := bytes.Clone(y.mem)
	for k := range y.size {
		rest[y.first+k/y.block*y.stride+k%y.block] = gap
	}
	for i, b := range rest {
		if b != gap {
			y.w.fail("byte %d of a layout's memory is %#x and belongs to no block", i, b)
		}
	}
}

// shape is of which kind the memory of a send or a receive is.
type shape uint8

const (
	plain   shape = iota
	ofBytes       // Data without a layout
	ofLayout
)

// drawShape draws it for an operation.
func (w *simWorld) drawShape() shape {
	switch {
	case w.shapes == nil || w.shapes.IntN(256) >= w.shaped:
		return plain
	case w.shapes.IntN(4) == 0:
		return ofBytes
	}
	return ofLayout
}

// drawShapes draws how many of the operations have layouts, in one plan of three. It has
// a generator of its own, so that the other plans stay as they are.
func (w *simWorld) drawShapes(rng *rand.Rand) {
	if rng.IntN(3) == 0 {
		w.shapes, w.shaped = rng, 1+rng.IntN(256)
	}
}

// data gives a request its kind of memory. It is nil if that is plain, else what the
// engine is called with.
func (q *simReq) data(s shape) *Data {
	switch s {
	case ofBytes:
		return &Data{Bytes: q.buf}
	case ofLayout:
		q.lay = q.r.w.newLayout(len(q.buf))
		q.lay.put(q.buf)
		return &Data{Layout: q.lay, Size: uint64(len(q.buf))}
	}
	return nil
}

// memory is what the engine reads and writes.
func (q *simReq) memory() []byte {
	if q.lay != nil {
		return q.lay.mem
	}
	return q.buf
}

// fillAgain fills the memory of a persistent request with b.
func (q *simReq) fillAgain(b []byte) {
	copy(q.buf, b)
	if q.lay != nil {
		q.lay.put(q.buf)
		q.lay.next = 0
	}
}

// fetch has in q.buf what a receive has written.
func (q *simReq) fetch() {
	if q.lay != nil {
		q.lay.get(q.buf)
		q.lay.checkGaps()
	}
}

// checkFreed checks that the engine has given all layouts of living ranks back.
func (w *simWorld) checkFreed() {
	for _, q := range w.reqs {
		if q != nil && q.lay != nil && !q.r.dead && !q.lay.freed {
			w.fail("the layout of request #%d has not been freed", q.id)
		}
	}
}

// The simulation sends out of layouts and receives into them, in pieces.
func TestTheSimulationHasLayouts(t *testing.T) {
	sends, receives, pieces := 0, 0, 0
	for seed := uint64(1); seed <= 50; seed++ {
		w, p := drawWorld(seed)
		if err := w.run(p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, q := range w.reqs {
			switch {
			case q == nil || q.lay == nil || q.lay.pieces == 0:
			case q.recv:
				receives++
			default:
				sends++
			}
			if q != nil && q.lay != nil && q.lay.pieces > 1 {
				pieces++
			}
		}
	}
	if min(sends, receives, pieces) < 100 {
		t.Errorf("%d sends, %d receives, %d in pieces", sends, receives, pieces)
	}
}
