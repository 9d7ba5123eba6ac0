package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// BarrierInit makes a Barrier persistent (MPI_Barrier_init, MPI-4.0 §6.13.1). Errors are
// those of Barrier. Non-local.
//
// This is what all persistent collective calls have in common. Every rank makes the
// request with the arguments of the blocking call, in the same order among the
// communicator's collective calls. Start begins the call, Wait or Test completes it, and
// then Start may begin it again, until RequestFree. Every rank starts it as often; which
// of several it starts first may differ from rank to rank. The buffers are used anew in
// each start: while it is active what is sent must not be written to, and the result not
// be touched. It does not match a blocking or nonblocking call. MPI lets the call that
// makes the request wait for the other ranks: BarrierInit does, as ranks that reach one
// another's memory prepare flags for it, and all do WithChecks and WithTypeChecks, which
// compare the calls there, once. No key of MPI's info would have a meaning, so there is no
// such argument.
//
// The request may be used after Free of its communicator. A start that fails, for instance
// because an operator panics, a rank dies or the context of the communicator ends, is the
// end of all persistent collective calls of the communicator at all ranks, also of those
// that others have started; the Wait of each later start has the error. The collective
// calls that are made behind it fail, too.
func (c *Comm) BarrierInit() (Request, error) {
	const call = "Comm.BarrierInit"
	x := operation{}
	err := c.checkCollective(call)
	if err == nil {
		err = x.uniform(c, call, &comm.PlanKey{Call: coll.Barrier})
	}
	return x.prepare(c, coll.Barrier, err)
}

// BcastInit makes a Bcast persistent (MPI_Bcast_init, MPI-4.0 §6.13.2): see
// Comm.BarrierInit. Errors are those of Bcast. Non-local.
func (c *Comm) BcastInit(b Buf, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Bcast, x.bcastBuf(c, "BcastInit", &b, root))
}

// GatherInit makes a Gather persistent (MPI_Gather_init, MPI-4.0 §6.13.3): see
// Comm.BarrierInit. Errors are those of Gather. Non-local.
func (c *Comm) GatherInit(send, recv Buf, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Gather, x.gatherBufs(c, "GatherInit", &send, &recv, root))
}

// GathervInit makes a Gatherv persistent (MPI_Gatherv_init, MPI-4.0 §6.13.3): see
// Comm.BarrierInit. counts and displs are copied. Errors are those of Gatherv.
// Non-local.
func (c *Comm) GathervInit(send, recv Buf, counts, displs []int, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Gatherv, x.gathervBufs(c, "GathervInit", &send, &recv, counts, displs, root))
}

// ScatterInit makes a Scatter persistent (MPI_Scatter_init, MPI-4.0 §6.13.4): see
// Comm.BarrierInit. Errors are those of Scatter. Non-local.
func (c *Comm) ScatterInit(send, recv Buf, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Scatter, x.scatterBufs(c, "ScatterInit", &send, &recv, root))
}

// ScattervInit makes a Scatterv persistent (MPI_Scatterv_init, MPI-4.0 §6.13.4): see
// Comm.BarrierInit. counts and displs are copied. Errors are those of Scatterv.
// Non-local.
func (c *Comm) ScattervInit(send, recv Buf, counts, displs []int, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Scatterv, x.scattervBufs(c, "ScattervInit", &send, &recv, counts, displs, root))
}

// AllgatherInit makes an Allgather persistent (MPI_Allgather_init, MPI-4.0 §6.13.5):
// see Comm.BarrierInit. Errors are those of Allgather. Non-local.
func (c *Comm) AllgatherInit(send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Allgather, x.allgatherBufs(c, "AllgatherInit", &send, &recv))
}

// AllgathervInit makes an Allgatherv persistent (MPI_Allgatherv_init, MPI-4.0 §6.13.5):
// see Comm.BarrierInit. counts and displs are copied. Errors are those of Allgatherv.
// Non-local.
func (c *Comm) AllgathervInit(send, recv Buf, counts, displs []int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Allgatherv, x.allgathervBufs(c, "AllgathervInit", &send, &recv, counts, displs))
}

// AlltoallInit makes an Alltoall persistent (MPI_Alltoall_init, MPI-4.0 §6.13.6): see
// Comm.BarrierInit. Errors are those of Alltoall. Non-local.
func (c *Comm) AlltoallInit(send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Alltoall, x.alltoallBufs(c, "AlltoallInit", &send, &recv))
}

// AlltoallvInit makes an Alltoallv persistent (MPI_Alltoallv_init, MPI-4.0 §6.13.6):
// see Comm.BarrierInit. Counts and displacements are copied. Errors are those of
// Alltoallv. Non-local.
func (c *Comm) AlltoallvInit(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Alltoallv, x.alltoallvBufs(c, "AlltoallvInit", &send, sendcounts, sdispls, &recv, recvcounts, rdispls))
}

// AlltoallwInit makes an Alltoallw persistent (MPI_Alltoallw_init, MPI-4.0 §6.13.6):
// see Comm.BarrierInit. The lists are copied. Errors are those of Alltoallw. Non-local.
func (c *Comm) AlltoallwInit(send, recv []Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Alltoallw, x.alltoallw(c, "Comm.AlltoallwInit", send, recv))
}

// ReduceInit makes a Reduce persistent (MPI_Reduce_init, MPI-4.0 §6.13.7): see
// Comm.BarrierInit. Errors are those of Reduce. Non-local.
func (c *Comm) ReduceInit(op BufOperator, send, recv Buf, root int) (Request, error) {
	var x operation
	return x.prepare(c, coll.Reduce, x.reduceBufs(c, "ReduceInit", opOf(op), &send, &recv, root))
}

// AllreduceInit makes an Allreduce persistent (MPI_Allreduce_init, MPI-4.0 §6.13.8):
// see Comm.BarrierInit. Errors are those of Allreduce. Non-local.
func (c *Comm) AllreduceInit(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Allreduce, x.reduceAllBufs(c, "AllreduceInit", coll.Allreduce, opOf(op), &send, &recv))
}

// ReduceScatterBlockInit makes a ReduceScatterBlock persistent
// (MPI_Reduce_scatter_block_init, MPI-4.0 §6.13.9): see Comm.BarrierInit. Errors are
// those of ReduceScatterBlock. Non-local.
func (c *Comm) ReduceScatterBlockInit(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.ReduceScatterBlock, x.reduceScatterBlockBufs(c, "ReduceScatterBlockInit", opOf(op), &send, &recv))
}

// ReduceScatterInit makes a ReduceScatter persistent (MPI_Reduce_scatter_init, MPI-4.0
// §6.13.10): see Comm.BarrierInit. counts are copied. Errors are those of
// ReduceScatter. Non-local.
func (c *Comm) ReduceScatterInit(op BufOperator, send, recv Buf, counts []int) (Request, error) {
	var x operation
	return x.prepare(c, coll.ReduceScatter, x.reduceScatterBufs(c, "ReduceScatterInit", opOf(op), &send, &recv, counts))
}

// ScanInit makes a Scan persistent (MPI_Scan_init, MPI-4.0 §6.13.11): see
// Comm.BarrierInit. Errors are those of Scan. Non-local.
func (c *Comm) ScanInit(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Scan, x.reduceAllBufs(c, "ScanInit", coll.Scan, opOf(op), &send, &recv))
}

// ExscanInit makes an Exscan persistent (MPI_Exscan_init, MPI-4.0 §6.13.12): see
// Comm.BarrierInit. Errors are those of Exscan. Non-local.
func (c *Comm) ExscanInit(op BufOperator, send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.Exscan, x.exscanBufs(c, "ExscanInit", opOf(op), &send, &recv))
}
