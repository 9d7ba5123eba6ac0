package mpi

import "github.com/weft-mpi/weft/internal/coll"

// Allgather collects the elements of send of every rank in recv of every rank, in the
// order of ranks (MPI_Allgather, MPI-4.0 §6.7). recv has, for each rank, as many elements
// as have the bytes of a rank's send. With BufInPlace as send, at all ranks, recv is cut
// into one block for each rank, and the rank's own is there already. See the function
// Allgather. Errors are those of the function Allgather and of the Bufs. Non-local.
func (c *Comm) Allgather(send, recv Buf) error {
	const call = "Allgather"
	var x operation
	if err := x.allgatherBufs(c, call, &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allgather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallgather starts an Allgather (MPI_Iallgather, MPI-4.0 §6.12.5). Until the request
// has completed, send's memory must not be written to and recv's not be touched. Errors
// are those of Allgather. Local.
func (c *Comm) Iallgather(send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Allgather, x.allgatherBufs(c, "Iallgather", &send, &recv))
}

func (x *operation) allgatherBufs(c *Comm, call string, send, recv *Buf) error {
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.allgather(c, call)
}

// Allgatherv is Allgather for blocks of different lengths (MPI_Allgatherv, MPI-4.0
// §6.7): that of rank i has counts[i] elements of recv's type, begins at recv's element
// displs[i], and is rank i's send. The bytes of each block are the same at all ranks;
// displs need not be. Without displs, which is nil, the blocks come one after another.
// Blocks do not overlap, and what is between them stays as it is. With BufInPlace as
// send, at all ranks, the rank's own block is in its place in recv already. See the
// function Allgatherv. Errors are those of the function Allgatherv and of the Bufs.
// Non-local.
func (c *Comm) Allgatherv(send, recv Buf, counts, displs []int) error {
	const call = "Allgatherv"
	var x operation
	if err := x.allgathervBufs(c, call, &send, &recv, counts, displs); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Allgatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iallgatherv starts an Allgatherv (MPI_Iallgatherv, MPI-4.0 §6.12.5). Until the request
// has completed, send's memory must not be written to and recv's not be touched; counts
// and displs are copied. Errors are those of Allgatherv. Local.
func (c *Comm) Iallgatherv(send, recv Buf, counts, displs []int) (Request, error) {
	var x operation
	return x.begin(c, coll.Allgatherv, x.allgathervBufs(c, "Iallgatherv", &send, &recv, counts, displs))
}

func (x *operation) allgathervBufs(c *Comm, call string, send, recv *Buf, counts, displs []int) error {
	x.inBlocks = true
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.allgatherv(c, call, counts, displs)
}

// Alltoall sends the i-th block of the elements of send to rank i, and receives rank i's
// as the i-th block of recv (MPI_Alltoall, MPI-4.0 §6.8). send is cut into one block for
// each rank; recv has, for each rank, as many elements as have the bytes of a block. With
// BufInPlace as send, at all ranks, what is sent is in recv and replaced by what is
// received. See the function Alltoall. Errors are those of the function Alltoall and of
// the Bufs. Non-local.
func (c *Comm) Alltoall(send, recv Buf) error {
	const call = "Alltoall"
	var x operation
	if err := x.alltoallBufs(c, call, &send, &recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Alltoall, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ialltoall starts an Alltoall (MPI_Ialltoall, MPI-4.0 §6.12.6). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Alltoall. Local.
func (c *Comm) Ialltoall(send, recv Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Alltoall, x.alltoallBufs(c, "Ialltoall", &send, &recv))
}

func (x *operation) alltoallBufs(c *Comm, call string, send, recv *Buf) error {
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.alltoall(c, call)
}

// Alltoallv is Alltoall for blocks of different lengths (MPI_Alltoallv, MPI-4.0 §6.8):
// that for rank i has sendcounts[i] elements of send's type, from its element sdispls[i]
// on, that of rank i recvcounts[i] elements of recv's type and begins at its element
// rdispls[i]. Without displacements, which are nil, blocks are one after another. Those
// of recv do not overlap, and what is between them stays as it is. With BufInPlace as
// send, at all ranks, sendcounts and sdispls are not used: the block from rank i replaces
// the one for rank i, which is as long. See the function Alltoallv. Errors are those of
// the function Alltoallv and of the Bufs. Non-local.
func (c *Comm) Alltoallv(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) error {
	const call = "Alltoallv"
	var x operation
	if err := x.alltoallvBufs(c, call, &send, sendcounts, sdispls, &recv, recvcounts, rdispls); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Alltoallv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ialltoallv starts an Alltoallv (MPI_Ialltoallv, MPI-4.0 §6.12.6). Until the request
// has completed, send's memory must not be written to and recv's not be touched; counts
// and displacements are copied. Errors are those of Alltoallv. Local.
func (c *Comm) Ialltoallv(send Buf, sendcounts, sdispls []int, recv Buf, recvcounts, rdispls []int) (Request, error) {
	var x operation
	return x.begin(c, coll.Alltoallv, x.alltoallvBufs(c, "Ialltoallv", &send, sendcounts, sdispls, &recv, recvcounts, rdispls))
}

func (x *operation) alltoallvBufs(c *Comm, call string, send *Buf, sendcounts, sdispls []int, recv *Buf, recvcounts, rdispls []int) error {
	x.inBlocks = true
	if err := x.take(c, call, send, recv, true, true); err != nil {
		return err
	}
	return x.alltoallv(c, call, sendcounts, sdispls, recvcounts, rdispls)
}
