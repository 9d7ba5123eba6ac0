package comm

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Gaps is the memory of a call that is not one range, see coll.Gaps: nil for memory
// that is.
type Gaps struct {
	In, Out Gapped
	// Done, unless nil, is called when a blocking call has succeeded, which uses the
	// memory no more; not with an operator of the user's, nor with Config.Check.
	Done func()
}

// Gapped is memory whose bytes are numbered as those of a message that has all of it.
// It belongs to one call. Pack and Unpack are called by one goroutine at a time, which
// may own the loop. Bytes that are not of the memory's elements are neither read nor
// written.
type Gapped interface {
	// Pack copies the bytes from at on to dst, which is not of this memory.
	Pack(dst []byte, at int)
	// Unpack copies src, which is not of this memory, to the bytes from at on.
	Unpack(src []byte, at int)
	// CopyTo copies n of the bytes, from at on, to those from to on of other such memory
	// of the call.
	CopyTo(dst Gapped, to, at, n int)
	// Part is n of the bytes, from at on, for a message.
	Part(at, n int) pt2pt.Data
}

// of is the memory with gaps that a Ref is in, or nil.
func (g *Gaps) of(m coll.Mem) Gapped {
	switch {
	case g == nil:
	case m == coll.In:
		return g.In
	case m == coll.Out:
		return g.Out
	}
	return nil
}

// data is the memory of a message.
func (o *Operands) data(m *mems, r coll.Ref) pt2pt.Data {
	if lay := o.Gaps.of(r.Mem); lay != nil {
		return lay.Part(r.At*o.Elem, r.N*o.Elem)
	}
	return pt2pt.Data{Bytes: m.at(r, o.Elem)}
}

// placed is data of a blocking call.
func (o *Operands) placed(m *mems, r coll.Ref, s *scratch) pt2pt.Data {
	d := o.data(m, r)
	d.Place = &s.place
	return d
}

// copy carries out a Copy.
func (o *Operands) copy(m *mems, step *coll.Step) {
	n, from, to := step.To.N*o.Elem, step.A.At*o.Elem, step.To.At*o.Elem
	a, b := o.Gaps.of(step.A.Mem), o.Gaps.of(step.To.Mem)
	switch {
	case a == nil && b == nil:
		copy(m.at(step.To, o.Elem), m.at(step.A, o.Elem))
	case b == nil:
		a.Pack(m.at(step.To, o.Elem), from)
	case a == nil:
		b.Unpack(m.at(step.A, o.Elem), to)
	default:
		a.CopyTo(b, to, from, n)
	}
}
