package mpi_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/mpi"
)

// drawnBuf is count elements of a random type in memory that just holds them, and what the
// list says of them.
type drawnBuf struct {
	drawnType
	count, origin int
	mem           []byte
	where         []int // of each packed byte in mem
	external      []int // the same for external32, on a little-endian machine
	overlaps      bool
}

func drawBuf(rt *rapid.T) (b drawnBuf) {
	b.drawnType = drawType(rt, 4)
	b.count = rapid.IntRange(0, 3).Draw(rt, "elements")
	all := b.m.block(b.count, 0)
	lo, hi := all.span()
	before, behind := rapid.IntRange(0, 3).Draw(rt, "before"), rapid.IntRange(0, 3).Draw(rt, "behind")
	b.origin = before - min(0, lo)
	b.mem = make([]byte, b.origin+max(0, hi)+behind)
	for i := range b.mem {
		b.mem[i] = byte(i*7 + 1)
	}
	seen := map[int]bool{}
	for _, e := range all.data() {
		for i := range e.size {
			at := b.origin + e.disp + i
			b.where, b.external = append(b.where, at), append(b.external, b.origin+e.disp+e.size-1-i)
			b.overlaps = b.overlaps || seen[at]
			seen[at] = true
		}
	}
	if err := b.t.Commit(); err != nil {
		rt.Fatal(err)
	}
	return b
}

func (b *drawnBuf) buf(mem []byte) mpi.Buf { return mpi.As(b.t, mem, b.count).At(b.origin) }

// packed is what the list says is sent of mem.
func (b *drawnBuf) packed(where []int) []byte {
	p := make([]byte, len(where))
	for i, at := range where {
		p[i] = b.mem[at]
	}
	return p
}

// received is what the list says memory full of 90 is after the receive of the elements.
func (b *drawnBuf) received() []byte {
	mem := bytes.Repeat([]byte{90}, len(b.mem))
	for _, at := range b.where {
		mem[at] = b.mem[at]
	}
	return mem
}

func TestRandomDatatypesAreTheirTypemaps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawType(rt, 4)
		size := 0
		for _, e := range d.m.data() {
			size += e.size
		}
		if got := d.t.Size(); got != size {
			rt.Fatalf("%v has %d bytes, not %d", d.t, got, size)
		}
		lb, ub := d.m.bounds()
		if l, e := d.t.Extent(); l != lb || e != ub-lb {
			rt.Fatalf("%v has lb %d, extent %d, not %d, %d", d.t, l, e, lb, ub-lb)
		}
		lo, hi := d.m.span()
		if l, e := d.t.TrueExtent(); l != lo || e != hi-lo {
			rt.Fatalf("%v has true lb %d, extent %d, not %d, %d", d.t, l, e, lo, hi-lo)
		}
	})
}

func TestRandomBufsArePackedAsTheirTypemapsSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := drawBuf(rt)
		size, err := mpi.PackSize(b.count, b.t)
		if external, err2 := mpi.PackExternalSize(b.count, b.t); err != nil || err2 != nil || size != len(b.where) || external != size {
			rt.Fatalf("%d elements of %v have %d and %d bytes, not %d: %v, %v", b.count, b.t, size, external, len(b.where), err, err2)
		}
		at := rapid.IntRange(0, 3).Draw(rt, "position")
		for name, c := range map[string]struct {
			pack   func(mpi.Buf, []byte, int) (int, error)
			unpack func([]byte, int, mpi.Buf) (int, error)
			where  []int
		}{"native": {mpi.Pack, mpi.Unpack, b.where}, "external32": {mpi.PackExternal, mpi.UnpackExternal, b.external}} {
			out := bytes.Repeat([]byte{91}, at+size+2)
			want := append(append(bytes.Repeat([]byte{91}, at), b.packed(c.where)...), 91, 91)
			next, err := c.pack(b.buf(b.mem), out, at)
			if err != nil || next != at+size || !bytes.Equal(out, want) {
				rt.Fatalf("%s: packed to %d: %v\n%v, want\n%v", name, next, err, out, want)
			}
			mem := bytes.Repeat([]byte{90}, len(b.mem))
			next, err = c.unpack(out, at, b.buf(mem))
			if b.overlaps {
				if err == nil {
					rt.Fatalf("%s: unpacked into elements that overlap", name)
				}
				continue
			}
			if err != nil || next != at+size || !bytes.Equal(mem, b.received()) {
				rt.Fatalf("%s: unpacked to %d: %v\n%v, want\n%v", name, next, err, mem, b.received())
			}
		}
	})
}

func TestStatusesCountWhatTypemapsSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := drawBuf(rt)
		elements, at := map[int]int{0: 0}, 0
		for i, e := range b.m.block(b.count, 0).data() {
			at += e.size
			elements[at] = i + 1
		}
		for n := range len(b.where) + 1 {
			st := mpi.Status{Bytes: uint64(n)}
			want, whole := elements[n]
			if !whole {
				want = mpi.Undefined
			}
			if got := st.Elements(b.t); got != want {
				rt.Fatalf("%d bytes are %d basic elements of %v, not %d", n, got, b.t, want)
			}
			if size := b.t.Size(); n > 0 && n%size == 0 {
				want = n / size
			} else if n > 0 {
				want = mpi.Undefined
			}
			if got := st.Count(b.t); got != want {
				rt.Fatalf("%d bytes are %d elements of %v, not %d", n, got, b.t, want)
			}
			if whole {
				st.Bytes = 1 << 40
				if err := st.SetElements(b.t, elements[n]); err != nil || st.Bytes != uint64(n) {
					rt.Fatalf("%d basic elements of %v are %d bytes, not %d: %v", elements[n], b.t, st.Bytes, n, err)
				}
			}
		}
	})
}

// rebuilt makes a type again, from its contents alone.
func rebuilt(d *mpi.Datatype) (*mpi.Datatype, error) {
	c, ints, addrs, types := d.Contents()
	next := func(n int) []int {
		list := ints[:n]
		ints = ints[n:]
		return list
	}
	for i, t := range types {
		made, err := rebuilt(t)
		if err != nil {
			return nil, err
		}
		types[i] = made
	}
	switch c {
	case mpi.CombinerNamed:
		return d, nil
	case mpi.CombinerDup:
		return types[0].Dup()
	case mpi.CombinerContiguous:
		return mpi.TypeContiguous(ints[0], types[0])
	case mpi.CombinerVector:
		return mpi.TypeVector(ints[0], ints[1], ints[2], types[0])
	case mpi.CombinerHvector:
		return mpi.TypeHvector(ints[0], ints[1], addrs[0], types[0])
	case mpi.CombinerIndexed:
		n := next(1)[0]
		return mpi.TypeIndexed(next(n), next(n), types[0])
	case mpi.CombinerHindexed:
		n := next(1)[0]
		return mpi.TypeHindexed(next(n), addrs, types[0])
	case mpi.CombinerIndexedBlock:
		return mpi.TypeIndexedBlock(ints[1], ints[2:], types[0])
	case mpi.CombinerHindexedBlock:
		return mpi.TypeHindexedBlock(ints[1], addrs, types[0])
	case mpi.CombinerStruct:
		return mpi.TypeStruct(ints[1:], addrs, types)
	case mpi.CombinerSubarray:
		n := next(1)[0]
		return mpi.TypeSubarray(next(n), next(n), next(n), mpi.Order(next(1)[0]), types[0])
	case mpi.CombinerDarray:
		size, rank, n := ints[0], ints[1], ints[2]
		next(3)
		sizes, dists := next(n), make([]mpi.Dist, n)
		for i, v := range next(n) {
			dists[i] = mpi.Dist(v)
		}
		return mpi.TypeDarray(size, rank, sizes, dists, next(n), next(n), mpi.Order(next(1)[0]), types[0])
	case mpi.CombinerResized:
		return mpi.TypeResized(types[0], addrs[0], addrs[1])
	}
	return nil, fmt.Errorf("the combiner %v", c)
}

func TestContentsMakeATypeAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := drawBuf(rt)
		c, ints, addrs, types := b.t.Contents()
		if c2, i, a, ts := b.t.Envelope(); c2 != c || i != len(ints) || a != len(addrs) || ts != len(types) {
			rt.Fatalf("the envelope of %v is %v, %d, %d, %d", b.t, c2, i, a, ts)
		}
		made, err := rebuilt(b.t)
		if err != nil {
			rt.Fatal(err)
		}
		if err := made.Commit(); err != nil {
			rt.Fatal(err)
		}
		lb, extent := b.t.Extent()
		if l, e := made.Extent(); l != lb || e != extent || made.Size() != b.t.Size() {
			rt.Fatalf("%v made again is %v", b.t, made)
		}
		out := make([]byte, len(b.where))
		if _, err := mpi.Pack(mpi.As(made, b.mem, b.count).At(b.origin), out, 0); err != nil || !bytes.Equal(out, b.packed(b.where)) {
			rt.Fatalf("%v made again is packed as %v: %v", b.t, out, err)
		}
	})
}

// Elements of random types are received as elements of the same type, as those of another
// with the same sequence of kinds, and as the other way round.
func TestRandomBufsAreSentAndReceived(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for seed := range 60 {
				b := rapid.Custom(drawBuf).Example(seed)
				flat := make([]byte, len(b.where))
				if c.Rank() == 0 {
					ok(c.Send(b.buf(b.mem), 1, 0))
					ok(c.Send(b.buf(b.mem), 1, 0))
					ok(c.Send(mpi.As(mpi.TypePacked, b.packed(b.where), len(flat)), 1, 0))
					continue
				}
				get(c.Recv(mpi.As(mpi.TypePacked, flat, len(flat)), 0, 0))
				if !slices.Equal(flat, b.packed(b.where)) {
					stop(fmt.Errorf("%v is sent as %v, not %v", b.t, flat, b.packed(b.where)))
				}
				for range 2 {
					if b.overlaps {
						get(c.Recv(mpi.As(mpi.TypePacked, flat, len(flat)), 0, 0))
						continue
					}
					mem := bytes.Repeat([]byte{90}, len(b.mem))
					st := get(c.Recv(b.buf(mem), 0, 0))
					if !bytes.Equal(mem, b.received()) || len(b.where) > 0 && st.Count(b.t) != b.count {
						stop(fmt.Errorf("%v has arrived as\n%v, want\n%v; %+v", b.t, mem, b.received(), st))
					}
				}
			}
		})
	})
}
