package comm

// Every call on a communicator loads one flag: whether the communicator is over.
// So the end of an Instance sets the flags of all its communicators.

// Over reports whether the communicator has been freed or its Instance has ended:
// no operation may begin on it. Local.
//
// Comm.over is stored by End and Free, before they return, and loaded by every
// call: a call that begins behind either of them finds it set.
func (c *Comm) Over() bool { return c.over.Load() }

// Ended reports whether End has been called. Local.
func (in *Instance) Ended() bool { return in.ended.Load() }

// End ends all communicators of the rank, also those that are made later, and
// reports whether it is the first call to do so. Operations under way go on.
// Local.
func (in *Instance) End() (first bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended.Swap(true) {
		return false
	}
	for c := range in.live {
		c.over.Store(true)
	}
	clear(in.live)
	return true
}

// add makes c one of the rank's communicators, one that is over if they are.
func (in *Instance) add(c *Comm) *Comm {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended.Load() {
		c.over.Store(true)
	} else {
		in.live[c] = struct{}{}
	}
	return c
}

// Free ends the communicator and reports whether it was not over before.
// Operations under way go on. Local (MPI_Comm_free, MPI-4.0 §7.4.3).
func (c *Comm) Free() (first bool) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	delete(c.in.live, c)
	if c.over.Swap(true) {
		return false
	}
	c.release()
	return true
}
