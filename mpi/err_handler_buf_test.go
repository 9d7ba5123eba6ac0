package mpi_test

import (
	"maps"

	"github.com/weft-mpi/weft/mpi"
)

// outside is a view outside of its slice.
var outside = mpi.Strided(none, 2, 1, 1)

func init() {
	maps.Copy(failures, bufFailures)
	maps.Copy(failures, shortFailures)
	maps.Copy(winFailures, winBufFailures)
}

// bufFailures makes each call of a communicator with Bufs fail, for a Buf.
var bufFailures = map[string]func(v victim) error{
	"Comm.Allgather":           func(v victim) error { return v.c.Allgather(outside, outside) },
	"Comm.Iallgather":          func(v victim) error { return second(v.c.Iallgather(outside, outside)) },
	"Comm.Allgatherv":          func(v victim) error { return v.c.Allgatherv(outside, outside, []int{1}, nil) },
	"Comm.Iallgatherv":         func(v victim) error { return second(v.c.Iallgatherv(outside, outside, []int{1}, nil)) },
	"Comm.Alltoall":            func(v victim) error { return v.c.Alltoall(outside, outside) },
	"Comm.Ialltoall":           func(v victim) error { return second(v.c.Ialltoall(outside, outside)) },
	"Comm.Alltoallv":           func(v victim) error { return v.c.Alltoallv(outside, []int{1}, nil, outside, []int{1}, nil) },
	"Comm.Ialltoallv":          func(v victim) error { return second(v.c.Ialltoallv(outside, []int{1}, nil, outside, []int{1}, nil)) },
	"Comm.Alltoallw":           func(v victim) error { return v.c.Alltoallw([]mpi.Buf{outside}, []mpi.Buf{outside}) },
	"Comm.Ialltoallw":          func(v victim) error { return second(v.c.Ialltoallw([]mpi.Buf{outside}, []mpi.Buf{outside})) },
	"Comm.Reduce":              func(v victim) error { return v.c.Reduce(mpi.Sum, outside, outside, 0) },
	"Comm.Ireduce":             func(v victim) error { return second(v.c.Ireduce(mpi.Sum, outside, outside, 0)) },
	"Comm.Allreduce":           func(v victim) error { return v.c.Allreduce(mpi.Sum, outside, outside) },
	"Comm.Iallreduce":          func(v victim) error { return second(v.c.Iallreduce(mpi.Sum, outside, outside)) },
	"Comm.ReduceScatterBlock":  func(v victim) error { return v.c.ReduceScatterBlock(mpi.Sum, outside, outside) },
	"Comm.IreduceScatterBlock": func(v victim) error { return second(v.c.IreduceScatterBlock(mpi.Sum, outside, outside)) },
	"Comm.ReduceScatter":       func(v victim) error { return v.c.ReduceScatter(mpi.Sum, outside, outside, []int{1}) },
	"Comm.IreduceScatter":      func(v victim) error { return second(v.c.IreduceScatter(mpi.Sum, outside, outside, []int{1})) },
	"Comm.Scan":                func(v victim) error { return v.c.Scan(mpi.Sum, outside, outside) },
	"Comm.Iscan":               func(v victim) error { return second(v.c.Iscan(mpi.Sum, outside, outside)) },
	"Comm.Exscan":              func(v victim) error { return v.c.Exscan(mpi.Sum, outside, outside) },
	"Comm.Iexscan":             func(v victim) error { return second(v.c.Iexscan(mpi.Sum, outside, outside)) },
	"Comm.Bcast":               func(v victim) error { return v.c.Bcast(outside, 0) },
	"Comm.Ibcast":              func(v victim) error { return second(v.c.Ibcast(outside, 0)) },
	"Comm.Gather":              func(v victim) error { return v.c.Gather(outside, outside, 0) },
	"Comm.Igather":             func(v victim) error { return second(v.c.Igather(outside, outside, 0)) },
	"Comm.Gatherv":             func(v victim) error { return v.c.Gatherv(outside, outside, []int{1}, nil, 0) },
	"Comm.Igatherv":            func(v victim) error { return second(v.c.Igatherv(outside, outside, []int{1}, nil, 0)) },
	"Comm.Scatter":             func(v victim) error { return v.c.Scatter(outside, outside, 0) },
	"Comm.Iscatter":            func(v victim) error { return second(v.c.Iscatter(outside, outside, 0)) },
	"Comm.Scatterv":            func(v victim) error { return v.c.Scatterv(outside, outside, []int{1}, nil, 0) },
	"Comm.Iscatterv":           func(v victim) error { return second(v.c.Iscatterv(outside, outside, []int{1}, nil, 0)) },
	"Comm.Ssend":               func(v victim) error { return v.c.Ssend(outside, 0, 0) },
	"Comm.Rsend":               func(v victim) error { return v.c.Rsend(outside, 0, 0) },
	"Comm.Bsend":               func(v victim) error { return v.c.Bsend(outside, 0, 0) },
	"Comm.Issend":              func(v victim) error { return second(v.c.Issend(outside, 0, 0)) },
	"Comm.Irsend":              func(v victim) error { return second(v.c.Irsend(outside, 0, 0)) },
	"Comm.Ibsend":              func(v victim) error { return second(v.c.Ibsend(outside, 0, 0)) },
	"Comm.PsendInit":           func(v victim) error { return second(v.c.PsendInit(outside, 1, 0, 0)) },
	"Comm.PrecvInit":           func(v victim) error { return second(v.c.PrecvInit(outside, 1, 0, 0)) },
	"Comm.SendInit":            func(v victim) error { return second(v.c.SendInit(outside, 0, 0)) },
	"Comm.SsendInit":           func(v victim) error { return second(v.c.SsendInit(outside, 0, 0)) },
	"Comm.RsendInit":           func(v victim) error { return second(v.c.RsendInit(outside, 0, 0)) },
	"Comm.BsendInit":           func(v victim) error { return second(v.c.BsendInit(outside, 0, 0)) },
	"Comm.RecvInit":            func(v victim) error { return second(v.c.RecvInit(outside, 0, 0)) },
	"Comm.Send":                func(v victim) error { return v.c.Send(outside, 0, 0) },
	"Comm.Recv":                func(v victim) error { return second(v.c.Recv(outside, 0, 0)) },
	"Comm.Isend":               func(v victim) error { return second(v.c.Isend(outside, 0, 0)) },
	"Comm.Irecv":               func(v victim) error { return second(v.c.Irecv(outside, 0, 0)) },
	"Comm.Sendrecv":            func(v victim) error { return second(v.c.Sendrecv(outside, 0, 0, outside, 0, 0)) },
	"Comm.SendrecvReplace":     func(v victim) error { return second(v.c.SendrecvReplace(outside, 0, 0, 0, 0)) },
	"Comm.Isendrecv":           func(v victim) error { return second(v.c.Isendrecv(outside, 0, 0, outside, 0, 0)) },
	"Comm.IsendrecvReplace":    func(v victim) error { return second(v.c.IsendrecvReplace(outside, 0, 0, 0, 0)) },
	"Message.Mrecv":            func(v victim) error { return second(v.message().Mrecv(outside)) },
	"Message.Imrecv":           func(v victim) error { return second(v.message().Imrecv(outside)) },
}

// winBufFailures is bufFailures for windows.
var winBufFailures = map[string]func(v exposed) error{
	"Win.Put":            func(v exposed) error { return v.Win.Put(outside, 0, 0, 1, mpi.TypeByte) },
	"Win.Get":            func(v exposed) error { return v.Win.Get(outside, 0, 0, 1, mpi.TypeByte) },
	"Win.Accumulate":     func(v exposed) error { return v.Win.Accumulate(mpi.Sum, outside, 0, 0, 1, mpi.TypeByte) },
	"Win.GetAccumulate":  func(v exposed) error { return v.Win.GetAccumulate(mpi.Sum, outside, outside, 0, 0, 1, mpi.TypeByte) },
	"Win.FetchAndOp":     func(v exposed) error { return v.Win.FetchAndOp(mpi.Sum, outside, outside, 0, 0) },
	"Win.CompareAndSwap": func(v exposed) error { return v.Win.CompareAndSwap(outside, outside, outside, 0, 0) },
	"Win.Rput":           func(v exposed) error { return second(v.Win.Rput(outside, 0, 0, 1, mpi.TypeByte)) },
	"Win.Rget":           func(v exposed) error { return second(v.Win.Rget(outside, 0, 0, 1, mpi.TypeByte)) },
	"Win.Raccumulate":    func(v exposed) error { return second(v.Win.Raccumulate(mpi.Sum, outside, 0, 0, 1, mpi.TypeByte)) },
	"Win.RgetAccumulate": func(v exposed) error {
		return second(v.Win.RgetAccumulate(mpi.Sum, outside, outside, 0, 0, 1, mpi.TypeByte))
	},
}

// shortFailures makes the shorter forms of calls fail: in place, and as methods.
var shortFailures = map[string]func(v victim) error{
	"ReduceInPlace":             func(v victim) error { return mpi.ReduceInPlace(v.c, mpi.Sum, none, 5) },
	"AllreduceInPlace":          func(v victim) error { return mpi.AllreduceInPlace(v.freed, mpi.Sum, none) },
	"ReduceScatterBlockInPlace": func(v victim) error { return mpi.ReduceScatterBlockInPlace(v.freed, mpi.Sum, none) },
	"ReduceScatterInPlace":      func(v victim) error { return mpi.ReduceScatterInPlace(v.freed, mpi.Sum, none, nil) },
	"ScanInPlace":               func(v victim) error { return mpi.ScanInPlace(v.freed, mpi.Sum, none) },
	"ExscanInPlace":             func(v victim) error { return mpi.ExscanInPlace(v.freed, mpi.Sum, none) },
	"AllgatherInPlace":          func(v victim) error { return mpi.AllgatherInPlace(v.freed, none) },
	"AllgathervInPlace":         func(v victim) error { return mpi.AllgathervInPlace(v.c, none, nil, nil) },
	"AlltoallInPlace":           func(v victim) error { return mpi.AlltoallInPlace(v.freed, none) },
	"AlltoallvInPlace":          func(v victim) error { return mpi.AlltoallvInPlace(v.c, none, nil, nil) },
	"Request.Start":             func(v victim) error { return v.spent().Start() },
	"Request.Cancel":            func(v victim) error { return v.received().Cancel() },
	"Request.Free":              func(v victim) error { return v.spent().Free() },
	"Request.Wait":              func(v victim) error { return second(v.broken().Wait()) },
	"Request.Test":              func(v victim) error { _, _, err := v.broken().Test(); return err },
	"Partitioned.Start": func(v victim) error {
		p := v.partitioned()
		ok(p.Start())
		return p.Start()
	},
	"Partitioned.Wait": func(v victim) error { return second(v.given().Wait()) },
	"Partitioned.Test": func(v victim) error { _, _, err := v.given().Test(); return err },
	"Partitioned.Free": func(v victim) error { return v.given().Free() },
}

// given is an operation that another handle has given up.
func (v victim) given() *mpi.Partitioned {
	p := v.partitioned()
	r := p.Request
	ok(r.Free())
	return p
}

func (v victim) message() *mpi.Message {
	ok(mpi.Send(v.c, make([]byte, 2), 0, 8))
	m, _, err := mpi.Mprobe(v.c, 0, 8)
	ok(err)
	return &m
}
