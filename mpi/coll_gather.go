package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Gather collects the send of every rank in recv of rank root, one after another
// in the order of ranks (MPI_Gather, MPI-4.0 §6.5). Every rank calls it with the
// same root and as many elements in send; recv is used at the root only and has
// room for all of them. The root may pass InPlace as send: then recv is cut into
// one block for each rank, and its own block is there already. send and recv do not
// overlap. On an intercommunicator the blocks are those of the group that the root is
// not in, and the root's recv, which has just their length, gets nothing of its own
// group. It fails with ErrRoot for a wrong root, ErrBuffer if recv is too short,
// overlaps send or is InPlace, and ErrCount if it can't be cut into blocks. Non-local.
func Gather[T Scalar](c *Comm, send, recv []T, root int) error {
	const call = "Gather"
	x := operationOf(send, recv)
	if err := x.gather(c, call, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Gather, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Igather starts a Gather (MPI_Igather, MPI-4.0 §6.12.3). Until the request has
// completed, send must not be written to and recv not be touched. Errors are those of
// Gather. Local.
func Igather[T Scalar](c *Comm, send, recv []T, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Gather, x.gather(c, "Igather", root))
}

// Gatherv is Gather for blocks of different lengths (MPI_Gatherv, MPI-4.0 §6.5): at
// the root, that of rank i has counts[i] elements and comes to recv[displs[i]:].
// counts[i] is the length of rank i's send. Without displs, which is nil, the blocks
// come one after another. Blocks do not overlap, and what is between them stays as
// it is. recv, counts and displs are used at the root only. The root may pass
// InPlace as send: its block is in its place in recv already. On an intercommunicator
// the blocks are those of the group that the root is not in. It fails with ErrRoot for
// a wrong root, ErrArg if a list has not one number for each rank, ErrCount for a count
// that is negative or not the length of the root's send, and ErrBuffer for blocks that
// overlap or are not in recv. Non-local.
func Gatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) error {
	const call = "Gatherv"
	x := operationOf(send, recv)
	if err := x.gatherv(c, call, counts, displs, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Gatherv, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Igatherv starts a Gatherv (MPI_Igatherv, MPI-4.0 §6.12.3). Until the request has
// completed, send must not be written to and recv not be touched; counts and displs
// are copied. Errors are those of Gatherv. Local.
func Igatherv[T Scalar](c *Comm, send, recv []T, counts, displs []int, root int) (Request, error) {
	x := operationOf(send, recv)
	return x.begin(c, coll.Gatherv, x.gatherv(c, "Igatherv", counts, displs, root))
}

func (x *operation) gather(c *Comm, call string, root int) (err error) {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.gatherBetween(c, call, root)
	}
	k := comm.PlanKey{Call: coll.Gather, Root: root, Count: x.sends, InPlace: x.here}
	switch {
	case c.rank == root:
		if x.here && !x.instead {
			if k.Count, err = x.shares(call, "recv", x.recvs, c.everyone()); err != nil {
				return err
			}
		}
		if err := x.checkRecv(call, k.Count*c.size); err != nil {
			return err
		}
	case x.here:
		return refuseHere(call, "only the root may pass it")
	default:
		x.o.Out = nil
	}
	return x.uniform(c, call, &k)
}

func (x *operation) gatherv(c *Comm, call string, counts, displs []int, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	if c.remote > 0 {
		return x.gathervBetween(c, call, counts, displs, root)
	}
	s := coll.Shape{Root: root, Count: x.sends, InPlace: x.here}
	switch {
	case c.rank == root:
		to, err := x.receives(call, counts, displs, c.everyone())
		switch {
		case err != nil:
			return err
		case !x.here && to.counts[root] != x.sends:
			return badArg(call, ErrCount, "send has %d %s, counts[%d], which is the root's own, is for %d", x.sends, x.counted(), root, to.counts[root])
		case !x.here && x.meet(one(x.sends), to):
			return x.overlaps(call)
		}
		s.Counts, s.Displs = to.counts, to.displs
	case x.here:
		return refuseHere(call, "only the root may pass it")
	default:
		x.o.Out = nil
	}
	return x.irregular(c, coll.Gatherv, &s)
}
