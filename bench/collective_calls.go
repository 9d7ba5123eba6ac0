package bench

import (
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

// onBufs reports whether the call is that with Bufs: with derived types, pairs, and types
// for each rank there is no other, and of non-blocking and persistent calls that is the one
// measured.
func (x *collectiveCall) onBufs() bool {
	return x.nonblocking || x.persistent || x.o.Derived.Kind != NotDerived || x.o.Reduction == MaxLoc || x.byBlock()
}

// byBlock reports whether the call takes a Buf for each block.
func (x *collectiveCall) byBlock() bool { return strings.HasSuffix(x.kind, "alltoallw") }

// place sets the counts and the displacements of blocks of count elements, of a call that
// takes them.
func (x *collectiveCall) place(count int) {
	for i := 0; strings.HasSuffix(x.kind, "v") && i < len(x.neighbors); i++ {
		x.counts, x.displs = append(x.counts, count), append(x.displs, i*count)
	}
}

// callOnSlices is the blocking call on slices.
func callOnSlices[T element](x *collectiveCall, send, recv []T) func() error {
	b := &struct{ send, recv []T }{send, recv}
	x.place(x.n)
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
	case "neighbor_allgather":
		return func() error { return mpi.NeighborAllgather(x.c, b.send, b.recv) }
	case "neighbor_allgatherv":
		return func() error { return mpi.NeighborAllgatherv(x.c, b.send, b.recv, x.counts, x.displs) }
	case "neighbor_alltoall":
		return func() error { return mpi.NeighborAlltoall(x.c, b.send, b.recv) }
	case "neighbor_alltoallv":
		return func() error {
			return mpi.NeighborAlltoallv(x.c, b.send, x.counts, x.displs, b.recv, x.counts, x.displs)
		}
	case "neighbor_isend":
		return byHand(x, send, recv)
	}
	return func() error { _, err := x.c.Agree(1); return err }
}

// byHand is the exchange of NeighborAlltoall by plain messages. What is sent to slot s
// arrives at the slot of the other direction, which is the tag: a neighbor may have
// several.
func byHand[T element](x *collectiveCall, send, recv []T) func() error {
	slots, n := len(x.neighbors), x.n
	requests := make([]mpi.Request, 2*slots)
	return func() (err error) {
		for s, rank := range x.neighbors {
			if requests[s], err = mpi.Irecv(x.c, recv[s*n:(s+1)*n], rank, s); err != nil {
				return err
			}
		}
		for s, rank := range x.neighbors {
			if requests[slots+s], err = mpi.Isend(x.c, send[s*n:(s+1)*n], rank, s^1); err != nil {
				return err
			}
		}
		return mpi.Waitall(requests, nil)
	}
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
	{
		"neighbor_allgather",
		func(x *collectiveCall) error { return x.c.NeighborAllgather(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.IneighborAllgather(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.NeighborAllgatherInit(x.out, x.in) },
	},
	{
		"neighbor_allgatherv",
		func(x *collectiveCall) error { return x.c.NeighborAllgatherv(x.out, x.in, x.counts, x.displs) },
		func(x *collectiveCall) (mpi.Request, error) {
			return x.c.IneighborAllgatherv(x.out, x.in, x.counts, x.displs)
		},
		func(x *collectiveCall) (mpi.Request, error) {
			return x.c.NeighborAllgathervInit(x.out, x.in, x.counts, x.displs)
		},
	},
	{
		"neighbor_alltoall",
		func(x *collectiveCall) error { return x.c.NeighborAlltoall(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.IneighborAlltoall(x.out, x.in) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.NeighborAlltoallInit(x.out, x.in) },
	},
	{
		"neighbor_alltoallv",
		func(x *collectiveCall) error {
			return x.c.NeighborAlltoallv(x.out, x.counts, x.displs, x.in, x.counts, x.displs)
		},
		func(x *collectiveCall) (mpi.Request, error) {
			return x.c.IneighborAlltoallv(x.out, x.counts, x.displs, x.in, x.counts, x.displs)
		},
		func(x *collectiveCall) (mpi.Request, error) {
			return x.c.NeighborAlltoallvInit(x.out, x.counts, x.displs, x.in, x.counts, x.displs)
		},
	},
	{
		"neighbor_alltoallw",
		func(x *collectiveCall) error { return x.c.NeighborAlltoallw(x.outs, x.ins) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.IneighborAlltoallw(x.outs, x.ins) },
		func(x *collectiveCall) (mpi.Request, error) { return x.c.NeighborAlltoallwInit(x.outs, x.ins) },
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
	x.place(count)
	for i := 0; x.byBlock() && i < x.sends/x.n; i++ {
		x.outs, x.ins = append(x.outs, bufOf(t, send, count).At(i*x.n*width)), append(x.ins, bufOf(t, recv, count).At(i*x.n*width))
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
