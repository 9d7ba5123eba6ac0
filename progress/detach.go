package progress

import "context"

// detached is what is left of a request that nobody waits for: fn is called
// with how it has ended.
type detached struct {
	fn   func(Status, error)
	st   Status
	err  error
	next *detached
}

// OnEnd gives the request up: instead of anyone waiting for it, fn is called
// once, on the progress goroutine, when it has ended. The handle becomes null,
// or stays with a persistent request, which is at rest by the time fn is
// called. fn may call anything that does not block; while it runs no other such
// call is made. It is local.
func OnEnd(h *Handle, fn func(Status, error)) (err error) {
	if h.r == nil {
		return ErrStale
	}
	l := h.r.loop
	l.Exclusive(func() {
		was := h.spend()
		switch {
		case was.idle() || !was.valid():
			err = ErrStale
		case was.r.done:
			st, e := was.collect()
			l.call(&detached{fn: fn, st: st, err: e})
		default:
			l.detach(was.r, fn)
		}
	})
	return err
}

// detach makes fn, unless nil, the waiter of a request in flight.
func (l *Loop) detach(r *Request, fn func(Status, error)) {
	w := newWaiter()
	w.single, w.need, w.detached = r, 1, &detached{fn: fn}
	r.waiter = w
	if r.Ctx == nil {
		return
	}
	// Nobody sleeps with an eye on the context.
	id, ctx := r.Handle(), r.Ctx
	w.unwatch = context.AfterFunc(ctx, func() {
		l.Exclusive(func() {
			if r.gen == id.gen && r.waiter == w {
				r.sink.Cancel(r, ended(ctx))
			}
		})
	})
}

// Orphan starts a request that nobody will wait for. hook is called, under
// ownership, when it has ended and before it is freed. For the owner.
func (l *Loop) Orphan(s Sink, r *Request, hook func(*Request, error)) {
	w := newWaiter()
	w.single, w.need, w.detached, w.hook = r, 1, &detached{}, hook
	r.waiter = w
	l.start(s, r)
}

// endDetached takes the result of a detached request that has ended.
func (l *Loop) endDetached(w *Waiter) {
	d := w.detached
	if w.unwatch != nil {
		w.unwatch()
	}
	d.st, d.err = w.result.Status(), w.err
	w.recycle()
	if d.fn != nil {
		l.call(d)
	}
}

// call leaves d to the progress goroutine.
func (l *Loop) call(d *detached) {
	if l.over {
		go d.fn(d.st, d.err)
		return
	}
	if l.calls == nil {
		l.calls = d
		l.dom.Wake()
	} else {
		l.lastCall.next = d
	}
	l.lastCall = d
}

// takeCalls returns the calls to make, for the owner to make once it is not the
// owner any more.
func (l *Loop) takeCalls() *detached {
	d := l.calls
	l.calls, l.lastCall = nil, nil
	return d
}

// make makes the calls, oldest first.
func (d *detached) make() {
	for ; d != nil; d = d.next {
		d.fn(d.st, d.err)
	}
}
