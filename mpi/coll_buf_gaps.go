package mpi

import (
	"cmp"
	"slices"
	"sync"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// gapped is a Buf whose elements are not one range of memory, as package comm uses it.
type gapped struct {
	b  Buf
	at datatype.Cursor
}

// twoGapped is the memory with gaps of a call.
type twoGapped struct {
	gaps    comm.Gaps
	in, out gapped
}

// unusedGaps has those of calls that have ended.
var unusedGaps sync.Pool

// newGapped takes one of them, or makes one.
func newGapped() *twoGapped {
	t, _ := unusedGaps.Get().(*twoGapped)
	if t == nil {
		t = new(twoGapped)
		t.gaps.Done = t.free
	}
	return t
}

// free also lets go of the memory.
func (t *twoGapped) free() {
	t.gaps.In, t.gaps.Out, t.in, t.out = nil, nil, gapped{}, gapped{}
	unusedGaps.Put(t)
}

func (g *gapped) Pack(dst []byte, at int) {
	g.at.Seek(at)
	g.at.Pack(dst)
}

func (g *gapped) Unpack(src []byte, at int) {
	g.at.Seek(at)
	g.at.Unpack(src)
}

func (g *gapped) CopyTo(dst comm.Gapped, to, at, n int) {
	d := dst.(*gapped) // as both memories of all calls but Alltoallw
	d.at.Seek(to)
	g.at.Seek(at)
	datatype.Copy(&d.at, &g.at, n)
}

func (g *gapped) Part(at, n int) pt2pt.Data { return g.b.part(at, n) }

// Whether two buffers overlap is found by their contiguous pieces, up to mostPieces of
// each. Those of more are taken to be apart: a call is not to take longer for its checks
// than for its work.
const mostPieces = 512

// placed is memory with gaps that knows where it is.
type placed interface {
	// hull is from its first byte to its last one.
	hull() span
	// pieces are the contiguous ones of blocks, by their addresses; false if there are
	// too many. elem is how many bytes the blocks count as one.
	pieces(at blocks, elem int) ([]span, bool)
}

// meetWithGaps reports whether blocks of send and of recv have memory in common.
func (x *operation) meetWithGaps(from, to blocks) bool {
	if !x.hullsMeet() {
		return false
	}
	in, few := x.pieces(x.o.In, x.o.Gaps.In, from)
	if !few {
		return false
	}
	out, few := x.pieces(x.o.Out, x.o.Gaps.Out, to)
	return few && meet(in, out)
}

// hullsMeet reports whether the hulls of send and recv have memory in common.
func (x *operation) hullsMeet() bool {
	return hullOf(x.o.In, x.o.Gaps.In).meets(hullOf(x.o.Out, x.o.Gaps.Out))
}

func hullOf(mem []byte, g comm.Gapped) span {
	if p, gaps := g.(placed); gaps {
		return p.hull()
	}
	return spanOf(mem)
}

func (x *operation) pieces(mem []byte, g comm.Gapped, at blocks) ([]span, bool) {
	if p, gaps := g.(placed); gaps {
		return p.pieces(at, x.o.Elem)
	}
	return at.spans(mem, x.o.Elem), true
}

// meets reports whether two spans have memory in common.
func (a span) meets(b span) bool { return a.from < b.to && b.from < a.to }

func (g *gapped) hull() span { return g.b.hull() }

// hull is from the first byte of a checked Buf's elements to the last one.
func (b *Buf) hull() span {
	if b.t == nil {
		return span{}
	}
	lo, hi, _ := b.t.t.Span(b.n)
	at := addressOf(b.mem) + uintptr(b.origin)
	return span{at + uintptr(lo), at + uintptr(hi)}
}

// meets reports whether two checked Bufs of a call have memory in common. Of two with gaps,
// such as columns of one matrix, it compares the first pieces: to find all would take longer
// than the call.
func (b *Buf) meets(other *Buf) bool {
	if !b.hull().meets(other.hull()) {
		return false
	}
	one, dense := b.dense()
	two, both := other.dense()
	switch {
	case dense && both:
		return overlap(one, two)
	case dense:
		return other.touches(one)
	case both:
		return b.touches(two)
	}
	return b.first().meets(other.first())
}

// first is the first contiguous piece of a checked Buf that has elements.
func (b *Buf) first() (s span) {
	var at datatype.Cursor
	if at.Reset(b.t.t, b.n, b.mem, b.origin) == nil {
		off, n := at.Next(at.Size())
		s.from = addressOf(b.mem) + uintptr(off)
		s.to = s.from + uintptr(n)
	}
	return s
}

func (g *gapped) pieces(at blocks, elem int) (all []span, few bool) {
	for i, n := range at.counts {
		if all, few = g.b.pieces(&g.at, at.displs[i]*elem, n*elem, all); !few {
			return nil, false
		}
	}
	return sorted(all), true
}

// pieces appends the contiguous pieces that n packed bytes of b, from at on, lie in. c is
// a cursor in b.
func (b *Buf) pieces(c *datatype.Cursor, at, n int, all []span) ([]span, bool) {
	c.Seek(at)
	for n > 0 && len(all) < mostPieces {
		off, one := c.Next(n)
		from := addressOf(b.mem) + uintptr(off)
		all = append(all, span{from, from + uintptr(one)})
		n -= one
	}
	return all, n == 0
}

func sorted(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}
