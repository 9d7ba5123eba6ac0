package mpi

import "github.com/weft-mpi/weft/internal/coll"

// NeighborAllgather is the function of that name for Bufs (MPI_Neighbor_allgather,
// MPI-4.0 §8.6.1): a block of recv is as many whole elements as have the bytes of the
// send of its rank. Errors are those of the function and of the Bufs. Non-local.
func (c *Comm) NeighborAllgather(send, recv Buf) error {
	const call = "NeighborAllgather"
	var x operation
	if err := x.neighborAllgatherBufs(c, call, &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAllgather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAllgather starts a NeighborAllgather (MPI_Ineighbor_allgather, MPI-4.0
// §8.7.1). Until the request has completed, send's memory must not be written to and
// recv's not be touched. Errors are those of NeighborAllgather. Local.
func (c *Comm) IneighborAllgather(send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.NeighborAllgather, x.neighborAllgatherBufs(c, "IneighborAllgather", &send, &recv))
}

// NeighborAllgatherInit makes a persistent NeighborAllgather, see BarrierInit
// (MPI_Neighbor_allgather_init, MPI-4.0 §8.8.1). Errors are those of NeighborAllgather.
// Non-local.
func (c *Comm) NeighborAllgatherInit(send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.NeighborAllgather, x.neighborAllgatherBufs(c, "NeighborAllgatherInit", &send, &recv))
}

func (x *operation) neighborAllgatherBufs(c *Comm, call string, send, recv *Buf) error {
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.neighborAllgather(c, call)
}

// NeighborAllgatherv is the function of that name for Bufs (MPI_Neighbor_allgatherv,
// MPI-4.0 §8.6.1). counts and displs count elements of recv's type. Errors are those of
// the function and of the Bufs. Non-local.
func (c *Comm) NeighborAllgatherv(send, recv Buf, counts, displs []int) error {
	const call = "NeighborAllgatherv"
	var x operation
	if err := x.neighborAllgathervBufs(c, call, &send, &recv, counts, displs); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAllgatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAllgatherv starts a NeighborAllgatherv (MPI_Ineighbor_allgatherv, MPI-4.0
// §8.7.1). Until the request has completed, send's memory must not be written to and
// recv's not be touched; counts and displs are copied. Errors are those of
// NeighborAllgatherv. Local.
func (c *Comm) IneighborAllgatherv(send, recv Buf, counts, displs []int) (Request, error) {
	var x operation
	return x.begin(c, coll.NeighborAllgatherv, x.neighborAllgathervBufs(c, "IneighborAllgatherv", &send, &recv, counts, displs))
}

// NeighborAllgathervInit makes a persistent NeighborAllgatherv, see BarrierInit
// (MPI_Neighbor_allgatherv_init, MPI-4.0 §8.8.1). Errors are those of NeighborAllgatherv.
// Non-local.
func (c *Comm) NeighborAllgathervInit(send, recv Buf, counts, displs []int) (Request, error) {
	var x operation
	return x.prepare(c, coll.NeighborAllgatherv, x.neighborAllgathervBufs(c, "NeighborAllgathervInit", &send, &recv, counts, displs))
}

func (x *operation) neighborAllgathervBufs(c *Comm, call string, send, recv *Buf, counts, displs []int) error {
	x.inBlocks = true
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.neighborAllgatherv(c, call, counts, displs)
}

// NeighborAlltoall is the function of that name for Bufs (MPI_Neighbor_alltoall, MPI-4.0
// §8.6.2). Errors are those of the function and of the Bufs. Non-local.
func (c *Comm) NeighborAlltoall(send, recv Buf) error {
	const call = "NeighborAlltoall"
	var x operation
	if err := x.neighborAlltoallBufs(c, call, &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAlltoall, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAlltoall starts a NeighborAlltoall (MPI_Ineighbor_alltoall, MPI-4.0 §8.7.2).
// Until the request has completed, send's memory must not be written to and recv's not be
// touched. Errors are those of NeighborAlltoall. Local.
func (c *Comm) IneighborAlltoall(send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.NeighborAlltoall, x.neighborAlltoallBufs(c, "IneighborAlltoall", &send, &recv))
}

// NeighborAlltoallInit makes a persistent NeighborAlltoall, see BarrierInit
// (MPI_Neighbor_alltoall_init, MPI-4.0 §8.8.2). Errors are those of NeighborAlltoall.
// Non-local.
func (c *Comm) NeighborAlltoallInit(send, recv Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.NeighborAlltoall, x.neighborAlltoallBufs(c, "NeighborAlltoallInit", &send, &recv))
}

func (x *operation) neighborAlltoallBufs(c *Comm, call string, send, recv *Buf) error {
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.neighborAlltoall(c, call)
}

// NeighborAlltoallv is the function of that name for Bufs (MPI_Neighbor_alltoallv,
// MPI-4.0 §8.6.2). Counts and displacements count elements of each Buf's type. Errors are
// those of the function and of the Bufs. Non-local.
func (c *Comm) NeighborAlltoallv(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) error {
	const call = "NeighborAlltoallv"
	var x operation
	if err := x.neighborAlltoallvBufs(c, call, &send, sendcounts, sdispls, &recv, recvcounts, rdispls); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAlltoallv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAlltoallv starts a NeighborAlltoallv (MPI_Ineighbor_alltoallv, MPI-4.0
// §8.7.2). Until the request has completed, send's memory must not be written to and
// recv's not be touched; counts and displacements are copied. Errors are those of
// NeighborAlltoallv. Local.
func (c *Comm) IneighborAlltoallv(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) (Request, error) {
	var x operation
	return x.begin(c, coll.NeighborAlltoallv, x.neighborAlltoallvBufs(c, "IneighborAlltoallv", &send, sendcounts, sdispls, &recv, recvcounts, rdispls))
}

// NeighborAlltoallvInit makes a persistent NeighborAlltoallv, see BarrierInit
// (MPI_Neighbor_alltoallv_init, MPI-4.0 §8.8.2). Errors are those of NeighborAlltoallv.
// Non-local.
func (c *Comm) NeighborAlltoallvInit(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) (Request, error) {
	var x operation
	return x.prepare(c, coll.NeighborAlltoallv, x.neighborAlltoallvBufs(c, "NeighborAlltoallvInit", &send, sendcounts, sdispls, &recv, recvcounts, rdispls))
}

func (x *operation) neighborAlltoallvBufs(c *Comm, call string, send *Buf, sendcounts, sdispls []int, recv *Buf, recvcounts, rdispls []int) error {
	x.inBlocks = true
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.neighborAlltoallv(c, call, sendcounts, sdispls, recvcounts, rdispls)
}

// NeighborAlltoallw is NeighborAlltoallv with a Buf for each slot and direction, of
// whatever type (MPI_Neighbor_alltoallw, MPI-4.0 §8.6.2): the elements of send[i] go to
// the rank of slot i of those that this one sends to, and those of the i-th that it
// receives from come to recv[i]. A Buf without elements is no message. The Bufs of recv
// overlap neither one another nor those of send. It fails with ErrTopology as
// NeighborAlltoall, ErrArg if there is not one Buf for each slot, ErrCount if what the
// rank sends itself has another length, and ErrBuffer for Bufs that overlap, or
// BufInPlace. Other errors are those of the Bufs. Non-local.
func (c *Comm) NeighborAlltoallw(send, recv []Buf) error {
	const call = "Comm.NeighborAlltoallw"
	var x operation
	if err := x.neighborAlltoallw(c, call, send, recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.NeighborAlltoallw, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// IneighborAlltoallw starts a NeighborAlltoallw (MPI_Ineighbor_alltoallw, MPI-4.0
// §8.7.2). Until the request has completed, the memory of send must not be written to and
// that of recv not be touched; the lists are copied. Errors are those of
// NeighborAlltoallw. Local.
func (c *Comm) IneighborAlltoallw(send, recv []Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.NeighborAlltoallw, x.neighborAlltoallw(c, "Comm.IneighborAlltoallw", send, recv))
}

// NeighborAlltoallwInit makes a persistent NeighborAlltoallw, see BarrierInit
// (MPI_Neighbor_alltoallw_init, MPI-4.0 §8.8.2). The lists are copied. Errors are those
// of NeighborAlltoallw. Non-local.
func (c *Comm) NeighborAlltoallwInit(send, recv []Buf) (Request, error) {
	var x operation
	return x.prepare(c, coll.NeighborAlltoallw, x.neighborAlltoallw(c, "Comm.NeighborAlltoallwInit", send, recv))
}
