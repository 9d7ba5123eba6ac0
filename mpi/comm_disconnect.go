package mpi

// Disconnect waits for all communication on the communicator and frees it
// (MPI_Comm_disconnect, MPI-4.0 §11.10.4). Every rank calls it, in the same order
// among the communicator's collective calls, as the last one. A rank waits for what
// is in flight there: requests, of whichever goroutine, messages that Mprobe has
// found, buffered messages; persistent requests at rest do not count. Then it waits
// for all other ranks to have come as far, and frees the communicator as Free does.
// So everything that was sent has to be received, and other goroutines may see to
// that meanwhile. A collective call that has failed before does not matter.
//
// If its context ends, or a rank dies, Disconnect fails and the communicator is freed
// at this rank nevertheless: what is in flight continues, as behind Free. Only where
// a delete function of an attribute fails does the communicator stay. The
// communicator of all ranks, and Self, can't be disconnected. It fails with ErrComm for
// those two and while another goroutine is in it, and with the class of a delete
// function's error, or ErrOther. Non-local.
func (c *Comm) Disconnect() error {
	const call = "Comm.Disconnect"
	switch {
	case c.gone():
		return c.explain(call, 0, 0, false)
	case c.predefined():
		return c.raise(badArg(call, ErrComm, "the communicator of all ranks, and that of this rank alone, can't be disconnected: they end with their World, by Finalize"))
	case !c.st.leaving.CompareAndSwap(false, true):
		return c.raise(badArg(call, ErrComm, "another goroutine disconnects %s", c.called()))
	}
	defer c.st.leaving.Store(false)
	err := c.core.Quiesce(c.ctx)
	if left := c.free(call); left != nil {
		err = joined(left, err)
	}
	return c.fail(call, err)
}
