package comm

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/internal/coll"
)

// With Config.Check each collective call begins with an exchange of its signature among
// all ranks. Where two differ the call fails at every rank before it has moved any
// data. So it also finds calls that differ and would end all the same. Blocking calls
// and barriers are carried out as the nonblocking ones are (Comm.scheduled). So are calls
// whose types ranks compare (Operands.Types).

// noCall is the call in the tags of these messages, which calls that differ have in
// common.
const noCall coll.Call = 0

const signatureSize = 16

// place gives a call that has its signature and its first plan a place among the
// communicator's collective calls.
func (c *Comm) place(x *schedule) {
	x.seq = c.seq.Add(1)
	if c.compares {
		x.is.what |= checked
	}
	if x.o.Types != nil {
		c.compareTypes(x)
	}
	if c.check && c.Remote == nil {
		c.compareFirst(x)
	}
	if c.Broken() == nil || c.spares(x.seq) { // a call that fails at once is none for other ranks
		c.history.note(x.seq, x.is)
	}
}

// compareFirst has a call begin with the comparison of calls.
func (c *Comm) compareFirst(x *schedule) {
	in, out, elements := make([]byte, signatureSize), make([]byte, signatureSize*c.Size), x.o.Elements
	binary.LittleEndian.PutUint64(in, uint64(elements)<<32|uint64(x.is.what))
	binary.LittleEndian.PutUint64(in[8:], uint64(x.is.alike))
	p := coll.Make(coll.Allgather, &coll.Shape{Rank: c.Rank, Size: c.Size, Count: 1, Bytes: signatureSize})
	c.before(x, &p, &Operands{In: in, Out: out, Elem: signatureSize}, func() error { return c.differs(x.is, elements, out) })
	x.checks = true
}

// Types are what ranks compare of the types of a collective call before it has moved any
// data. All ranks give them, or none. The exchange has the call's own tag: calls that are
// not the same do not take one another's records.
type Types struct {
	Records []byte                 // one for each rank, of the remote group if there is one; all are equally long
	Judge   func(all []byte) error // is called under ownership, with what each of these ranks has recorded for this one
}

// compareTypes has a call begin with the comparison of types. The barrier behind it keeps
// every rank from going on before all have found nothing wrong.
func (c *Comm) compareTypes(x *schedule) {
	t := x.o.Types
	out := make([]byte, len(t.Records))
	elem := len(out) / c.Peers()
	c.before(x, c.Plan(&PlanKey{Call: coll.Barrier}), &Operands{}, func() error { return nil })
	c.before(x, c.Plan(&PlanKey{Call: coll.Alltoall, Elem: elem, Count: 1, RecvCount: 1}), &Operands{In: t.Records, Out: out, Elem: elem},
		func() error { return t.Judge(out) })
}

// before puts a plan before the first one of a call, which goes on behind it unless judge
// has an error.
func (c *Comm) before(x *schedule, p *coll.Plan, o *Operands, judge func() error) {
	first := &coll.Plan{Steps: x.steps, Temp: len(x.mem[coll.Temp]) / max(x.elem, 1)}
	after, more, checks := x.o, x.more, x.checks
	x.take(p, o)
	x.more = func() (*coll.Plan, *Operands, error) {
		x.checks, x.more = checks, more
		if err := judge(); err != nil {
			return nil, nil, c.failOwned(x.seq, err)
		}
		return first, &after, nil
	}
}

// differs compares this rank's call and its elements with those of all ranks.
func (c *Comm) differs(mine signature, elements uint16, all []byte) error {
	for rank := range c.Size {
		at := all[signatureSize*rank:]
		word := binary.LittleEndian.Uint64(at)
		s, theirs := signature{uint32(word), coll.Alike(binary.LittleEndian.Uint64(at[8:]))}, uint16(word>>32)
		if s != mine {
			return c.mismatch(rank, s, mine)
		}
		if name := c.in.comparisons.operator; theirs != elements && theirs != 0 && elements != 0 && name != nil {
			err := c.mismatch(rank, s, mine)
			err.Theirs, err.Mine = err.Theirs+" with "+name(theirs), err.Mine+" with "+name(elements)
			return err
		}
	}
	return nil
}
