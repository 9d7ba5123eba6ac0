package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Bcast copies buf of rank root to buf of every rank (MPI_Bcast, MPI-4.0 §6.4).
// Every rank calls it with the same root and as many elements; MPI has no InPlace
// here. On an intercommunicator the copy goes to the group that the root is not in; the
// root's fellows use no buf. It fails with ErrRoot for a wrong root and ErrBuffer for
// InPlace. Non-local.
func Bcast[T Scalar](c *Comm, buf []T, root int) error {
	const call = "Bcast"
	x := operationOf(buf, buf)
	if err := x.bcast(c, call, root); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Bcast, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ibcast starts a Bcast (MPI_Ibcast, MPI-4.0 §6.12.2). Until the request has
// completed, buf must not be touched, or at the root not be written to. Errors are
// those of Bcast. Local.
func Ibcast[T Scalar](c *Comm, buf []T, root int) (Request, error) {
	x := operationOf(buf, buf)
	return x.begin(c, coll.Bcast, x.bcast(c, "Ibcast", root))
}

func (x *operation) bcast(c *Comm, call string, root int) error {
	if err := c.checkRooted(call, root); err != nil {
		return err
	}
	switch {
	case c.remote > 0 && root == ProcNull:
		x.o.In, x.o.Out = nil, nil
		return x.uniform(c, call, &comm.PlanKey{Call: coll.Bcast, Root: root})
	case x.here:
		return badArg(call, ErrBuffer, "InPlace as buf: it is both the root's input and the others' result")
	}
	return x.uniform(c, call, &comm.PlanKey{Call: coll.Bcast, Root: root, Count: x.sends})
}
