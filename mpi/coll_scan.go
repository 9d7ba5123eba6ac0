package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/op"
)

// Scan combines the i-th elements of the send of the ranks up to and with this one, in
// their order, to recv[i] (MPI_Scan, MPI-4.0 §6.11.1). Every rank calls it with the
// same operator and as many elements in send; recv has room for them. With InPlace as
// send, at all ranks, the input is in recv. send and recv do not overlap. There is no
// Scan on an intercommunicator. Errors are those of Allreduce, and ErrComm on an
// intercommunicator. Non-local.
func Scan[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) error {
	const call = "Scan"
	x := operationOf(send, recv)
	if err := x.reduceAll(c, call, coll.Scan, (*Op)(op), kindOf[T]()); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scan, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscan starts a Scan (MPI_Iscan, MPI-4.0 §6.12.11). Until the request has completed,
// send must not be written to and recv not be touched. Errors are those of Scan. Local.
func Iscan[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Scan, x.reduceAll(c, "Iscan", coll.Scan, (*Op)(op), kindOf[T]()))
}

// Exscan is Scan without the rank's own elements: rank i gets what those of the ranks
// 0 to i-1 give (MPI_Exscan, MPI-4.0 §6.11.2). There are none for rank 0: its recv is
// not used, and may be nil, unless it has the input because of InPlace. Then it stays
// as it is. There is no Exscan on an intercommunicator. Errors are those of Scan.
// Non-local.
func Exscan[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) error {
	const call = "Exscan"
	x := operationOf(send, recv)
	if err := x.exscan(c, call, (*Op)(op), kindOf[T]()); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Exscan, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iexscan starts an Exscan (MPI_Iexscan, MPI-4.0 §6.12.12). Until the request has
// completed, send must not be written to and recv not be touched. Errors are those of
// Exscan. Local.
func Iexscan[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Exscan, x.exscan(c, "Iexscan", (*Op)(op), kindOf[T]()))
}

func (x *operation) exscan(c *Comm, call string, o *Op, kind op.Kind) error {
	if c == nil || c.rank > 0 || c.remote > 0 || x.here {
		return x.reduceAll(c, call, coll.Exscan, o, kind)
	}
	// Rank 0 checks only what is used.
	if err := c.checkCollective(call); err != nil {
		return err
	}
	f, err := x.fit(call, o, kind)
	if err != nil {
		return err
	}
	x.o.Out = nil
	return x.reduction(c, call, &comm.PlanKey{Call: coll.Exscan, Count: x.sends}, o, kind, f)
}
