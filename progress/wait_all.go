package progress

// multiple is a call that completes several requests (MPI-4.0 §3.7.5), and what it
// returns.
type multiple struct {
	hs      []Handle
	goal    goal
	indices []int
	out     []Status

	n   int // the index of the request, or how many; -1 if all are null or at rest
	res Result
	err error
}

// goal is how many requests a call completes.
type goal uint8

const (
	allDone  goal = iota
	oneDone       // the only one
	anyDone       // one that has completed
	someDone      // those that have completed, at least one
)

// WaitAll blocks until all requests have completed and treats each as Wait does.
// out, unless nil, is as long as hs and receives every status with its error;
// the result is then only about the call itself. If out is nil the result is the
// first error of a request. A stale handle is a request's error if all others
// have completed; otherwise it is the call's, which waits for nothing. A request in doubt
// fails with a Doubted, and its handle stays.
func WaitAll(hs []Handle, out []Status) error {
	l, _ := loopOf(hs)
	owner := l != nil && l.Enter()
	if owner && l.sweep(hs) {
		err := l.collectAll(hs, out)
		l.Leave()
		return err
	}
	c := multiple{hs: hs, goal: allDone, out: out}
	c.wait(owner)
	return c.err
}

// TestAll makes progress and, if all requests have completed, does as WaitAll.
// Local.
func TestAll(hs []Handle, out []Status) (ended bool, err error) {
	c := multiple{hs: hs, goal: allDone, out: out}
	ended = c.test()
	return ended, c.err
}

// loop is the loop of the requests. It is nil if there is none, and the call is over.
func (c *multiple) loop() (l *Loop) {
	c.n, c.res = -1, nothing
	if l, c.err = loopOf(c.hs); l == nil && c.err == nil {
		c.collect(nil)
	}
	return l
}

// wait waits for the requests and collects them. owner says that the caller owns the
// loop, which wait lets go of. It looks again after each sleep: a doubt that has ended it
// may be over.
func (c *multiple) wait(owner bool) {
	l := c.loop()
	for over := l == nil; !over; {
		w := newWaiter()
		if owner = owner || l.Enter(); owner {
			if over = c.enlist(l, w); !over {
				owner = l.await(w)
			}
		} else if *c, over = c.queued(l, w); !over {
			owner = l.sleep(w)
		}
		w.recycle()
	}
	if owner {
		l.Leave()
	}
}

// enlist makes w the waiter of the requests, unless there is nothing to wait for: then
// the call is over. For the owner.
func (c *multiple) enlist(l *Loop, w *Waiter) (over bool) {
	if l.doubted {
		l.PollOnce() // a wait that a doubt ends makes progress too
	}
	if c.settle(l, w) || c.err != nil {
		for _, r := range w.reqs {
			r.waiter = nil
		}
		return true
	}
	if w.need = 1; c.goal == allDone {
		w.need = len(w.reqs)
	}
	l.trace(w, nil)
	return false
}

// test makes progress and, if the requests have completed, collects them.
func (c *multiple) test() (ended bool) {
	l := c.loop()
	if l == nil {
		return c.err == nil
	}
	if l.Enter() {
		ended = c.look(l)
		l.Leave()
	} else {
		*c, ended = c.queued(l, nil)
	}
	if !ended {
		l.Vain()
	}
	return ended
}

// look is test for the owner.
func (c *multiple) look(l *Loop) (ended bool) {
	if ended = c.settle(l, nil); !ended && c.err == nil {
		l.PollOnce()
		ended = c.settle(l, nil)
	}
	return ended
}

// queued is look for a caller who does not own the loop, or, with a waiter, enlist, which
// is parked then. c is a copy, since it moves to the heap.
func (c multiple) queued(l *Loop, w *Waiter) (_ multiple, over bool) {
	l.Exclusive(func() {
		if w == nil {
			over = c.look(l)
		} else if over = c.enlist(l, w); !over {
			l.park(w)
		}
	})
	return c, over
}

// settle completes the requests if enough of them are over, and returns true. A stale
// handle is the call's error, but for one among requests that are all over, whose error
// it is. w, unless nil, becomes the waiter of those that are not over; without one, such
// as are past their contexts are withdrawn. For the owner.
func (c *multiple) settle(l *Loop, w *Waiter) bool {
	some, over, open := c.goal >= anyDone, false, false
	var stale error
	for i, h := range c.hs {
		if h.idle() {
			continue
		}
		if !h.valid() {
			if stale == nil {
				stale = &IndexError{i, h.stale(w)}
			}
			continue
		}
		r := h.r
		if w == nil {
			r.lapse()
		}
		if r.done || r.inDoubt() {
			over = true
			continue
		}
		if open = true; w != nil {
			r.waiter = w
			w.reqs = append(w.reqs, r)
			w.guard(r)
		}
	}
	c.err = nil
	switch {
	case stale != nil && (some || open):
		c.err = stale
		return false
	case open && !(some && over):
		return false
	}
	c.collect(l)
	return true
}

// collect completes the requests, as many as are to be and can be. For the owner.
func (c *multiple) collect(l *Loop) {
	switch c.goal {
	case allDone:
		c.err = l.collectAll(c.hs, c.out)
	case oneDone:
		c.res, c.err = c.hs[0].complete()
	case anyDone:
		c.n, c.res, c.err = collectAny(c.hs)
	case someDone:
		c.n = collectSome(c.hs, c.indices, c.out)
	}
}

// collectAll completes all requests. For the owner.
func (l *Loop) collectAll(hs []Handle, out []Status) error {
	if out == nil {
		return l.endAll(hs)
	}
	for i := range hs {
		res, err := hs[i].complete()
		out[i] = res.Status()
		out[i].Err = err
	}
	return nil
}

// endAll is collectAll without statuses.
func (l *Loop) endAll(hs []Handle) error {
	var first error
	var generals []*General
	for i := range hs {
		h := hs[i]
		switch r := h.r; {
		case r == nil:
			continue
		case r == &l.ended:
			if l.instants.close(h.gen) {
				hs[i] = Handle{}
				continue
			}
		case r.gen == h.gen && r.waiter == nil && !r.special && r.err == nil:
			hs[i] = Handle{}
			l.requests.free(r)
			continue
		}
		_, err := hs[i].complete()
		switch g, ok := err.(*General); {
		case ok:
			generals = append(generals, g)
		case err != nil && first == nil && err != ErrCancelled:
			first = &IndexError{i, err}
		}
	}
	if generals != nil {
		return &Several{generals, first}
	}
	return first
}

// brisk prepares for a wait that spins. It returns false if a waiter polls.
func (l *Loop) brisk() bool {
	if l.poller != nil {
		return false
	}
	if l.bell != bellOff || l.timeout == untilBell {
		l.disarm()
	}
	return true
}

// sweep spins as long as its passes complete one request after another, and
// reports whether all have completed. No state is recorded for the wait, which
// pays where messages come in bursts.
func (l *Loop) sweep(hs []Handle) bool {
	if l.oversubscribed || l.rec != nil || !l.brisk() {
		return false
	}
	for i, idle, passes := 0, 0, 0; ; passes++ {
		for i < len(hs) && (hs[i].r == nil || hs[i].r.done || hs[i].r.resting) {
			i++
		}
		if i == len(hs) {
			return true
		}
		if idle == checkDedicated || passes == maxSweep || l.woke || !hs[i].valid() {
			return false
		}
		if l.pass(min(len(hs)-i, burst)) > 0 {
			idle = 0
		} else {
			idle++
		}
	}
}
