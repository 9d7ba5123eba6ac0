package progress

import "runtime/trace"

// WaitAll blocks until all requests have completed and treats each as Wait does.
// out, unless nil, is as long as hs and receives every status with its error;
// the result is then only about the call itself. If out is nil the result is the
// first error of a request. A stale handle is a request's error if all others
// have completed; otherwise it is the call's, which waits for nothing. A request in doubt
// fails with a Doubted, and its handle stays.
func WaitAll(hs []Handle, out []Status) error {
	for {
		if err := waitAll(hs, out); err != errUnsettled {
			return err
		}
	}
}

func waitAll(hs []Handle, out []Status) error {
	l, err := loopOf(hs)
	if err != nil {
		return err
	}
	if l == nil {
		for i := range out {
			out[i] = Empty
		}
		return nil
	}
	if !l.Enter() {
		return waitAllQueued(l, hs, out)
	}
	if l.sweep(hs) {
		err = l.collectAll(hs, out)
		l.Leave()
		return err
	}
	w := l.waiter()
	if err = l.begun(w, hs, false); err == nil {
		if w.need > 0 && !l.await(w) {
			w.recycle()
			return collectQueued(l, hs, out)
		}
		err = l.collectSettled(hs, out)
	}
	l.release(w)
	l.Leave()
	return err
}

// brisk prepares for a wait that spins. It returns false if a waiter polls.
func (l *Loop) brisk() bool {
	if l.poller != nil {
		return false
	}
	if l.bell != bellOff || l.thread == asleep {
		l.disarm()
	}
	return true
}

// sweep spins as long as its passes complete one request after another, and
// reports whether all have completed. No state is recorded for the wait, which
// pays where messages come in bursts.
func (l *Loop) sweep(hs []Handle) bool {
	if l.oversubscribed || !l.brisk() {
		return false
	}
	if l.rec != nil {
		l.rec.sweeps(hs)
	}
	for i, idle, passes := 0, 0, 0; ; passes++ {
		for i < len(hs) && (hs[i].r == nil || hs[i].r.done || hs[i].r.resting) {
			i++
		}
		if i == len(hs) {
			if l.rec != nil {
				l.rec.swept(passes > 0)
			}
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

func waitAllQueued(l *Loop, hs []Handle, out []Status) error {
	w, err := l.enlistQueued(hs, false)
	defer w.recycle()
	if err != nil {
		return err
	}
	return collectQueued(l, hs, out)
}

func collectQueued(l *Loop, hs []Handle, out []Status) (err error) {
	l.Exclusive(func() { err = l.collectSettled(hs, out) })
	return err
}

// collectSettled is collectAll, unless a request must still be waited for.
func (l *Loop) collectSettled(hs []Handle, out []Status) error {
	if l.unsettled(hs) {
		return errUnsettled
	}
	return l.collectAll(hs, out)
}

// enlistQueued makes the caller, who is not the owner, wait for the requests.
func (l *Loop) enlistQueued(hs []Handle, some bool) (*Waiter, error) {
	w := newWaiter()
	var err error
	sleeps := false
	l.Exclusive(func() {
		if err = l.begun(w, hs, some); err == nil && w.need > 0 {
			sleeps = true
			l.park(w)
		}
	})
	if sleeps && l.sleep(w) {
		l.Leave()
	}
	return w, err
}

// begun makes w the waiter of the requests (enlist).
func (l *Loop) begun(w *Waiter, hs []Handle, some bool) error {
	if l.doubted {
		l.glance() // a wait that a doubt ends makes progress too
	}
	err := l.enlist(w, hs, some)
	if w.need > 0 && (l.rec != nil || trace.IsEnabled()) {
		l.beginTrace(w, nil, hs, l.rec.since())
	}
	return err
}

func (l *Loop) collectAll(hs []Handle, out []Status) error {
	if out == nil {
		return l.endAll(hs)
	}
	for i := range hs {
		out[i] = Empty
		if hs[i].idle() {
			continue
		}
		if h := hs[i]; h.valid() && h.r.inDoubt() {
			out[i].Err = h.blame(h.r.err)
			continue
		}
		h := hs[i].spend()
		if !h.valid() {
			hs[i], out[i].Err = Handle{}, h.blame(ErrStale)
			continue
		}
		st, err := h.collect()
		out[i] = st
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
		r := h.r
		var err error
		switch {
		case r == &l.ended:
			hs[i] = Handle{}
			if l.instants.close(h.gen) {
				continue
			}
			err = ErrStale
		case r != nil && r.gen == h.gen && r.waiter == nil && !r.special && r.err == nil:
			hs[i] = Handle{}
			l.requests.free(r)
			continue
		case h.idle():
			continue
		case !h.valid():
			hs[i], err = Handle{}, ErrStale
		case r.inDoubt():
			err = r.err
		default:
			hs[i].spend()
			_, err = l.collect(r)
		}
		switch g, ok := err.(*General); {
		case err == nil || err == ErrCancelled:
		case ok:
			generals = append(generals, g)
		case first == nil:
			first = h.blame(err)
		}
	}
	if generals != nil {
		return &Several{generals, first}
	}
	return first
}

// TestAll makes progress and, if all requests have completed, does as WaitAll.
// Local.
func TestAll(hs []Handle, out []Status) (ended bool, err error) {
	l, err := loopOf(hs)
	if err != nil {
		return false, err
	}
	if l == nil {
		return true, WaitAll(hs, out)
	}
	if !l.Enter() {
		return testAllQueued(l, hs, out)
	}
	ended, err = l.testAll(hs, out)
	l.Leave()
	if !ended {
		l.vain()
	}
	return ended, err
}

func testAllQueued(l *Loop, hs []Handle, out []Status) (ended bool, err error) {
	l.Exclusive(func() { ended, err = l.testAll(hs, out) })
	return ended, err
}

func (l *Loop) testAll(hs []Handle, out []Status) (bool, error) {
	for i := 0; i < 2; i++ {
		all, stale := true, false
		for _, h := range hs {
			switch {
			case h.idle():
			case !h.valid():
				stale = true
			default:
				h.r.lapse()
				all = all && (h.r.done || h.r.inDoubt())
			}
		}
		if all {
			return true, l.collectAll(hs, out)
		}
		if stale {
			return false, ErrStale
		}
		if i == 0 {
			l.glance()
		}
	}
	return false, nil
}
