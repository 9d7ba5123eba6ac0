package progress

// detached is what remains of a request without a waiter: fn is called with its
// outcome.
type detached struct {
	fn  func(Status, error) // nil: there is no callback
	st  Status
	err error
}

// nobody is for requests without a callback. It is not written to.
var nobody detached

// OnEnd gives the request up. Instead of a wait, fn is called once, on the
// goroutine of callbacks, when the request has completed. The handle becomes
// null; that of a persistent request stays, and the request is at rest when fn is
// called. No two such calls run at the same time: one that blocks delays those
// after it, and nothing else. fn does not panic. Local.
func OnEnd(h *Handle, fn func(Status, error)) (err error) {
	if h.r == nil {
		return errNull
	}
	l := h.r.loop
	l.Exclusive(func() {
		was := h.spend()
		switch {
		case was.idle() || !was.valid():
			err = was.stale(nil)
		case was.r.done:
			res, e := was.collect()
			l.call(&detached{fn: fn, st: res.Status(), err: e})
		default:
			l.detach(was.r, fn)
		}
	})
	return err
}

// detach makes fn, unless nil, the waiter of a request in flight.
func (l *Loop) detach(r *Request, fn func(Status, error)) {
	w := newWaiter()
	w.single, w.need, w.detached = r, 1, &nobody
	if fn != nil {
		w.detached = &detached{fn: fn}
		l.detachments++
		l.Rouse() // to be woken for this request's message too
	}
	r.waiter = w
	if !r.Until.Never() {
		g, stop := guard{r.Until, w, []Handle{r.Handle()}}, make(chan func(), 1)
		w.unwatch = func() { (<-stop)() }
		go func() { stop <- g.set(l) }() // it calls the context's methods
	}
}

// Orphan starts a request without a waiter. hook is called under ownership when
// it has completed, before it is freed; for what takes it further, see Step. For
// the owner.
func (l *Loop) Orphan(s Sink, r *Request, hook func(*Request, error)) {
	l.orphan(r, hook)
	l.Begin(s, r)
}

// Step is Orphan for a part of a longer operation, such as a message of a
// nonblocking collective call: hook takes the operation further, for which other
// ranks may wait. So the progress thread is woken for it, and the operation goes
// on while the program makes no call (MPI-4.0 §3.7.4, §6.12). For the owner.
func (l *Loop) Step(s Sink, r *Request, hook func(*Request, error)) {
	w := l.orphan(r, hook)
	w.step = true
	l.steps++
	l.Begin(s, r)
	if r.waiter == w {
		l.Rouse() // it may sleep until the doorbell rings for something urgent
	}
}

// StepOn makes a request that has begun, and has no waiter, a Step. For the owner.
func (l *Loop) StepOn(r *Request, hook func(*Request, error)) {
	if r.done {
		hook(r, r.err)
		l.requests.free(r)
		return
	}
	l.orphan(r, hook).step = true
	l.steps++
	l.Rouse()
}

func (l *Loop) orphan(r *Request, hook func(*Request, error)) *Waiter {
	w := newWaiter()
	w.single, w.need, w.detached, w.hook = r, 1, &nobody, hook
	r.waiter = w
	return w
}

// endDetached takes the result of a detached request that has completed.
func (l *Loop) endDetached(w *Waiter) {
	if w.unwatch != nil {
		go w.unwatch() // it calls the context's methods
	}
	if d := w.detached; d != &nobody {
		d.st, d.err = w.result.Status(), w.err
		l.detachments--
		l.call(d)
	}
	w.recycle()
}
