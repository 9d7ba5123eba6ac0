package mpi

// Barrier blocks until every rank of the communicator has called it
// (MPI_Barrier, MPI-4.0 §6.3). Every rank must call it, in the same order
// among the communicator's collective calls. If it ends with an error, that of
// its context for one, the ranks are no longer in step: the communicator's
// collective calls can't be used further. A rank that has died, at any time before
// or during the call, ends it with ErrProcFailed at all others. Non-local.
//
// It is the dissemination algorithm: in round k each rank hears from the one
// 2ᵏ before it and tells the one 2ᵏ after it, ⌈log₂ n⌉ rounds in all.
func (c *Comm) Barrier() error {
	const call = "Barrier"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	return fail(call, c.core.Barrier(c.ctx))
}
