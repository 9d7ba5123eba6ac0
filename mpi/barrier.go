package mpi

// Barrier blocks until every rank of the communicator has called it
// (MPI_Barrier, MPI-4.0 §6.3). Every rank must call it, in the same order
// among the communicator's collective calls. If it ends with an error, that of
// its context for one, the ranks are no longer in step: the communicator's
// collective calls can't be used further. A rank that has died, at any time before
// or during the call, ends it with ErrProcFailed at all others. Non-local.
//
// Ranks of one machine, or of one process, meet by flags in memory that they share,
// from the third barrier of a communicator on; others, and before that, by messages.
func (c *Comm) Barrier() error {
	const call = "Barrier"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	return fail(call, c.core.Barrier(c.ctx, false))
}
