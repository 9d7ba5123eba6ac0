package mpi

import (
	"encoding/binary"
	"math"

	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/pt2pt"
)

// Dup returns a communicator of the same ranks whose messages match none of
// this one's: a library that is given a communicator talks on a duplicate
// (MPI_Comm_dup, MPI-4.0 §7.4.2). Every rank must call it, in the same order
// among the communicator's collective calls. The duplicate's operations have the
// context of this one (WithContext). Errors are as grave as Barrier's. Non-local.
func (c *Comm) Dup() (*Comm, error) {
	const call = "Dup"
	if c.gone() {
		return nil, c.explain(call, 0, 0, false)
	}
	id := make([]byte, 4)
	if c.rank == 0 {
		binary.LittleEndian.PutUint32(id, c.w.newContext())
	}
	if err := c.broadcast(call, id); err != nil {
		return nil, err
	}
	cid := binary.LittleEndian.Uint32(id)
	if cid == 0 {
		return nil, badArg(call, ErrOther, "rank 0 has made so many communicators that no context id is left")
	}
	d := *c
	d.cid, d.over = cid, c.w.finalized.comm()
	return &d, nil
}

// Free gives up the communicator (MPI_Comm_free, MPI-4.0 §7.4.3). Every rank calls
// it, in the same order among the communicator's collective calls; it waits for
// none of them. Operations under way go on to their ends, and their requests are
// completed as ever; every further call on the communicator, and on those that
// WithContext has made of it, answers ErrComm. Memory of BufferAttach comes back by
// BufferDetach only: call that before. The communicator of all ranks can't be
// freed: its World has it until Finalize. Local.
func (c *Comm) Free() error {
	const call = "Comm.Free"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	if c.cid == c.w.comm.cid {
		return badArg(call, ErrComm, "the communicator of all ranks can't be freed: it ends with its World, by Finalize")
	}
	if c.w.finalized.free(c.over) {
		return c.explain(call, 0, 0, false)
	}
	return nil
}

// newContext returns a context id that no communicator has: which rank made it
// and its number there, times two, for the library's own messages have the next.
// It returns 0 if there is none left.
func (w *World) newContext() uint32 {
	id := (uint64(w.contexts.Add(1))*uint64(w.comm.size) + uint64(w.comm.rank)) * 2
	if id >= math.MaxUint32-1 {
		return 0
	}
	return uint32(id)
}

// broadcast sends b of rank 0 to all ranks, along a binomial tree. It takes
// place among the collective calls of the communicator.
func (c *Comm) broadcast(call string, b []byte) error {
	const tag = 0 // Barrier's are powers of two
	bit := 1
	for ; bit < c.size && c.rank&bit == 0; bit <<= 1 {
	}
	if c.rank != 0 {
		if _, err := c.p2p.Recv(c.ctx, c.rank-bit, c.cid+1, tag, b); err != nil {
			return fail(call, err)
		}
	}
	var sends []progress.Handle
	for bit >>= 1; bit > 0; bit >>= 1 {
		if to := c.rank + bit; to < c.size {
			sends = append(sends, c.p2p.Isend(c.ctx, pt2pt.Standard, to, c.cid+1, tag, b))
		}
	}
	return fail(call, progress.WaitAll(sends, nil))
}
