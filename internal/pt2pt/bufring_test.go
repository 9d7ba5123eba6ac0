package pt2pt

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// circular is the model of MPI-4.0 §3.6.1 word for word, over memory of which
// each byte knows whether it is taken.
type circular struct {
	taken []bool
	tail  int
	queue []*pending // oldest first
}

// pending is an entry of the model's queue, a message with its overhead.
type pending struct {
	off, n    int
	completed bool
}

func (m *circular) send(n int) *pending {
	for len(m.queue) > 0 && m.queue[0].completed {
		for i := range m.queue[0].n {
			m.taken[m.queue[0].off+i] = false
		}
		m.queue = m.queue[1:]
	}
	for _, off := range []int{m.tail, 0} {
		if m.empty(off, n) {
			for i := range n {
				m.taken[off+i] = true
			}
			e := &pending{off: off, n: n}
			m.tail = off + n
			m.queue = append(m.queue, e)
			return e
		}
	}
	return nil
}

func (m *circular) empty(off, n int) bool {
	if off+n > len(m.taken) {
		return false
	}
	for _, t := range m.taken[off : off+n] {
		if t {
			return false
		}
	}
	return true
}

// copied is a buffered send under way, and its entry of the model if that has
// had room.
type copied struct {
	block  []byte
	number uint64
	want   []byte
	entry  *pending
}

// Whatever is sent and whenever it is received: where the standard's buffer has
// room there is room here. No copy is written over, and those in the attached
// memory are inside it.
func TestABufferedSendFindsRoomWhereverTheStandardsBufferHasIt(t *testing.T) {
	refused, more, outsides := 0, 0, 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 36))
		size := 1 + rng.IntN(4000)
		mem := make([]byte, size)
		a := &attached{e: &Engine{}, mem: mem, ring: bufRing{size: size}}
		model := &circular{taken: make([]bool, size)}
		longest := max(1, size/(1+rng.IntN(8)))
		var live []copied
		for step := range 400 {
			if len(live) > 0 && rng.IntN(2) == 0 {
				i := 0
				if rng.IntN(3) == 0 {
					i = rng.IntN(len(live))
				}
				c := live[i]
				live = append(live[:i], live[i+1:]...)
				if !bytes.Equal(c.block, c.want) {
					t.Fatalf("seed %d, step %d: a copy was written over", seed, step)
				}
				a.drop(c.block, c.number)
				if c.entry != nil {
					c.entry.completed = true
				}
				continue
			}
			b := make([]byte, rng.IntN(longest))
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			c := copied{want: b, entry: model.send(len(b) + BufferOverhead)}
			var ok bool
			c.block, c.number, ok = a.take(len(b))
			switch {
			case !ok && c.entry != nil:
				t.Fatalf("seed %d, step %d: no room for %d bytes in %d; the standard's buffer has it at %d", seed, step, len(b), size, c.entry.off)
			case !ok:
				refused++
				if max(a.ring.room(), a.free()) >= len(b)+BufferOverhead {
					t.Fatalf("seed %d, step %d: refused %d bytes with room for them", seed, step, len(b))
				}
				continue
			case c.entry == nil:
				more++
			}
			if c.number == outside {
				outsides++
				if c.entry != nil {
					t.Fatalf("seed %d, step %d: a copy lies outside, though the standard's buffer has room at %d", seed, step, c.entry.off)
				}
			} else if off := size - cap(c.block); len(b) > 0 && (off < 0 || &mem[off] != &c.block[0]) {
				t.Fatalf("seed %d, step %d: a copy is not in the memory", seed, step)
			}
			copy(c.block, b)
			live = append(live, c)
		}
		for _, c := range live {
			if !bytes.Equal(c.block, c.want) {
				t.Fatalf("seed %d: a copy was written over", seed)
			}
			a.drop(c.block, c.number)
		}
		if a.used != 0 || a.bytes != 0 || !a.ring.empty() {
			t.Fatalf("seed %d: %d sends and %d bytes are left", seed, a.used, a.bytes)
		}
	}
	if refused == 0 || more == 0 || outsides == 0 {
		t.Errorf("%d refused, %d beyond the standard, %d outside: the sequences do not reach all cases", refused, more, outsides)
	}
}

// In steady traffic the list of entries does not grow.
func TestTheBufferRingKeepsItsListShort(t *testing.T) {
	q := bufRing{size: 1000}
	var numbers []uint64
	for range 10_000 {
		if len(numbers) == 5 {
			q.done(numbers[0])
			numbers = numbers[1:]
		}
		_, n, ok := q.add(150)
		if !ok {
			t.Fatal("no room")
		}
		numbers = append(numbers, n)
	}
	if cap(q.entries) > 16 {
		t.Errorf("the list has room for %d entries, 5 are in use", cap(q.entries))
	}
}
