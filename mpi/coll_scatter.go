package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Scatter gives each rank its part of send of rank root: rank i gets the i-th block
// in its recv (MPI_Scatter, MPI-4.0 §6.6). Every rank calls it with the same root and
// as many elements in recv; send is used at the root only and has so many for each
// rank, no more. The root may pass InPlace as recv: its own block stays where it is.
// send and recv do not overlap. On an intercommunicator the blocks are for the group
// that the root is not in. It fails with ErrRoot for a wrong root, ErrCount if send has
// another length, and ErrBuffer if it overlaps recv. Non-local.
func Scatter[T Scalar](c *Comm, send, recv []T, root int) error {
	const call = "Scatter"
	x := operationOf(send, recv)
	if err := x.scatter(c, call, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scatter, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscatter starts a Scatter (MPI_Iscatter, MPI-4.0 §6.12.4). Until the request has
// completed, send must not be written to and recv not be touched. Errors are those of
// Scatter. Local.
func Iscatter[T Scalar](c *Comm, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Scatter, x.scatter(c, "Iscatter", root))
}

// Scatterv is Scatter for blocks of different lengths (MPI_Scatterv, MPI-4.0 §6.6):
// at the root, that of rank i has counts[i] elements from send[displs[i]] on. At the
// other ranks counts[i] is the length of recv; the root's recv has room for its own.
// Without displs, which is nil, the blocks are one after another. send, counts and
// displs are used at the root only. The root may pass InPlace as recv. On an
// intercommunicator the blocks are for the group that the root is not in. It fails with
// ErrRoot for a wrong root, ErrArg if a list has not one number for each rank, ErrCount
// for a negative count, and ErrBuffer for a block that is not in send, or a recv that
// is too short or overlaps it. Non-local.
func Scatterv[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) error {
	const call = "Scatterv"
	x := operationOf(send, recv)
	if err := x.scatterv(c, call, counts, displs, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scatterv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscatterv starts a Scatterv (MPI_Iscatterv, MPI-4.0 §6.12.4). Until the request has
// completed, send must not be written to and recv not be touched; counts and displs
// are copied. Errors are those of Scatterv. Local.
func Iscatterv[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Scatterv, x.scatterv(c, "Iscatterv", counts, displs, root))
}

func (x *operation) scatter(c *Comm, call string, root int) (err error) {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.scatterBetween(c, call, root)
	}
	k := comm.PlanKey{Call: coll.Scatter, Root: root, Count: x.recvs, InPlace: x.instead}
	if c.rank != root {
		if err := x.scattered(call); err != nil {
			return err
		}
		return x.uniform(c, call, &k)
	}
	switch {
	case x.here:
		return refuseHere(call, "the root passes it as recv")
	case x.instead:
		if k.Count, err = x.shares(call, "send", x.sends, c.everyone()); err != nil {
			return err
		}
	case x.sends != x.recvs*c.size:
		return badArg(call, ErrCount, "send has %d %s: %d ranks get %d each, as many as recv has", x.sends, x.counted(), c.size, x.recvs)
	case x.overlap(x.recvs):
		return badArg(call, ErrBuffer, "send and recv overlap: pass InPlace as recv to leave the root's own block where it is")
	}
	return x.uniform(c, call, &k)
}

func (x *operation) scatterv(c *Comm, call string, counts, displs []int, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.scattervBetween(c, call, counts, displs, root)
	}
	s := coll.Shape{Root: root, Count: x.recvs, InPlace: x.instead}
	if c.rank != root {
		if err := x.scattered(call); err != nil {
			return err
		}
		return x.irregular(c, coll.Scatterv, &s)
	}
	if x.here {
		return refuseHere(call, "the root passes it as recv")
	}
	from, err := x.blocks(call, "send", x.sends, counts, displs, c.everyone())
	switch {
	case err != nil:
		return err
	case x.instead:
	case x.recvs < from.counts[root]:
		return badArg(call, ErrBuffer, "recv has %d %s, the root's own block %d", x.recvs, x.counted(), from.counts[root])
	case from.counts[root]%x.unit("recv") != 0:
		return x.cutElements(call, "recv", from.counts[root])
	case x.meet(from, one(from.counts[root])):
		return badArg(call, ErrBuffer, "send and recv overlap: pass InPlace as recv to leave the root's own block where it is")
	}
	s.Counts, s.Displs = from.counts, from.displs
	return x.irregular(c, coll.Scatterv, &s)
}

// scattered checks the buffers of a rank that is not the root.
func (x *operation) scattered(call string) error {
	if x.instead {
		return badArg(call, ErrBuffer, "InPlace as recv: only the root may pass it")
	}
	x.o.In = nil
	return nil
}
