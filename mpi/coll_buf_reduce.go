package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/op"
)

// The calls with an operator combine basic elements, which a Buf's type may place
// anywhere: those of one kind, the pairs of MinLoc and MaxLoc, or with an operator of
// NewStructOp the structs that they make up. Both Bufs have the same ones.

// Reduce combines the i-th elements of the send of all ranks, in the order of ranks, to
// the i-th element of recv of rank root (MPI_Reduce, MPI-4.0 §6.9.1). recv is used at the
// root only, which may pass BufInPlace as send: its input is in recv. See the function
// Reduce. Errors are those of the function Reduce and of the Bufs, and ErrType if they
// have elements of other kinds. Non-local.
func (c *Comm) Reduce(op BufOperator, send, recv Buf, root int) error {
	const call = "Reduce"
	var x operation
	if err := x.reduceBufs(c, call, opOf(op), &send, &recv, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Reduce, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ireduce starts a Reduce (MPI_Ireduce, MPI-4.0 §6.12.7). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Reduce. Local.
func (c *Comm) Ireduce(op BufOperator, send, recv Buf, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Reduce, x.reduceBufs(c, "Ireduce", opOf(op), &send, &recv, root))
}

// Allreduce is Reduce with the result at every rank, the same bits at each
// (MPI_Allreduce, MPI-4.0 §6.9.6). With BufInPlace as send, at all ranks, the input is in
// recv. See the function Allreduce. Errors are those of the function Allreduce and, for
// the Bufs, of Reduce. Non-local.
func (c *Comm) Allreduce(op BufOperator, send, recv Buf) error {
	const call = "Allreduce"
	var x operation
	if err := x.reduceAllBufs(c, call, coll.Allreduce, opOf(op), &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allreduce, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallreduce starts an Allreduce (MPI_Iallreduce, MPI-4.0 §6.12.8). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Allreduce. Local.
func (c *Comm) Iallreduce(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Allreduce, x.reduceAllBufs(c, "Iallreduce", coll.Allreduce, opOf(op), &send, &recv))
}

// Scan combines the i-th elements of the send of the ranks up to and with this one, in
// their order, to the i-th element of recv (MPI_Scan, MPI-4.0 §6.11.1). With BufInPlace
// as send, at all ranks, the input is in recv. See the function Scan. Errors are those
// of the function Scan and, for the Bufs, of Reduce. Non-local.
func (c *Comm) Scan(op BufOperator, send, recv Buf) error {
	const call = "Scan"
	var x operation
	if err := x.reduceAllBufs(c, call, coll.Scan, opOf(op), &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scan, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscan starts a Scan (MPI_Iscan, MPI-4.0 §6.12.11). Until the request has completed,
// send's memory must not be written to and recv's not be touched. Errors are those of
// Scan. Local.
func (c *Comm) Iscan(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Scan, x.reduceAllBufs(c, "Iscan", coll.Scan, opOf(op), &send, &recv))
}

// Exscan is Scan without the rank's own elements (MPI_Exscan, MPI-4.0 §6.11.2). Rank 0
// does not use its recv, unless it has the input because of BufInPlace. Then it stays as
// it is. See the function Exscan. Errors are those of the function Exscan and, for the
// Bufs, of Reduce. Non-local.
func (c *Comm) Exscan(op BufOperator, send, recv Buf) error {
	const call = "Exscan"
	var x operation
	if err := x.exscanBufs(c, call, opOf(op), &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Exscan, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iexscan starts an Exscan (MPI_Iexscan, MPI-4.0 §6.12.12). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Exscan. Local.
func (c *Comm) Iexscan(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Exscan, x.exscanBufs(c, "Iexscan", opOf(op), &send, &recv))
}

func (x *operation) reduceBufs(c *Comm, call string, o *Op, send, recv *Buf, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	sends, recvs := c.rooted(root, false)
	kind, err := x.takeOperands(call, o, send, recv, sends, recvs)
	if err != nil {
		return err
	}
	return x.reduce(c, call, o, kind, root)
}

func (x *operation) reduceAllBufs(c *Comm, call string, which coll.Call, o *Op, send, recv *Buf) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	kind, err := x.takeOperands(call, o, send, recv, true, true)
	if err != nil {
		return err
	}
	return x.reduceAll(c, call, which, o, kind)
}

func (x *operation) exscanBufs(c *Comm, call string, o *Op, send, recv *Buf) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	kind, err := x.takeOperands(call, o, send, recv, true, c.rank > 0 || send.inPlace())
	if err != nil {
		return err
	}
	return x.exscan(c, call, o, kind)
}

// takeOperands is takeReduction for collective calls.
func (x *operation) takeOperands(call string, o *Op, send, recv *Buf, sends, recvs bool) (op.Kind, error) {
	return x.takeReduction(call, o, [2]string{"send", "recv"}, send, recv, sends, recvs)
}
