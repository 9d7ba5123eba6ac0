package progress

import (
	"errors"
	"runtime"

	"github.com/weft-mpi/weft/fabric"
)

// Errors of the calls that complete requests.
var (
	// ErrStale answers a handle whose request has been waited for already, or
	// that another goroutine waits for.
	ErrStale = errors.New("progress: the request has been completed and freed, or another goroutine waits for it")
	// ErrMixed answers a call with requests of more than one rank.
	ErrMixed = errors.New("progress: the requests belong to different worlds")
)

// valid reports whether the handle may be completed by the caller.
func (h Handle) valid() bool {
	if h.r.gen == instant {
		return h.r.loop.instants.open(h.gen)
	}
	return h.r.gen == h.gen && h.r.waiter == nil
}

// collect ends the handle of a request that has ended and is valid.
func (h Handle) collect() (Status, error) {
	l := h.r.loop
	if h.r.gen == instant {
		l.instants.close(h.gen)
		return Empty, nil
	}
	res, err := l.collect(h.r)
	return res.Status(), err
}

// Wait blocks until the request has ended, frees it and sets *h to null. A
// null handle is answered at once with an empty status.
func Wait(h *Handle) (Status, error) {
	r := h.r
	if r == nil {
		return Empty, nil
	}
	l := r.loop
	if !l.Enter() {
		return waitQueued(l, h)
	}
	ended := *h
	*h = Handle{}
	if !ended.valid() {
		l.Leave()
		return Empty, ErrStale
	}
	if r.done {
		st, err := ended.collect()
		l.Leave()
		return st, err
	}
	res, err := l.Await(r)
	return res.Status(), err
}

// waitQueued waits where somebody else owns the loop.
func waitQueued(l *Loop, h *Handle) (Status, error) {
	hs, st := [1]Handle{*h}, [1]Status{Empty}
	*h = Handle{}
	err := waitAllQueued(l, hs[:], st[:])
	if err == nil {
		err = st[0].Err
	}
	st[0].Err = nil
	return st[0], err
}

// Test moves the loop on and, if the request has ended, frees it and sets *h
// to null. It is local. A null handle counts as ended.
func Test(h *Handle) (ended bool, st Status, err error) {
	if h.r == nil {
		return true, Empty, nil
	}
	l := h.r.loop
	if !l.Enter() {
		return testQueued(l, h)
	}
	ended, st, err = l.test(h)
	l.Leave()
	if !ended {
		l.vain()
	}
	return ended, st, err
}

func testQueued(l *Loop, h *Handle) (ended bool, st Status, err error) {
	l.exclusive(func() { ended, st, err = l.test(h) })
	return ended, st, err
}

func (l *Loop) test(h *Handle) (bool, Status, error) {
	r := h.r
	if !h.valid() {
		*h = Handle{}
		return false, Empty, ErrStale
	}
	if !r.done {
		l.glance()
	}
	if !r.done && r.Ctx != nil && r.Ctx.Err() != nil {
		r.sink.Cancel(r, ended(r.Ctx))
	}
	if !r.done {
		return false, Empty, nil
	}
	ended := *h
	*h = Handle{}
	st, err := ended.collect()
	return true, st, err
}

// vain lets other goroutines, or processes, run now and then under one that
// calls Test in a loop: what it waits for may be theirs to do.
func (l *Loop) vain() {
	if l.vains.Add(1)%lookDedicated != 0 {
		return
	}
	runtime.Gosched()
	if l.oversubscribed {
		yieldCore()
	}
}

// glance polls once on behalf of a caller that does not wait.
func (l *Loop) glance() {
	if l.armed == fabric.WakeUrgent {
		l.disarm()
	}
	l.pass(burst)
}

// WaitAll blocks until all requests have ended, frees them and sets the
// handles to null. out, unless nil, is as long as hs and receives every status
// with its error; the result is only about the call itself. Where out is nil
// the result is the first error of a request.
func WaitAll(hs []Handle, out []Status) error {
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
	w := l.waiter()
	if err = l.enlist(w, hs, false); err == nil {
		if w.need > 0 && !l.await(w) {
			w.recycle()
			return collectQueued(l, hs, out)
		}
		err = l.collectAll(hs, out)
	}
	l.release(w)
	l.Leave()
	return err
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
	l.exclusive(func() { err = l.collectAll(hs, out) })
	return err
}

// enlistQueued makes the caller, who is not the owner, wait for the requests.
func (l *Loop) enlistQueued(hs []Handle, some bool) (*Waiter, error) {
	w := newWaiter()
	var err error
	sleeps := false
	l.exclusive(func() {
		if err = l.enlist(w, hs, some); err == nil && w.need > 0 {
			sleeps = true
			l.parked.add(w)
		}
	})
	if sleeps && l.sleep(w) {
		l.Leave()
	}
	return w, err
}

func (l *Loop) collectAll(hs []Handle, out []Status) error {
	if out == nil {
		return l.endAll(hs)
	}
	for i, h := range hs {
		hs[i] = Handle{}
		out[i] = Empty
		switch {
		case h.r == nil:
		case !h.valid():
			out[i].Err = ErrStale
		default:
			st, err := h.collect()
			out[i] = st
			out[i].Err = err
		}
	}
	return nil
}

// endAll is collectAll for a caller who wants no statuses.
func (l *Loop) endAll(hs []Handle) error {
	var first error
	for i, h := range hs {
		if h.r == nil {
			continue
		}
		hs[i] = Handle{}
		var err error
		switch {
		case !h.valid():
			err = ErrStale
		case h.r.gen == instant:
			l.instants.close(h.gen)
		default:
			err = h.r.err
			l.requests.free(h.r)
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}

// WaitAny blocks until one request has ended, frees it, sets its handle to
// null and returns its index, or -1 if all are null.
func WaitAny(hs []Handle) (int, Status, error) {
	l, err := loopOf(hs)
	if err != nil || l == nil {
		return -1, Empty, err
	}
	if !l.Enter() {
		return waitAnyQueued(l, hs)
	}
	w := l.waiter()
	if err = l.enlist(w, hs, true); err != nil {
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
	l.exclusive(func() { i, st, err = l.collectAny(hs) })
	return i, st, err
}

func (l *Loop) collectAny(hs []Handle) (int, Status, error) {
	for i := range hs {
		if h := hs[i]; h.r != nil && h.r.done && h.valid() {
			hs[i] = Handle{}
			st, err := h.collect()
			return i, st, err
		}
	}
	return -1, Empty, ErrStale
}

// TestAll moves the loop on and, if all requests have ended, does as WaitAll.
// It is local.
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
	l.exclusive(func() { ended, err = l.testAll(hs, out) })
	return ended, err
}

func (l *Loop) testAll(hs []Handle, out []Status) (bool, error) {
	all := true
	for i := 0; i < 2; i++ {
		all = true
		for _, h := range hs {
			if h.r == nil {
				continue
			}
			if !h.valid() {
				return false, ErrStale
			}
			all = all && h.r.done
		}
		if all {
			return true, l.collectAll(hs, out)
		}
		if i == 0 {
			l.glance()
		}
	}
	return false, nil
}

// loopOf is the loop of the requests, or nil if all handles are null.
func loopOf(hs []Handle) (*Loop, error) {
	var l *Loop
	for _, h := range hs {
		if h.r == nil {
			continue
		}
		if l != nil && h.r.loop != l {
			return nil, ErrMixed
		}
		l = h.r.loop
	}
	return l, nil
}

// enlist makes w the waiter of the requests that have not ended: w.need of
// them have to.
func (l *Loop) enlist(w *Waiter, hs []Handle, some bool) error {
	ended := 0
	var err error
	for _, h := range hs {
		r := h.r
		if r == nil {
			continue
		}
		if !h.valid() {
			err = ErrStale
			break
		}
		if r.done {
			ended++
			continue
		}
		r.waiter = w
		w.reqs = append(w.reqs, r)
		if r.Ctx != nil {
			w.watch(r)
		}
	}
	w.need = len(w.reqs)
	if some {
		w.need = min(1, w.need)
	}
	if err != nil || some && ended > 0 {
		w.need = 0
		for _, r := range w.reqs {
			r.waiter = nil
		}
	}
	return err
}
