package mpi

import "github.com/weft-mpi/weft/internal/coll"

// The calls of neighborhoods exchange elements along the edges of the communicator's
// topology. The slots of a rank are the ranks that CartCreate's grid, GraphNeighbors or
// DistGraphNeighbors have for it, in that order. Checks and execution are those of the
// other collective calls.

// NeighborAllgather sends the elements of send to each neighbor, and receives theirs in
// recv, which is cut into one block for each rank that the communicator's topology has
// this one receive from, in the order of its slots (MPI_Neighbor_allgather, MPI-4.0
// §8.6.1). A block is as long as the send of its rank. Where a grid has no neighbor the
// block stays as it is. Every rank of the communicator calls it. send and recv do not
// overlap, and there is no InPlace. It fails with ErrTopology if the communicator has no
// topology, or a graph with edges that lead one way only, ErrCount if recv can't be cut
// into blocks or what the rank sends itself has another length, and ErrBuffer for buffers
// that overlap, or InPlace. Non-local.
func NeighborAllgather[T Scalar](c *Comm, send, recv []T) error {
	const call = "NeighborAllgather"
	x := operationOf(send, recv)
	if err := x.neighborAllgather(c, call); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAllgather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAllgather starts a NeighborAllgather (MPI_Ineighbor_allgather, MPI-4.0
// §8.7.1). Until the request has completed, send must not be written to and recv not be
// touched. Errors are those of NeighborAllgather. Local.
func IneighborAllgather[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.NeighborAllgather, x.neighborAllgather(c, "IneighborAllgather"))
}

// NeighborAllgatherInit makes a persistent NeighborAllgather, see Comm.BarrierInit
// (MPI_Neighbor_allgather_init, MPI-4.0 §8.8.1). Errors are those of NeighborAllgather.
// Non-local.
func NeighborAllgatherInit[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.NeighborAllgather, x.neighborAllgather(c, "NeighborAllgatherInit"))
}

// NeighborAllgatherv is NeighborAllgather for blocks of different lengths
// (MPI_Neighbor_allgatherv, MPI-4.0 §8.6.1): that of slot i has counts[i] elements, from
// recv[displs[i]] on. Without displs, which is nil, the blocks come one after another.
// They do not overlap, and what is between them stays as it is. Errors are those of
// NeighborAllgather, and ErrArg if a list has not one number for each slot. Non-local.
func NeighborAllgatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int) error {
	const call = "NeighborAllgatherv"
	x := operationOf(send, recv)
	if err := x.neighborAllgatherv(c, call, counts, displs); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAllgatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAllgatherv starts a NeighborAllgatherv (MPI_Ineighbor_allgatherv, MPI-4.0
// §8.7.1). Until the request has completed, send must not be written to and recv not be
// touched; counts and displs are copied. Errors are those of NeighborAllgatherv. Local.
func IneighborAllgatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.NeighborAllgatherv, x.neighborAllgatherv(c, "IneighborAllgatherv", counts, displs))
}

// NeighborAllgathervInit makes a persistent NeighborAllgatherv, see Comm.BarrierInit
// (MPI_Neighbor_allgatherv_init, MPI-4.0 §8.8.1). Errors are those of NeighborAllgatherv.
// Non-local.
func NeighborAllgathervInit[T Scalar](c *Comm, send, recv []T, counts, displs []int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.NeighborAllgatherv, x.neighborAllgatherv(c, "NeighborAllgathervInit", counts, displs))
}

// NeighborAlltoall sends a block of send to each neighbor and receives one of each in
// recv (MPI_Neighbor_alltoall, MPI-4.0 §8.6.2): send is cut into one block for each slot
// of the ranks that the topology has this one send to, recv as in NeighborAllgather. On a
// grid the block of a slot comes to that slot of the neighbor which is in the other
// direction: what is sent up arrives from below, also where both neighbors of a dimension
// are one rank, or the rank itself. In a graph the k-th of the blocks from one rank to
// another comes to the k-th slot that this one has for it. Errors are those of
// NeighborAllgather, and ErrCount if send can't be cut into blocks. Non-local.
func NeighborAlltoall[T Scalar](c *Comm, send, recv []T) error {
	const call = "NeighborAlltoall"
	x := operationOf(send, recv)
	if err := x.neighborAlltoall(c, call); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAlltoall, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAlltoall starts a NeighborAlltoall (MPI_Ineighbor_alltoall, MPI-4.0 §8.7.2).
// Until the request has completed, send must not be written to and recv not be touched.
// Errors are those of NeighborAlltoall. Local.
func IneighborAlltoall[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.NeighborAlltoall, x.neighborAlltoall(c, "IneighborAlltoall"))
}

// NeighborAlltoallInit makes a persistent NeighborAlltoall, see Comm.BarrierInit
// (MPI_Neighbor_alltoall_init, MPI-4.0 §8.8.2). Errors are those of NeighborAlltoall.
// Non-local.
func NeighborAlltoallInit[T Scalar](c *Comm, send, recv []T) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.NeighborAlltoall, x.neighborAlltoall(c, "NeighborAlltoallInit"))
}

// NeighborAlltoallv is NeighborAlltoall for blocks of different lengths
// (MPI_Neighbor_alltoallv, MPI-4.0 §8.6.2): that of slot i has sendcounts[i] elements
// from send[sdispls[i]] on, what comes to it recvcounts[i] from recv[rdispls[i]] on.
// Without displacements, which are nil, blocks are one after another. Those of recv do
// not overlap, and what is between them stays as it is. Errors are those of
// NeighborAlltoall, and ErrArg if a list has not one number for each slot. Non-local.
func NeighborAlltoallv[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) error {
	const call = "NeighborAlltoallv"
	x := operationOf(send, recv)
	if err := x.neighborAlltoallv(c, call, sendcounts, sdispls, recvcounts, rdispls); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAlltoallv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAlltoallv starts a NeighborAlltoallv (MPI_Ineighbor_alltoallv, MPI-4.0
// §8.7.2). Until the request has completed, send must not be written to and recv not be
// touched; counts and displacements are copied. Errors are those of NeighborAlltoallv.
// Local.
func IneighborAlltoallv[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.NeighborAlltoallv, x.neighborAlltoallv(c, "IneighborAlltoallv", sendcounts, sdispls, recvcounts, rdispls))
}

// NeighborAlltoallvInit makes a persistent NeighborAlltoallv, see Comm.BarrierInit
// (MPI_Neighbor_alltoallv_init, MPI-4.0 §8.8.2). Errors are those of NeighborAlltoallv.
// Non-local.
func NeighborAlltoallvInit[T Scalar](c *Comm, send []T, sendcounts, sdispls []int, recv []T, recvcounts, rdispls []int) (Request, error) {
	x := operationOf(send, recv)
	return x.prepare(c, coll.NeighborAlltoallv, x.neighborAlltoallv(c, "NeighborAlltoallvInit", sendcounts, sdispls, recvcounts, rdispls))
}
