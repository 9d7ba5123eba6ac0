package comm

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/internal/coll"
)

// With Config.Check each collective call begins with an exchange of its signature among
// all ranks. Where two differ the call fails at every rank before it has moved any
// data. So it also finds calls that differ and would end all the same. Blocking calls
// and barriers are carried out as the nonblocking ones are (Comm.scheduled).

// noCall is the call in the tags of these messages, which calls that differ have in
// common.
const noCall coll.Call = 0

const signatureSize = 16

// place gives a call that has its signature and its first plan a place among the
// communicator's collective calls.
func (c *Comm) place(x *schedule) {
	x.seq = c.seq.Add(1)
	if c.check && c.Remote == nil {
		c.compareFirst(x)
	}
	if c.Broken() == nil || c.spares(x.seq) { // a call that fails at once is none for other ranks
		c.history.note(x.seq, x.is)
	}
}

// compareFirst puts the comparison before the first plan of a call.
func (c *Comm) compareFirst(x *schedule) {
	x.is.what |= checked
	first := &coll.Plan{Steps: x.steps, Temp: len(x.mem[coll.Temp]) / max(x.elem, 1)}
	o, more := x.o, x.more
	in, out := make([]byte, signatureSize), make([]byte, signatureSize*c.Size)
	binary.LittleEndian.PutUint64(in, uint64(x.is.what))
	binary.LittleEndian.PutUint64(in[8:], uint64(x.is.alike))
	p := coll.Make(coll.Allgather, &coll.Shape{Rank: c.Rank, Size: c.Size, Count: 1, Bytes: signatureSize})
	x.take(&p, &Operands{In: in, Out: out, Elem: signatureSize})
	x.checks = true
	x.more = func() (*coll.Plan, *Operands, error) {
		x.checks, x.more = false, more
		if err := c.differs(x.is, out); err != nil {
			return nil, nil, c.failOwned(x.seq, err)
		}
		return first, &o, nil
	}
}

// differs compares this rank's call with those of all ranks.
func (c *Comm) differs(mine signature, all []byte) error {
	for rank := range c.Size {
		at := all[signatureSize*rank:]
		s := signature{uint32(binary.LittleEndian.Uint64(at)), coll.Alike(binary.LittleEndian.Uint64(at[8:]))}
		if s != mine {
			return c.mismatch(rank, s, mine)
		}
	}
	return nil
}
