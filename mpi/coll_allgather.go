package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Allgather collects the send of every rank in recv of every rank, one after another
// in the order of ranks (MPI_Allgather, MPI-4.0 §6.7). Every rank calls it with as
// many elements in send; recv has room for all of them. With InPlace as send, at all
// ranks, recv is cut into one block for each rank, and the rank's own is there
// already. send and recv do not overlap. On an intercommunicator recv gets the blocks
// of the remote group and has just their length, which may be another than that of the
// blocks that go there. It fails with ErrBuffer if recv is too short, overlaps send or
// is InPlace, and ErrCount if it can't be cut into blocks. Non-local.
func Allgather[T Scalar](c *Comm, send, recv []T) error {
	const call = "Allgather"
	x := operationOf(send, recv)
	if err := x.allgather(c, call); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allgather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallgather starts an Allgather (MPI_Iallgather, MPI-4.0 §6.12.5). Until the request
// has completed, send must not be written to and recv not be touched. Errors are those
// of Allgather. Local.
func Iallgather[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Allgather, x.allgather(c, "Iallgather"))
}

// Allgatherv is Allgather for blocks of different lengths (MPI_Allgatherv, MPI-4.0
// §6.7): that of rank i has counts[i] elements, which are its send, and comes to
// recv[displs[i]:]. counts is the same at all ranks; displs need not be. Without
// displs, which is nil, the blocks come one after another. Blocks do not overlap,
// and what is between them stays as it is. With InPlace as send, at all ranks, the
// rank's own block is in its place in recv already. On an intercommunicator the blocks
// are those of the remote group. It fails with ErrArg if a list has not one number for
// each rank, ErrCount for a count that is negative or not send's length, and ErrBuffer
// for blocks that overlap or are not in recv. Non-local.
func Allgatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int) error {
	const call = "Allgatherv"
	x := operationOf(send, recv)
	if err := x.allgatherv(c, call, counts, displs); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allgatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallgatherv starts an Allgatherv (MPI_Iallgatherv, MPI-4.0 §6.12.5). Until the
// request has completed, send must not be written to and recv not be touched; counts
// and displs are copied. Errors are those of Allgatherv. Local.
func Iallgatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Allgatherv, x.allgatherv(c, "Iallgatherv", counts, displs))
}

func (x *operation) allgather(c *Comm, call string) (err error) {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.allgatherBetween(c, call)
	}
	k := comm.PlanKey{Call: coll.Allgather, Count: x.sends, InPlace: x.here}
	if x.here && !x.instead {
		if k.Count, err = x.shares(call, "recv", x.recvs, c.everyone()); err != nil {
			return err
		}
	}
	if err := x.checkRecv(call, k.Count*c.size); err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}

func (x *operation) allgatherv(c *Comm, call string, counts, displs []int) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.allgathervBetween(c, call, counts, displs)
	}
	to, err := x.receives(call, counts, displs, c.everyone())
	switch {
	case err != nil:
		return err
	case x.here:
	case to.counts[c.rank] != x.sends:
		return badArg(call, ErrCount, "send has %d %s, counts[%d], which is this rank's, is for %d", x.sends, x.counted(), c.rank, to.counts[c.rank])
	case x.meet(one(x.sends), to):
		return x.overlaps(call)
	}
	s := coll.Shape{Count: to.counts[c.rank], Counts: to.counts, Displs: to.displs, InPlace: x.here}
	return x.irregular(c, coll.Allgatherv, &s)
}
