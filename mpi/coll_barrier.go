package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
)

// Barrier blocks until every rank of the communicator has called it
// (MPI_Barrier, MPI-4.0 §6.3). Every rank must call it, in the same order among
// the communicator's collective calls. If it fails, for instance because its
// context ends, the ranks are no longer in step: the communicator's collective
// calls can't be used further. If a rank dies, at any time before or during the
// call, it fails with ErrProcFailed at all others. On an intercommunicator it waits for
// the ranks of the remote group. Non-local.
//
// From the third barrier of a communicator on, ranks of one machine, or of one
// process, use flags in memory that they share. Otherwise barriers use messages.
func (c *Comm) Barrier() error {
	const call = "Comm.Barrier"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	return c.fail(call, c.core.Barrier(c.ctx, false))
}

// Ibarrier starts a barrier (MPI_Ibarrier, MPI-4.0 §6.12.1): the request completes
// when every rank of the communicator has called Ibarrier. It does not match a
// Barrier. Errors are those of Barrier. Local.
func (c *Comm) Ibarrier() (Request, error) {
	x := operation{}
	err := c.checkCollective("Comm.Ibarrier")
	if err == nil {
		err = x.uniform(c, "Comm.Ibarrier", &comm.PlanKey{Call: coll.Barrier})
	}
	return x.begin(c, coll.Barrier, err)
}
