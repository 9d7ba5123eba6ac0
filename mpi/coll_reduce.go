package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/op"
)

// Reduce combines the i-th elements of the send of all ranks, in the order of ranks,
// to recv[i] of rank root (MPI_Reduce, MPI-4.0 §6.9.1). Every rank calls it with the
// same root, the same operator and as many elements in send; recv is used at the root
// only and has room for them. The root may pass InPlace as send: its input is in
// recv. send and recv do not overlap. On an intercommunicator the ranks of the group
// that the root is not in give the input, and the length of the root's recv is that of
// their send. It fails with ErrRoot for a wrong root, ErrOp for an operator that does
// not fit T, and ErrBuffer if recv is too short, overlaps send or is InPlace.
// Non-local.
func Reduce[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, root int) error {
	const call = "Reduce"
	x := operationOf(send, recv)
	if err := x.reduce(c, call, (*Op)(op), kindOf[T](), root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Reduce, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ireduce starts a Reduce (MPI_Ireduce, MPI-4.0 §6.12.7). Until the request has
// completed, send must not be written to and recv not be touched. Errors are those of
// Reduce. Local.
func Ireduce[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Reduce, x.reduce(c, "Ireduce", (*Op)(op), kindOf[T](), root))
}

// Allreduce is Reduce with the result at every rank, the same bits at each
// (MPI_Allreduce, MPI-4.0 §6.9.6). Every rank calls it with the same operator and as
// many elements in send; recv has room for them. With InPlace as send, at all ranks,
// the input is in recv. send and recv do not overlap. On an intercommunicator each
// group gets the result of the other one. It fails with ErrOp for an operator that does
// not fit T, and ErrBuffer if recv is too short, overlaps send or is InPlace.
// Non-local.
func Allreduce[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) error {
	const call = "Allreduce"
	x := operationOf(send, recv)
	if err := x.reduceAll(c, call, coll.Allreduce, (*Op)(op), kindOf[T]()); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allreduce, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallreduce starts an Allreduce (MPI_Iallreduce, MPI-4.0 §6.12.8). Until the request
// has completed, send must not be written to and recv not be touched. Errors are those
// of Allreduce. Local.
func Iallreduce[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Allreduce, x.reduceAll(c, "Iallreduce", coll.Allreduce, (*Op)(op), kindOf[T]()))
}

func (x *operation) reduce(c *Comm, call string, o *Op, kind op.Kind, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.reduceBetween(c, call, o, kind, root)
	}
	f, err := x.fit(call, o, kind)
	if err != nil {
		return err
	}
	k := comm.PlanKey{Call: coll.Reduce, Root: root, Count: x.sends, InPlace: x.here}
	switch {
	case c.rank == root:
		if x.here {
			k.Count = x.recvs
		}
		if err := x.checkRecv(call, k.Count); err != nil {
			return err
		}
	case x.here:
		return refuseHere(call, "only the root may pass it")
	default:
		x.o.Out = nil
	}
	return x.reduction(c, call, &k, o, kind, f)
}

// reduceAll is for calls that have as many elements in send as in recv at each rank.
func (x *operation) reduceAll(c *Comm, call string, which coll.Call, o *Op, kind op.Kind) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	switch {
	case c.remote == 0:
	case which != coll.Allreduce:
		return badArg(call, ErrComm, "this is an intercommunicator: MPI defines %v within one group, as two have no common order of ranks; call it on the communicator of the local group, or on what Merge returns", which)
	case x.here:
		return refuseBetween(call, "send")
	}
	f, err := x.fit(call, o, kind)
	if err != nil {
		return err
	}
	k := comm.PlanKey{Call: which, Count: x.sends, InPlace: x.here}
	if x.here {
		k.Count = x.recvs
	}
	if err := x.checkRecv(call, k.Count); err != nil {
		return err
	}
	return x.reduction(c, call, &k, o, kind, f)
}
