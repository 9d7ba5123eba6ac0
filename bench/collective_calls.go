package bench

import "github.com/weft-mpi/weft/mpi"

// onBufs reports whether the call is that with Bufs: with derived types, pairs, and types
// for each rank there is no other, and of non-blocking calls that is the one measured.
func (x *collectiveCall) onBufs() bool {
	return x.nonblocking || x.o.Derived.Kind != NotDerived || x.o.Reduction == MaxLoc || x.kind == "alltoallw"
}

// callOnSlices is the blocking call on slices.
func callOnSlices[T element](x *collectiveCall, send, recv []T) func() error {
	c := x.c
	switch x.kind {
	case "allreduce":
		return func() error { return mpi.Allreduce(c, mpi.Sum, send, recv) }
	case "reduce":
		return func() error { return mpi.Reduce(c, mpi.Sum, send, recv, 0) }
	case "exscan":
		return func() error { return mpi.Exscan(c, mpi.Sum, send, recv) }
	case "bcast":
		return func() error { return mpi.Bcast(c, recv, 0) }
	case "gather":
		return func() error { return mpi.Gather(c, send, recv, 0) }
	case "scatter":
		return func() error { return mpi.Scatter(c, send, recv, 0) }
	case "allgather":
		return func() error { return mpi.Allgather(c, send, recv) }
	case "alltoall":
		return func() error { return mpi.Alltoall(c, send, recv) }
	case "reduce_scatter":
		return func() error { return mpi.ReduceScatter(c, mpi.Sum, send, recv, x.counts) }
	}
	return func() error { _, err := c.Agree(1); return err }
}

// setBufs sets the calls with Bufs: sends and recvs are the first blocks of the buffers.
func (x *collectiveCall) setBufs(sends, recvs func(blocks int) mpi.Buf) {
	c, op := x.c, mpi.Sum
	send, recv := sends(x.sends/x.n), recvs(x.recvs/x.n)
	if x.o.Reduction == MaxLoc {
		op = mpi.MaxLoc
	}
	switch x.kind {
	case "allreduce":
		x.call = func() error { return c.Allreduce(op, send, recv) }
		x.start = func() (mpi.Request, error) { return c.Iallreduce(op, send, recv) }
	case "reduce":
		x.call = func() error { return c.Reduce(op, send, recv, 0) }
		x.start = func() (mpi.Request, error) { return c.Ireduce(op, send, recv, 0) }
	case "exscan":
		x.call = func() error { return c.Exscan(op, send, recv) }
	case "bcast":
		x.call = func() error { return c.Bcast(recv, 0) }
		x.start = func() (mpi.Request, error) { return c.Ibcast(recv, 0) }
	case "gather":
		x.call = func() error { return c.Gather(send, recv, 0) }
		x.start = func() (mpi.Request, error) { return c.Igather(send, recv, 0) }
	case "scatter":
		x.call = func() error { return c.Scatter(send, recv, 0) }
		x.start = func() (mpi.Request, error) { return c.Iscatter(send, recv, 0) }
	case "allgather":
		x.call = func() error { return c.Allgather(send, recv) }
		x.start = func() (mpi.Request, error) { return c.Iallgather(send, recv) }
	case "alltoall":
		x.call = func() error { return c.Alltoall(send, recv) }
		x.start = func() (mpi.Request, error) { return c.Ialltoall(send, recv) }
	case "alltoallw":
		send, recv := make([]mpi.Buf, c.Size()), make([]mpi.Buf, c.Size())
		for rank := range send {
			send[rank], recv[rank] = sends(1).At(rank*x.size), recvs(1).At(rank*x.size)
		}
		x.call = func() error { return c.Alltoallw(send, recv) }
		x.start = func() (mpi.Request, error) { return c.Ialltoallw(send, recv) }
	case "reduce_scatter":
		x.start = func() (mpi.Request, error) { return c.IreduceScatter(op, send, recv, x.counts) }
	}
}
