package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Alltoall sends the i-th block of send to rank i, and receives rank i's as the i-th
// block of recv (MPI_Alltoall, MPI-4.0 §6.8). Every rank calls it with as many
// elements in send, which is cut into one block for each rank; recv has room for as
// many. With InPlace as send, at all ranks, what is sent is in recv and replaced by
// what is received. send and recv do not overlap. On an intercommunicator blocks go to
// and come from the remote group, and recv has just the length of those that come. It
// fails with ErrCount if a buffer can't be cut into blocks, and ErrBuffer if recv is
// too short, overlaps send or is InPlace. Non-local.
func Alltoall[T Scalar](c *Comm, send, recv []T) error {
	const call = "Alltoall"
	x := operationOf(send, recv)
	if err := x.alltoall(c, call); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Alltoall, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ialltoall starts an Alltoall (MPI_Ialltoall, MPI-4.0 §6.12.6). Until the request has
// completed, send must not be written to and recv not be touched. Errors are those of
// Alltoall. Local.
func Ialltoall[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Alltoall, x.alltoall(c, "Ialltoall"))
}

// Alltoallv is Alltoall for blocks of different lengths (MPI_Alltoallv, MPI-4.0 §6.8):
// that for rank i has sendcounts[i] elements from send[sdispls[i]] on, that of rank i
// has recvcounts[i] and comes to recv[rdispls[i]:]. Rank i's sendcounts[j] is rank
// j's recvcounts[i]. Without displacements, which are nil, blocks are one after
// another. Those of recv do not overlap. With InPlace as send, at all ranks,
// sendcounts and sdispls are not used: the block from rank i replaces the one for
// rank i, which is as long. On an intercommunicator rank i is the one of the remote
// group. It fails with ErrArg if a list has not one number for each rank, ErrCount for
// a negative count or two for the rank itself that differ, and ErrBuffer for blocks
// that overlap or are not in their buffer. Non-local.
func Alltoallv[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) error {
	const call = "Alltoallv"
	x := operationOf(send, recv)
	if err := x.alltoallv(c, call, sendcounts, sdispls, recvcounts, rdispls); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Alltoallv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ialltoallv starts an Alltoallv (MPI_Ialltoallv, MPI-4.0 §6.12.6). Until the request
// has completed, send must not be written to and recv not be touched; counts and
// displacements are copied. Errors are those of Alltoallv. Local.
func Ialltoallv[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Alltoallv, x.alltoallv(c, "Ialltoallv", sendcounts, sdispls, recvcounts, rdispls))
}

func (x *operation) alltoall(c *Comm, call string) (err error) {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.alltoallBetween(c, call)
	}
	k := comm.PlanKey{Call: coll.Alltoall, InPlace: x.here}
	if x.here {
		k.Count, err = x.shares(call, "recv", x.recvs, c.everyone())
	} else {
		k.Count, err = x.shares(call, "send", x.sends, c.everyone())
	}
	if err == nil {
		err = x.checkRecv(call, k.Count*c.size)
	}
	if err != nil {
		return err
	}
	return x.uniform(c, call, &k)
}

func (x *operation) alltoallv(c *Comm, call string, sendcounts, sdispls, recvcounts, rdispls []int) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	if c.remote > 0 && x.here {
		return refuseBetween(call, "send")
	}
	to, err := x.receives(call, recvcounts, rdispls, c.everyone())
	if err != nil {
		return err
	}
	s := coll.Shape{RecvCounts: to.counts, RecvDispls: to.displs, InPlace: x.here}
	if !x.here {
		from, err := x.blocks(call, "send", x.sends, sendcounts, sdispls, c.everyone())
		switch {
		case err != nil:
			return err
		case c.remote == 0 && from.counts[c.rank] != to.counts[c.rank]:
			return badArg(call, ErrCount, "this rank sends itself %d %s and receives %d: sendcounts[%d] and recvcounts[%d] differ",
				from.counts[c.rank], x.counted(), to.counts[c.rank], c.rank, c.rank)
		case x.meet(from, to):
			return x.overlaps(call)
		}
		s.Counts, s.Displs = from.counts, from.displs
	}
	return x.irregular(c, coll.Alltoallv, &s)
}
