package mpi

import (
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/partitioned"
)

// PsendInit makes a partitioned send of b (MPI_Psend_init, MPI-4.0 §4.2.1), as the
// function PsendInit does of a slice. Each partition is a run of b's elements, one behind
// the other, and partitions divides their number. Of a Buf of one element, such as a view,
// the partitions are runs of its basic elements, which are all of one kind then.
//
// If b does not lie in one piece, the operation has memory for the whole packed message, and
// Ready packs the partition in the goroutine that calls it: it may allocate then, for
// types that are nested more than four levels deep. Errors are those of the function
// PsendInit and of the Buf. Local.
func (c *Comm) PsendInit(b Buf, partitions, dest, tag int) (*Partitioned, error) {
	const call = "PsendInit"
	d, err := c.parts(call, &b, partitions, dest, tag, false)
	if err != nil {
		return nil, err
	}
	return c.parted(c.core.Instance().Parts.PsendInitData(c.ctx, c.world(dest), c.cid, int32(tag), d, partitions).Request()), nil
}

// PrecvInit makes a partitioned receive into b (MPI_Precv_init, MPI-4.0 §4.2.1), as the
// function PrecvInit does into a slice. Partitions are those of the method PsendInit; the
// two sides may differ in them and in their types. A partition has arrived when its
// elements are in their places. Errors are those of PsendInit. Local.
func (c *Comm) PrecvInit(b Buf, partitions, source, tag int) (*Partitioned, error) {
	const call = "PrecvInit"
	d, err := c.parts(call, &b, partitions, source, tag, true)
	if err != nil {
		return nil, err
	}
	return c.parted(c.core.Instance().Parts.PrecvInitData(c.ctx, c.world(source), c.cid, int32(tag), d, partitions).Request()), nil
}

// parts checks the arguments of a partitioned call and returns b's memory; into says that
// the operation writes there.
func (c *Comm) parts(call string, b *Buf, partitions, peer, tag int, into bool) (*partitioned.Data, error) {
	if err := c.checkParts(call, b.divisible(), partitions, peer, tag); err != nil {
		return nil, err
	}
	if err := b.check(call, "b", into); err != nil {
		return nil, c.raise(err)
	}
	d := &partitioned.Data{Ranks: c.ranks}
	if b.t == nil {
		return d, nil
	}
	switch off, n, ok := b.t.t.Range(b.n); {
	case !ok:
		d.Layout, d.Size = &scattered{b.t.t, b.n, b.mem, b.origin}, uint64(b.size())
	case n > 0:
		at := b.origin + off
		d.Bytes = b.mem[at : at+n : at+n]
	}
	return d, nil
}

// divisible is the number of what partitions are runs of: b's elements, or the basic ones
// of its only element if they are of one kind.
func (b *Buf) divisible() int {
	if b.n == 1 && b.t != nil && b.t.t != nil {
		if k, ok := b.t.t.Kind(); ok {
			return b.t.t.Size() / k.Size()
		}
	}
	return b.n
}

// scattered is memory with gaps that several goroutines use at once, each with a cursor
// of its own.
type scattered struct {
	t      *datatype.Type
	n      int
	mem    []byte
	origin int
}

func (s *scattered) Pack(dst []byte, at uint64) {
	var c datatype.Cursor
	s.seek(&c, at)
	c.Pack(dst)
}

func (s *scattered) Unpack(src []byte, at uint64) {
	var c datatype.Cursor
	s.seek(&c, at)
	c.Unpack(src)
}

// seek sets a cursor to byte at of the message. The elements lie in the memory: parts has
// checked that.
func (s *scattered) seek(c *datatype.Cursor, at uint64) {
	if c.Reset(s.t, s.n, s.mem, s.origin) == nil {
		c.Seek(int(at))
	}
}
