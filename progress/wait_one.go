package progress

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/procs"
)

// Wait blocks until the request has completed, frees it and sets *h to null. A
// persistent request is brought to rest instead. A null handle, or one at rest,
// is completed at once with an empty status. If the request is in doubt the error is a
// Doubted and *h stays.
func Wait(h *Handle) (Status, error) {
	res, err := WaitResult(h)
	return res.Status(), err
}

// WaitResult is Wait with the short form of the status.
func WaitResult(h *Handle) (Result, error) {
	r := h.r
	if r == nil {
		return nothing, nil
	}
	l := r.loop
	owner := false
	if l.owned.is(heldWord) {
		owner = l.enterFor(*h)
	} else {
		owner = l.Enter()
	}
	if !owner {
		return waitQueued(h)
	}
	was, res, err := h.spend(), nothing, error(nil)
	switch {
	case !was.valid():
		*h, err = Handle{}, was.stale(nil)
	case r == &l.ended:
		l.instants.close(was.gen)
	case r.done:
		res, err = l.collect(r)
	case !r.resting:
		res, err = l.Await(r)
		if _, ok := err.(*Doubted); ok {
			*h = was
		}
		return res, was.blame(err)
	}
	l.Leave()
	return res, was.blame(err)
}

// waitQueued waits where another goroutine owns the loop.
func waitQueued(h *Handle) (Result, error) {
	c := multiple{hs: []Handle{*h}, goal: oneDone}
	c.wait(false)
	*h = c.hs[0]
	return c.res, c.err
}

// Test makes progress and, if the request has completed, does as Wait. Local. A
// null handle, or one at rest, counts as completed.
func Test(h *Handle) (ended bool, st Status, err error) {
	if h.r == nil {
		return true, Empty, nil
	}
	l := h.r.loop
	if !l.Enter() {
		return testQueued(l, h, false)
	}
	ended, st, err = l.test(h, false)
	l.Leave()
	if !ended {
		l.Vain()
	}
	return ended, st, err
}

// testQueued works on a copy, so that the caller's handle stays on its stack.
func testQueued(l *Loop, h *Handle, peek bool) (ended bool, st Status, err error) {
	was := *h
	l.Exclusive(func() { ended, st, err = l.test(&was, peek) })
	*h = was
	return ended, st, err
}

// test makes progress if the request has not completed. It sets a stale handle to null.
func (l *Loop) test(h *Handle, peek bool) (ended bool, _ Status, _ error) {
	idle, r := h.idle(), h.r
	if !idle && !r.done && h.valid() {
		l.PollOnce()
		r.lapse()
		if !r.done && !r.inDoubt() {
			return false, Empty, nil
		}
	}
	ended = idle || r.done && h.valid()
	if peek && ended && !idle {
		return true, r.Result.Status(), r.err
	}
	res, err := h.complete()
	return ended, res.Status(), err
}

// Peek is Test that neither frees the request nor changes the handle.
func Peek(h Handle) (ended bool, st Status, err error) {
	if h.r == nil {
		return true, Empty, nil
	}
	l := h.r.loop
	h.owner = 0 // the error is as the request has it
	if ended, st, err = testQueued(l, &h, true); !ended {
		l.Vain()
	}
	return ended, st, err
}

// Look makes progress once, for a caller that does not wait. For the owner.
func (l *Loop) Look() { l.pass(burst) }

// CatchUp takes what has come meanwhile, before a report of what has not. Local.
func (l *Loop) CatchUp() { l.Exclusive(func() { l.dry() }) }

// Glance calls f as the owner, and once more after making progress if f returns
// false. Local; for calls that check for something without waiting.
func (l *Loop) Glance(f func() bool) {
	found := false
	l.Exclusive(func() {
		if found = f(); !found {
			l.PollOnce()
			found = f()
		}
	})
	if !found {
		l.Vain()
	}
}

// Vain lets other goroutines, or processes, run now and then for a caller that
// looks in a loop, by Test, and finds nothing: one of them may have to complete its operation.
func (l *Loop) Vain() {
	if l.vains.Add(1)%checkDedicated != 0 {
		return
	}
	l.giveWay()
	if l.oversubscribed {
		procs.YieldCore()
	}
}

// PollOnce makes progress for a caller that does not wait. For the owner.
func (l *Loop) PollOnce() {
	if l.bell == fabric.WakeUrgent {
		l.disarm()
	}
	l.pass(burst)
}
