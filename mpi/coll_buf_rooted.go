package mpi

import "github.com/weft-mpi/weft/internal/coll"

// Bcast copies the elements of b of rank root to b of every rank (MPI_Bcast, MPI-4.0
// §6.4). MPI has no BufInPlace here. See the function Bcast. Errors are those of the
// function Bcast and of the Buf. Non-local.
func (c *Comm) Bcast(b Buf, root int) error {
	const call = "Bcast"
	var x operation
	if err := x.bcastBuf(c, call, &b, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Bcast, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ibcast starts a Bcast (MPI_Ibcast, MPI-4.0 §6.12.2). Until the request has completed,
// b's memory must not be touched, or at the root not be written to. Errors are those of
// Bcast. Local.
func (c *Comm) Ibcast(b Buf, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Bcast, x.bcastBuf(c, "Ibcast", &b, root))
}

func (x *operation) bcastBuf(c *Comm, call string, b *Buf, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	x.begins(b, b)
	if sends, recvs := c.rooted(root, true); !x.here && (sends || recvs) {
		var err error
		if x.sends, err = x.memory(call, "b", b, !sends, 1); err != nil {
			return err
		}
	}
	return x.bcast(c, call, root)
}

// Gather collects the elements of send of every rank in recv of rank root, in the order
// of ranks (MPI_Gather, MPI-4.0 §6.5). At the root recv has, for each rank, as many
// elements as have the bytes of a rank's send. It is used at the root only, which may
// pass BufInPlace as send: then its own elements are in their place in recv. See the
// function Gather. Errors are those of the function Gather and of the Bufs. Non-local.
func (c *Comm) Gather(send, recv Buf, root int) error {
	const call = "Gather"
	var x operation
	if err := x.gatherBufs(c, call, &send, &recv, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Gather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Igather starts a Gather (MPI_Igather, MPI-4.0 §6.12.3). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Gather. Local.
func (c *Comm) Igather(send, recv Buf, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Gather, x.gatherBufs(c, "Igather", &send, &recv, root))
}

func (x *operation) gatherBufs(c *Comm, call string, send, recv *Buf, root int) error {
	if err := x.takeRooted(c, call, send, recv, root, false); err != nil {
		return err
	}
	return x.gather(c, call, root)
}

// Gatherv is Gather for blocks of different lengths (MPI_Gatherv, MPI-4.0 §6.5): at the
// root, that of rank i has counts[i] elements of recv's type and begins at recv's element
// displs[i]. Without displs, which is nil, the blocks come one after another. Blocks do
// not overlap, and what is between them stays as it is. recv, counts and displs are used
// at the root only. See the function Gatherv. Errors are those of the function Gatherv
// and of the Bufs. Non-local.
func (c *Comm) Gatherv(send, recv Buf, counts, displs []int, root int) error {
	const call = "Gatherv"
	var x operation
	if err := x.gathervBufs(c, call, &send, &recv, counts, displs, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Gatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Igatherv starts a Gatherv (MPI_Igatherv, MPI-4.0 §6.12.3). Until the request has
// completed, send's memory must not be written to and recv's not be touched; counts and
// displs are copied. Errors are those of Gatherv. Local.
func (c *Comm) Igatherv(send, recv Buf, counts, displs []int, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Gatherv, x.gathervBufs(c, "Igatherv", &send, &recv, counts, displs, root))
}

func (x *operation) gathervBufs(c *Comm, call string, send, recv *Buf, counts, displs []int, root int) error {
	x.inBlocks = true
	if err := x.takeRooted(c, call, send, recv, root, false); err != nil {
		return err
	}
	return x.gatherv(c, call, counts, displs, root)
}

// Scatter gives each rank its part of the elements of send of rank root: rank i gets the
// i-th block in its recv (MPI_Scatter, MPI-4.0 §6.6). The elements of recv have as many
// bytes at every rank. send is used at the root only and has so many for each rank, no
// more. The root may pass BufInPlace as recv: its own block stays where it is. See the
// function Scatter. Errors are those of the function Scatter and of the Bufs.
// Non-local.
func (c *Comm) Scatter(send, recv Buf, root int) error {
	const call = "Scatter"
	var x operation
	if err := x.scatterBufs(c, call, &send, &recv, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scatter, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscatter starts a Scatter (MPI_Iscatter, MPI-4.0 §6.12.4). Until the request has
// completed, send's memory must not be written to and recv's not be touched. Errors are
// those of Scatter. Local.
func (c *Comm) Iscatter(send, recv Buf, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Scatter, x.scatterBufs(c, "Iscatter", &send, &recv, root))
}

func (x *operation) scatterBufs(c *Comm, call string, send, recv *Buf, root int) error {
	if err := x.takeRooted(c, call, send, recv, root, true); err != nil {
		return err
	}
	return x.scatter(c, call, root)
}

// Scatterv is Scatter for blocks of different lengths (MPI_Scatterv, MPI-4.0 §6.6): at
// the root, that of rank i has counts[i] elements of send's type, from send's element
// displs[i] on. At the other ranks all elements of recv are the block; the root's recv
// has room for its own. Without displs, which is nil, the blocks are one after another.
// send, counts and displs are used at the root only. See the function Scatterv. Errors
// are those of the function Scatterv and of the Bufs. Non-local.
func (c *Comm) Scatterv(send, recv Buf, counts, displs []int, root int) error {
	const call = "Scatterv"
	var x operation
	if err := x.scattervBufs(c, call, &send, &recv, counts, displs, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Scatterv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Iscatterv starts a Scatterv (MPI_Iscatterv, MPI-4.0 §6.12.4). Until the request has
// completed, send's memory must not be written to and recv's not be touched; counts and
// displs are copied. Errors are those of Scatterv. Local.
func (c *Comm) Iscatterv(send, recv Buf, counts, displs []int, root int) (Request, error) {
	var x operation
	return x.begin(c, coll.Scatterv, x.scattervBufs(c, "Iscatterv", &send, &recv, counts, displs, root))
}

func (x *operation) scattervBufs(c *Comm, call string, send, recv *Buf, counts, displs []int, root int) error {
	if err := x.takeRooted(c, call, send, recv, root, true); err != nil {
		return err
	}
	return x.scatterv(c, call, counts, displs, root)
}
