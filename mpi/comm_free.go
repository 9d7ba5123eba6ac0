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
	if c.lost() {
		return c.explain(call, 0, 0, false)
	}
	if c.predefined() {
		return c.raise(badArg(call, ErrComm, "the communicator of all ranks, and that of this rank alone, can't be freed: they end with their World, by Finalize"))
	}
	return c.fail(call, c.free(call))
}

// free is Free for a communicator that can be freed; its error is not raised.
func (c *Comm) free(call string) error {
	if err := c.st.attrs.clear(c); err != nil {
		return attrError(call, ErrComm, err)
	}
	if !c.core.Free() {
		return c.wrong(call, 0, 0, false)
	}
	c.w.comms.free(c.cid)
	return nil
}

// predefined reports whether the communicator is one that its World has from the
// beginning.
func (c *Comm) predefined() bool { return c.core == c.w.comm.core || c.core == c.w.self.core }
