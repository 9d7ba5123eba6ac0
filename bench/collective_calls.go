package bench

import "github.com/weft-mpi/weft/mpi"

// onBufs reports whether the call is that with Bufs: with derived types, pairs, and types
// for each rank there is no other, and of non-blocking and persistent calls that is the one
// measured.
func (x *collectiveCall) onBufs() bool {
	return x.nonblocking || x.persistent || x.o.Derived.Kind != NotDerived || x.o.Reduction == MaxLoc || x.kind == "alltoallw"
}

// callOnSlices is the blocking call on slices.
func callOnSlices[T element](x *collectiveCall, send, recv []T) func() error {
	b := &struct{ send, recv []T }{send, recv}
	switch x.kind {
	case "allreduce":
		return func() error { return mpi.Allreduce(x.c, mpi.Sum, b.send, b.recv) }
	case "reduce":
		return func() error { return mpi.Reduce(x.c, mpi.Sum, b.send, b.recv, 0) }
	case "exscan":
		return func() error { return mpi.Exscan(x.c, mpi.Sum, b.send, b.recv) }
	case "bcast":
		return func() error { return mpi.Bcast(x.c, b.recv, 0) }
	case "gather":
		return func() error { return mpi.Gather(x.c, b.send, b.recv, 0) }
	case "scatter":
		return func() error { return mpi.Scatter(x.c, b.send, b.recv, 0) }
	case "allgather":
		return func() error { return mpi.Allgather(x.c, b.send, b.recv) }
	case "alltoall":
		return func() error { return mpi.Alltoall(x.c, b.send, b.recv) }
	case "reduce_scatter":
		return func() error { return mpi.ReduceScatter(x.c, mpi.Sum, b.send, b.recv, x.counts) }
	}
	return func() error { _, err := x.c.Agree(1); return err }
}

// callsOnBufs are the calls with Bufs, a blocking, a non-blocking and a persistent one for
// each kind.
var callsOnBufs = []struct {
	kind  string
	call  func(*collectiveCall) error
	start func(*collectiveCall) (mpi.Request, error)
	init  func(*collectiveCall) (mpi.Request, error)
}{
	{
		"allreduce",
		func(x *collectiveCall) error { return x.c.Allreduce(x.op, x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Iallreduce(x.op, x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.AllreduceInit(x.op, x.out, x.in) },
	},
	{
		"reduce",
		func(x *collectiveCall) error { return x.c.Reduce(x.op, x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Ireduce(x.op, x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.ReduceInit(x.op, x.out, x.in, 0) },
	},
	{
		"exscan",
		func(x *collectiveCall) error { return x.c.Exscan(x.op, x.out, x.in) },
		nil,
		func(x *collectiveCall) (mpi.Request, error) { return x.c.ExscanInit(x.op, x.out, x.in) },
	},
	{
		"bcast",
		func(x *collectiveCall) error { return x.c.Bcast(x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Ibcast(x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.BcastInit(x.in, 0) },
	},
	{
		"gather",
		func(x *collectiveCall) error { return x.c.Gather(x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Igather(x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.GatherInit(x.out, x.in, 0) },
	},
	{
		"scatter",
		func(x *collectiveCall) error { return x.c.Scatter(x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Iscatter(x.out, x.in, 0) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.ScatterInit(x.out, x.in, 0) },
	},
	{
		"allgather",
		func(x *collectiveCall) error { return x.c.Allgather(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Iallgather(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.AllgatherInit(x.out, x.in) },
	},
	{
		"alltoall",
		func(x *collectiveCall) error { return x.c.Alltoall(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Ialltoall(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.AlltoallInit(x.out, x.in) },
	},
	{
		"alltoallw",
		func(x *collectiveCall) error { return x.c.Alltoallw(x.outs, x.ins) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.Ialltoallw(x.outs, x.ins) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.AlltoallwInit(x.outs, x.ins) },
	},
	{
		"reduce_scatter",
		nil,
		func(x *collectiveCall) (mpi.Request, error) { return x.c.IreduceScatter(x.op, x.out, x.in, x.counts) },
		func(x *collectiveCall) (mpi.Request, error) {
			return x.c.ReduceScatterInit(x.op, x.out, x.in, x.counts)
		},
	},
}

// setBufs sets the calls with Bufs of two slices of elements.
func (x *collectiveCall) setBufs(send, recv any) error {
	base, width := baseOf(send)
	t, count, err := x.o.blockOf(base, x.n*width, x.n)
	if err != nil {
		return err
	}
	x.out, x.in, x.op = bufOf(t, send, x.sends/x.n*count), bufOf(t, recv, x.recvs/x.n*count), mpi.Sum
	if x.o.Reduction == MaxLoc {
		x.op = mpi.MaxLoc
	}
	for rank := 0; x.kind == "alltoallw" && rank < x.c.Size(); rank++ {
		x.outs, x.ins = append(x.outs, bufOf(t, send, count).At(rank*x.n*width)), append(x.ins, bufOf(t, recv, count).At(rank*x.n*width))
	}
	for i := range callsOnBufs {
		if f := &callsOnBufs[i]; f.kind == x.kind {
			x.call = func() error { return f.call(x) }
			x.start = func() (mpi.Request, error) { return f.start(x) }
			if x.persistent {
				x.saved, err = f.init(x)
				x.call = func() error { return startWait(&x.saved) }
			}
		}
	}
	return err
}
