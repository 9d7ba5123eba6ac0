package mpi

// Dup returns a communicator of the same ranks whose messages match none of
// this one's: a library that is given a communicator talks on a duplicate
// (MPI_Comm_dup, MPI-4.0 §7.4.2). Every rank must call it, in the same order
// among the communicator's collective calls. The duplicate's operations have the
// context of this one (WithContext). Errors are as grave as Barrier's. Non-local.
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

// Free gives up the communicator (MPI_Comm_free, MPI-4.0 §7.4.3). Every rank calls
// it, in the same order among the communicator's collective calls; it waits for
// none of them. Operations under way go on to their ends, and their requests are
// completed as ever; every further call on the communicator, and on those that
// WithContext has made of it, answers ErrComm. Memory of BufferAttach comes back by
// BufferDetach only: call that before. The communicator of all ranks can't be
// freed: its World has it until Finalize. Local.
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
