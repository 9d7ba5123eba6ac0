package mpi

import "github.com/weft-mpi/weft/internal/coll"

// ReduceScatterBlock combines the send of all ranks as Reduce does, and gives rank i the
// i-th block of the result in its recv (MPI_Reduce_scatter_block, MPI-4.0 §6.10.1). send
// is cut into one block for each rank; recv has room for a block. With BufInPlace as
// send, at all ranks, the input is in recv, the whole of it, and the result at its
// beginning; what is behind it then is undefined. See the function ReduceScatterBlock.
// Errors are those of the function ReduceScatterBlock and, for the Bufs, of Reduce.
// Non-local.
func (c *Comm) ReduceScatterBlock(op BufOperator, send, recv Buf) error {
	const call = "ReduceScatterBlock"
	var x operation
	if err := x.reduceScatterBlockBufs(c, call, opOf(op), &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.ReduceScatterBlock, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IreduceScatterBlock starts a ReduceScatterBlock (MPI_Ireduce_scatter_block, MPI-4.0
// §6.12.9). Until the request has completed, send's memory must not be written to and
// recv's not be touched. Errors are those of ReduceScatterBlock. Local.
func (c *Comm) IreduceScatterBlock(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.ReduceScatterBlock, x.reduceScatterBlockBufs(c, "IreduceScatterBlock", opOf(op), &send, &recv))
}

// ReduceScatter is ReduceScatterBlock for blocks of different lengths
// (MPI_Reduce_scatter, MPI-4.0 §6.10.2): rank i gets counts[i] elements of the result.
// counts are in elements of send's type, or, with BufInPlace as send, of recv's. See the
// function ReduceScatter. Errors are those of the function ReduceScatter and, for the Bufs,
// of Reduce. Non-local.
func (c *Comm) ReduceScatter(op BufOperator, send, recv Buf, counts []int) error {
	const call = "ReduceScatter"
	var x operation
	if err := x.reduceScatterBufs(c, call, opOf(op), &send, &recv, counts); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.ReduceScatter, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IreduceScatter starts a ReduceScatter (MPI_Ireduce_scatter, MPI-4.0 §6.12.10). Until the
// request has completed, send's memory must not be written to and recv's not be touched;
// counts are copied. Errors are those of ReduceScatter. Local.
func (c *Comm) IreduceScatter(op BufOperator, send, recv Buf, counts []int) (Request, error) {
	var x operation
	return x.begin(c, coll.ReduceScatter, x.reduceScatterBufs(c, "IreduceScatter", opOf(op), &send, &recv, counts))
}

func (x *operation) reduceScatterBlockBufs(c *Comm, call string, o *Op, send, recv *Buf) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	kind, err := x.takeOperands(call, o, send, recv, true, true)
	if err != nil {
		return err
	}
	return x.reduceScatterBlock(c, call, o, kind)
}

func (x *operation) reduceScatterBufs(c *Comm, call string, o *Op, send, recv *Buf, counts []int) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	kind, err := x.takeOperands(call, o, send, recv, true, true)
	if err != nil {
		return err
	}
	return x.reduceScatter(c, call, o, kind, counts)
}
