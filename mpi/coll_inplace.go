package mpi

// Collective calls in place (MPI_IN_PLACE, MPI-4.0 §6.2.1): each is the call of its name
// with InPlace for the buffer that the rank's input is not in. All ranks call it. The
// nonblocking calls take InPlace.

// ReduceInPlace is Reduce with one buffer (MPI_Reduce, MPI-4.0 §6.9.1): the rank's input,
// and at the root the result after it. Errors are those of Reduce. Non-local.
func ReduceInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T, root int) error {
	if c.Rank() == root {
		return Reduce(c, op, InPlace[T](), buf, root)
	}
	return Reduce(c, op, buf, nil, root)
}

// AllreduceInPlace is Allreduce with one buffer (MPI_Allreduce, MPI-4.0 §6.9.6): the rank's
// input, and then the result. Errors are those of Allreduce. Non-local.
func AllreduceInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T) error {
	return Allreduce(c, op, InPlace[T](), buf)
}

// ReduceScatterBlockInPlace is ReduceScatterBlock with one buffer
// (MPI_Reduce_scatter_block, MPI-4.0 §6.10.1): the rank's input, and then at its beginning
// the rank's block of the result. What is behind it is undefined. Errors are those of
// ReduceScatterBlock. Non-local.
func ReduceScatterBlockInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T) error {
	return ReduceScatterBlock(c, op, InPlace[T](), buf)
}

// ReduceScatterInPlace is ReduceScatter with one buffer (MPI_Reduce_scatter, MPI-4.0
// §6.10.2), as ReduceScatterBlockInPlace. Errors are those of ReduceScatter. Non-local.
func ReduceScatterInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T, counts []int) error {
	return ReduceScatter(c, op, InPlace[T](), buf, counts)
}

// ScanInPlace is Scan with one buffer (MPI_Scan, MPI-4.0 §6.11.1): the rank's input, and
// then the result. Errors are those of Scan. Non-local.
func ScanInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T) error {
	return Scan(c, op, InPlace[T](), buf)
}

// ExscanInPlace is Exscan with one buffer (MPI_Exscan, MPI-4.0 §6.11.2): the rank's input,
// and then the result; rank 0's stays as it is. Errors are those of Exscan. Non-local.
func ExscanInPlace[T Scalar, O Operator[T]](c *Comm, op O, buf []T) error {
	return Exscan(c, op, InPlace[T](), buf)
}

// AllgatherInPlace is Allgather with one buffer (MPI_Allgather, MPI-4.0 §6.7), which has a
// block for each rank: the rank's own is in its place. Errors are those of Allgather.
// Non-local.
func AllgatherInPlace[T Scalar](c *Comm, buf []T) error { return Allgather(c, InPlace[T](), buf) }

// AllgathervInPlace is Allgatherv with one buffer (MPI_Allgatherv, MPI-4.0 §6.7), in which
// the rank's block is in its place. Errors are those of Allgatherv. Non-local.
func AllgathervInPlace[T Scalar](c *Comm, buf []T, counts, displs []int) error {
	return Allgatherv(c, InPlace[T](), buf, counts, displs)
}

// AlltoallInPlace is Alltoall with one buffer (MPI_Alltoall, MPI-4.0 §6.8): the blocks for
// the ranks, and then those from them. Errors are those of Alltoall. Non-local.
func AlltoallInPlace[T Scalar](c *Comm, buf []T) error { return Alltoall(c, InPlace[T](), buf) }

// AlltoallvInPlace is Alltoallv with one buffer (MPI_Alltoallv, MPI-4.0 §6.8): the blocks
// for the ranks, and then those from them, which are as long. Errors are those of
// Alltoallv. Non-local.
func AlltoallvInPlace[T Scalar](c *Comm, buf []T, counts, displs []int) error {
	return Alltoallv(c, InPlace[T](), nil, nil, buf, counts, displs)
}
