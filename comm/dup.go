package comm

import (
	"context"
	"encoding/binary"

	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/pt2pt"
)

// treeTag is the tag of Dup's messages. Those of Barrier are powers of two.
const treeTag = 0

// Dup returns a communicator of the same ranks with a context of its own
// (MPI_Comm_dup, MPI-4.0 §7.4.2): rank 0 draws it, and a binomial tree carries it
// to all ranks. It is collective. After an error, which may be that of ctx, the
// ranks are no longer in step, but for ErrNoContext, which all ranks get.
// Non-local.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	var id [4]byte
	if c.Rank == 0 {
		binary.LittleEndian.PutUint32(id[:], c.in.draw())
	}
	// The engine is called from here and no function deeper: an operation
	// remembers three return addresses, of which the third is the program's.
	parent, children := binomial(c.Rank, c.Size)
	if parent >= 0 {
		if _, err := c.P2P.Recv(ctx, parent, c.Library(), treeTag, id[:]); err != nil {
			return nil, err
		}
	}
	var sends []progress.Handle
	for _, child := range children {
		sends = append(sends, c.P2P.Isend(ctx, pt2pt.Standard, child, c.Library(), treeTag, id[:]))
	}
	if err := progress.WaitAll(sends, nil); err != nil {
		return nil, err
	}
	agreed := binary.LittleEndian.Uint32(id[:])
	if agreed == 0 {
		return nil, ErrNoContext
	}
	return c.in.add(&Comm{P2P: c.P2P, ID: agreed, Rank: c.Rank, Size: c.Size, in: c.in}), nil
}

// binomial is a rank's place in the binomial tree of size ranks with the root 0:
// its parent, -1 at the root, and its children, those with the most descendants
// first.
func binomial(rank, size int) (parent int, children []int) {
	bit := 1
	for bit < size && rank&bit == 0 {
		bit <<= 1
	}
	parent = rank - bit
	if rank == 0 {
		parent = -1
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if child := rank + bit; child < size {
			children = append(children, child)
		}
	}
	return parent, children
}
