package progress

// WaitAny blocks until one request has completed, treats it as Wait does and
// returns its index, or -1 if all are null or at rest. If none has completed, one that is
// in doubt ends the wait with a Doubted.
func WaitAny(hs []Handle) (int, Status, error) {
	for {
		if i, st, err := waitAny(hs); err != errUnsettled {
			return i, st, err
		}
	}
}

func waitAny(hs []Handle) (int, Status, error) {
	l, err := loopOf(hs)
	if err != nil || l == nil {
		return -1, Empty, err
	}
	if !l.Enter() {
		return waitAnyQueued(l, hs)
	}
	w := l.waiter()
	if err = l.begun(w, hs, true); err != nil {
		l.release(w)
		l.Leave()
		return -1, Empty, err
	}
	if w.need > 0 && !l.await(w) {
		w.recycle()
		return collectAnyQueued(l, hs)
	}
	i, st, err := l.collectAny(hs)
	l.release(w)
	l.Leave()
	return i, st, err
}

func waitAnyQueued(l *Loop, hs []Handle) (int, Status, error) {
	w, err := l.enlistQueued(hs, true)
	w.recycle()
	if err != nil {
		return -1, Empty, err
	}
	return collectAnyQueued(l, hs)
}

func collectAnyQueued(l *Loop, hs []Handle) (i int, st Status, err error) {
	l.Exclusive(func() { i, st, err = l.collectAny(hs) })
	return i, st, err
}

// collectAny collects the first request that has completed.
func (l *Loop) collectAny(hs []Handle) (int, Status, error) {
	active := false
	for i := range hs {
		h := hs[i]
		if h.idle() {
			continue
		}
		active = true
		if h.r.done && h.valid() {
			hs[i].spend()
			st, err := h.collect()
			return i, st, err
		}
	}
	for i, h := range hs {
		if l.doubted && !h.idle() && h.valid() && h.r.inDoubt() {
			return i, Empty, h.blame(h.r.err)
		}
	}
	switch {
	case l.unsettled(hs):
		return -1, Empty, errUnsettled
	case active:
		return -1, Empty, ErrStale
	}
	return -1, Empty, nil
}

// TestAny makes progress and, if a request has completed, does as WaitAny. If
// all are null or at rest it returns true and -1. Local.
func TestAny(hs []Handle) (ended bool, i int, st Status, err error) {
	l, err := loopOf(hs)
	if err != nil || l == nil {
		return err == nil, -1, Empty, err
	}
	if !l.Enter() {
		return testAnyQueued(l, hs)
	}
	ended, i, st, err = l.testAny(hs)
	l.Leave()
	if !ended {
		l.vain()
	}
	return ended, i, st, err
}

func testAnyQueued(l *Loop, hs []Handle) (ended bool, i int, st Status, err error) {
	l.Exclusive(func() { ended, i, st, err = l.testAny(hs) })
	return ended, i, st, err
}

func (l *Loop) testAny(hs []Handle) (bool, int, Status, error) {
	ended, active, err := l.lookAny(hs)
	if err != nil || active && ended == 0 {
		return false, -1, Empty, err
	}
	i, st, err := l.collectAny(hs)
	return true, i, st, err
}

// lookAny makes progress unless some request has completed or is in doubt, and counts
// those. It reports whether any request is active at all.
func (l *Loop) lookAny(hs []Handle) (ended int, active bool, err error) {
	for try := range 2 {
		active = false
		for _, h := range hs {
			if h.idle() {
				continue
			}
			if !h.valid() {
				return 0, true, ErrStale
			}
			active = true
			if h.r.lapse(); h.r.done || h.r.inDoubt() {
				ended++
			}
		}
		if ended > 0 || !active {
			break
		}
		if try == 0 {
			l.glance()
		}
	}
	return ended, active, nil
}

// WaitSome blocks until at least one request has completed and treats all that
// have as Wait does. It returns their number, with their indices in indices and
// their statuses and errors in out, both as long as hs; -1 if all are null or at
// rest. Requests in doubt count as failed, and their handles stay.
func WaitSome(hs []Handle, indices []int, out []Status) (int, error) {
	for {
		if n, err := waitSome(hs, indices, out); err != errUnsettled {
			return n, err
		}
	}
}

func waitSome(hs []Handle, indices []int, out []Status) (int, error) {
	l, err := loopOf(hs)
	if err != nil || l == nil {
		return -1, err
	}
	w, err := l.enlistAny(hs)
	if err != nil {
		return -1, err
	}
	w.recycle()
	n := 0
	l.Exclusive(func() { n, err = l.collectSome(hs, indices, out) })
	return n, err
}

// enlistAny waits for one of the requests, as the owner or not.
func (l *Loop) enlistAny(hs []Handle) (*Waiter, error) {
	if !l.Enter() {
		return l.enlistQueued(hs, true)
	}
	w := newWaiter()
	err := l.begun(w, hs, true)
	if err != nil || w.need == 0 || l.await(w) {
		l.Leave()
	}
	return w, err
}

// TestSome makes progress and does as WaitSome with the requests that have
// completed; it returns 0 if there are none. Local.
func TestSome(hs []Handle, indices []int, out []Status) (n int, err error) {
	l, err := loopOf(hs)
	if err != nil || l == nil {
		return -1, err
	}
	l.Exclusive(func() {
		ended, active, e := l.lookAny(hs)
		switch {
		case e != nil:
			err = e
		case !active:
			n = -1
		case ended > 0:
			n, err = l.collectSome(hs, indices, out)
		}
	})
	if n == 0 {
		l.vain()
	}
	return n, err
}

func (l *Loop) collectSome(hs []Handle, indices []int, out []Status) (n int, err error) {
	active := false
	for i := range hs {
		h := hs[i]
		if h.idle() {
			continue
		}
		active = true
		if h.valid() && h.r.inDoubt() {
			indices[n], out[n] = i, Empty
			out[n].Err = h.blame(h.r.err)
			n++
			continue
		}
		if !h.r.done || !h.valid() {
			continue
		}
		hs[i].spend()
		st, err := h.collect()
		indices[n] = i
		out[n] = st
		out[n].Err = err
		n++
	}
	if !active {
		return -1, nil
	}
	switch {
	case n > 0:
		return n, nil
	case l.unsettled(hs):
		return 0, errUnsettled
	}
	return 0, ErrStale
}
