package mpi

// Dup returns a communicator of the same ranks whose messages match none of this
// one's: a library should communicate on a duplicate of the communicator it is
// given (MPI_Comm_dup, MPI-4.0 §7.4.2). Every rank must call it, in the same
// order among the communicator's collective calls. The duplicate's operations
// have the context of this one (WithContext). An error has the same consequences
// as an error of Barrier. Non-local.
func (c *Comm) Dup() (*Comm, error) {
	const call = "Dup"
	if c.gone() {
		return nil, c.explain(call, 0, 0, false)
	}
	core, err := c.core.Dup(c.ctx)
	if err != nil {
		return nil, fail(call, err)
	}
	return newComm(c.w, core, c.ctx), nil
}

// Free gives up the communicator (MPI_Comm_free, MPI-4.0 §7.4.3). Every rank
// calls it, in the same order among the communicator's collective calls; it does
// not wait for the others. Operations under way continue, and their requests are
// completed as usual. Every further call on the communicator, and on those that
// WithContext has made of it, fails with ErrComm. Only BufferDetach returns
// memory of BufferAttach: call it before. The communicator of all ranks can't be
// freed: it belongs to its World until Finalize. Local.
func (c *Comm) Free() error {
	const call = "Comm.Free"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	if c.core == c.w.comm.core {
		return badArg(call, ErrComm, "the communicator of all ranks can't be freed: it ends with its World, by Finalize")
	}
	if !c.core.Free() {
		return c.explain(call, 0, 0, false)
	}
	return nil
}
