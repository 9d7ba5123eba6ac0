package mpi

import "github.com/weft-mpi/weft/internal/coll"

// Persistent collective calls: Comm.BarrierInit says what all of them have in common.

// BcastInit makes a Bcast persistent (MPI_Bcast_init, MPI-4.0 §6.13.2): see
// Comm.BarrierInit. Errors are those of Bcast. Non-local.
func BcastInit[T Scalar](c *Comm, buf []T, root int) (Request, error) {
	x := operationOf(buf, buf)
	return x.prepare(c, coll.Bcast, x.bcast(c, "BcastInit", root))
}

// GatherInit makes a Gather persistent (MPI_Gather_init, MPI-4.0 §6.13.3): see
// Comm.BarrierInit. Errors are those of Gather. Non-local.
func GatherInit[T Scalar](c *Comm, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Gather, x.gather(c, "GatherInit", root))
}

// GathervInit makes a Gatherv persistent (MPI_Gatherv_init, MPI-4.0 §6.13.3): see
// Comm.BarrierInit. counts and displs are copied. Errors are those of Gatherv.
// Non-local.
func GathervInit[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Gatherv, x.gatherv(c, "GathervInit", counts, displs, root))
}

// ScatterInit makes a Scatter persistent (MPI_Scatter_init, MPI-4.0 §6.13.4): see
// Comm.BarrierInit. Errors are those of Scatter. Non-local.
func ScatterInit[T Scalar](c *Comm, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Scatter, x.scatter(c, "ScatterInit", root))
}

// ScattervInit makes a Scatterv persistent (MPI_Scatterv_init, MPI-4.0 §6.13.4): see
// Comm.BarrierInit. counts and displs are copied. Errors are those of Scatterv.
// Non-local.
func ScattervInit[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Scatterv, x.scatterv(c, "ScattervInit", counts, displs, root))
}

// AllgatherInit makes an Allgather persistent (MPI_Allgather_init, MPI-4.0 §6.13.5):
// see Comm.BarrierInit. Errors are those of Allgather. Non-local.
func AllgatherInit[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Allgather, x.allgather(c, "AllgatherInit"))
}

// AllgathervInit makes an Allgatherv persistent (MPI_Allgatherv_init, MPI-4.0 §6.13.5):
// see Comm.BarrierInit. counts and displs are copied. Errors are those of Allgatherv.
// Non-local.
func AllgathervInit[T Scalar](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Allgatherv, x.allgatherv(c, "AllgathervInit", counts, displs))
}

// AlltoallInit makes an Alltoall persistent (MPI_Alltoall_init, MPI-4.0 §6.13.6): see
// Comm.BarrierInit. Errors are those of Alltoall. Non-local.
func AlltoallInit[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Alltoall, x.alltoall(c, "AlltoallInit"))
}

// AlltoallvInit makes an Alltoallv persistent (MPI_Alltoallv_init, MPI-4.0 §6.13.6):
// see Comm.BarrierInit. Counts and displacements are copied. Errors are those of
// Alltoallv. Non-local.
func AlltoallvInit[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Alltoallv, x.alltoallv(c, "AlltoallvInit", sendcounts, sdispls, recvcounts, rdispls))
}

// ReduceInit makes a Reduce persistent (MPI_Reduce_init, MPI-4.0 §6.13.7): see
// Comm.BarrierInit. Errors are those of Reduce. Non-local.
func ReduceInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Reduce, x.reduce(c, "ReduceInit", (*Op)(op), kindOf[T](), root))
}

// AllreduceInit makes an Allreduce persistent (MPI_Allreduce_init, MPI-4.0 §6.13.8):
// see Comm.BarrierInit. Errors are those of Allreduce. Non-local.
func AllreduceInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Allreduce, x.reduceAll(c, "AllreduceInit", coll.Allreduce, (*Op)(op), kindOf[T]()))
}

// ReduceScatterBlockInit makes a ReduceScatterBlock persistent
// (MPI_Reduce_scatter_block_init, MPI-4.0 §6.13.9): see Comm.BarrierInit. Errors are
// those of ReduceScatterBlock. Non-local.
func ReduceScatterBlockInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.ReduceScatterBlock, x.reduceScatterBlock(c, "ReduceScatterBlockInit", (*Op)(op), kindOf[T]()))
}

// ReduceScatterInit makes a ReduceScatter persistent (MPI_Reduce_scatter_init, MPI-4.0
// §6.13.10): see Comm.BarrierInit. counts are copied. Errors are those of
// ReduceScatter. Non-local.
func ReduceScatterInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T, counts []int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.ReduceScatter, x.reduceScatter(c, "ReduceScatterInit", (*Op)(op), kindOf[T](), counts))
}

// ScanInit makes a Scan persistent (MPI_Scan_init, MPI-4.0 §6.13.11): see
// Comm.BarrierInit. Errors are those of Scan. Non-local.
func ScanInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Scan, x.reduceAll(c, "ScanInit", coll.Scan, (*Op)(op), kindOf[T]()))
}

// ExscanInit makes an Exscan persistent (MPI_Exscan_init, MPI-4.0 §6.13.12): see
// Comm.BarrierInit. Errors are those of Exscan. Non-local.
func ExscanInit[T Scalar, O Operator[T]](c *Comm, op O, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.Exscan, x.exscan(c, "ExscanInit", (*Op)(op), kindOf[T]()))
}
