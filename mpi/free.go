package mpi

// Free gives up the communicator (MPI_Comm_free, MPI-4.0 §7.4.3). Every rank
// calls it, in the same order among the communicator's collective calls; it does
// not wait for the others. Its attributes are deleted, the last one first; if a
// delete function fails, so does Free, and the communicator stays. Operations
// under way continue, and their requests are completed as usual. Messages that none
// of them can receive are dropped and logged; a send that waits for such a message
// to be received fails. Every further call on the communicator, and on those that
// WithContext has made of it, fails with ErrComm. Only BufferDetach returns memory
// of BufferAttach: call it before. The communicator of all ranks, and Self, can't be
// freed: they belong to their World until Finalize. Local.
func (c *Comm) Free() error {
	const call = "Comm.Free"
	if c.gone() {
		return c.explain(call, 0, 0, false)
	}
	if c.core == c.w.comm.core || c.core == c.w.self.core {
		return c.raise(badArg(call, ErrComm, "the communicator of all ranks, and that of this rank alone, can't be freed: they end with their World, by Finalize"))
	}
	if err := c.st.clear(c); err != nil {
		return c.fail(call, err)
	}
	if !c.core.Free() {
		return c.explain(call, 0, 0, false)
	}
	c.w.comms.free(c.cid)
	return nil
}
