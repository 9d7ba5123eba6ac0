package comm

// Every call on a communicator loads one flag: whether the communicator is over.
// So the end of an Instance sets the flags of all its communicators.

// Over reports whether the communicator has been freed or revoked or its Instance has
// ended: no operation may begin on it. Local.
//
// Comm.over is stored by End, Free and Revoke, before they return, and loaded by every
// call: a call that begins behind one of them finds it set.
func (c *Comm) Over() bool { return c.over.Load() }

// Gone reports whether the communicator has been freed or its Instance has ended. It is
// stored before over. Local.
func (c *Comm) Gone() bool { return c.ended.Load() }

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
		c.ended.Store(true)
		c.over.Store(true)
		in.retire(c)
	}
	return true
}

// add makes c one of the rank's communicators, one that is over if they are.
func (in *Instance) add(c *Comm) *Comm {
	in.Loop.Exclusive(func() { in.addOwned(c) })
	return c
}

// addOwned is add for the owner.
func (in *Instance) addOwned(c *Comm) *Comm {
	c.check = in.check
	c.compares = in.check || in.P2P.Header() > 0
	in.mu.Lock()
	news, told := in.early[c.ID]
	delete(in.early, c.ID)
	if in.ended.Load() {
		c.ended.Store(true)
		c.over.Store(true)
	} else {
		in.live[c] = struct{}{}
	}
	in.mu.Unlock()
	if told {
		c.breakFrom(news.seq, news.err)
	}
	in.meetFailures(c)
	return c
}

// Free ends the communicator and reports whether it was not over before.
// Operations under way go on. Messages that nothing can receive any more are
// dropped, see pt2pt.Engine.Close. Local (MPI_Comm_free, MPI-4.0 §7.4.3).
func (c *Comm) Free() (first bool) {
	if c.end() {
		return false
	}
	c.giveFlags(c.Broken() == nil)
	c.in.Loop.Exclusive(c.free)
	return true
}

// free is the rest of Free, for the owner.
func (c *Comm) free() {
	c.in.restFailures(c) // before Close, which refuses messages
	if c.Broken() != nil {
		c.P2P.CallsFailed(c.ID)
	}
	c.P2P.Close(c.ID)
	c.P2P.Unpend(c.ID)
	c.freed = true
	c.forget()
}

// end makes the communicator over and reports whether it was before.
func (c *Comm) end() (was bool) {
	c.in.mu.Lock()
	defer c.in.mu.Unlock()
	c.in.retire(c)
	was = c.ended.Swap(true)
	c.over.Store(true)
	return was
}

// hold keeps the communicator's context for a nonblocking collective call, which may
// go on after Free, and returns why the call can't go well, or nil. That of a persistent
// one is kept from its Init on. For the owner.
func (c *Comm) hold(x *schedule) error {
	if c.calls++; !x.kept {
		c.keep()
	}
	if c.stops(x) {
		return c.Broken()
	}
	return nil
}

// release undoes hold. For the owner.
func (c *Comm) release(x *schedule) {
	if c.calls--; !x.kept {
		c.unkeep()
	}
}

// keep keeps the communicator's context for a call, until unkeep. For the owner.
func (c *Comm) keep() {
	c.P2P.Hold(c.ID)
	if c.keeps++; c.keeps == 1 {
		c.in.running[c.ID] = c
	}
}

func (c *Comm) unkeep() {
	if c.keeps--; c.keeps == 0 {
		delete(c.in.running, c.ID)
	}
	c.P2P.Release(c.ID)
	c.forget()
}

// stops reports whether a failure has ended the call, as it does every persistent one. For
// the owner.
func (c *Comm) stops(x *schedule) bool {
	return c.Broken() != nil && (x.kept || !c.sparesOwned(x.seq))
}

// forget drops what an abort has left of a communicator that nothing uses any more.
// For the owner.
func (c *Comm) forget() {
	if c.freed && c.keeps == 0 {
		c.P2P.Allow(c.Library())
		if c.isRevoked.Load() {
			c.P2P.Allow(c.ID)
		}
	}
}
