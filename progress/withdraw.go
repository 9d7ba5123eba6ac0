package progress

import "github.com/weft-mpi/weft/internal/expiry"

// lapse withdraws a request whose context is done, if it still can be.
func (r *Request) lapse() {
	if !r.done && r.Until.Over() {
		r.sink.Cancel(r, r.Until.Err())
	}
}

// guard is a context that ends the waits of a Waiter for some requests.
type guard struct {
	until expiry.Expiry
	w     *Waiter
	hs    []Handle
}

// guard adds a request's context to those that end the wait. For the goroutine that
// waits, or its owner.
func (w *Waiter) guard(r *Request) {
	if r.Until.Never() {
		return
	}
	if n := len(w.guards); n == 0 || !w.guards[n-1].until.Same(r.Until) {
		w.guards = append(w.guards, guard{until: r.Until, w: w})
	}
	g := &w.guards[len(w.guards)-1]
	g.hs = append(g.hs, r.Handle())
}

// expire withdraws those of the requests that the waiter still waits for, if they still
// can be: the context is done. Waiter and requests may have another use by now. For the
// owner.
func (g guard) expire() {
	for _, h := range g.hs {
		if h.r.gen == h.gen && h.r.waiter == g.w {
			h.r.sink.Cancel(h.r, g.until.Err())
		}
	}
}

// set begins to watch the context. Not for the owner.
func (g guard) set(l *Loop) (stop func()) {
	if g.until.Over() {
		l.Exclusive(g.expire)
		return func() {}
	}
	return g.until.AfterFunc(func() { l.Exclusive(g.expire) })
}

// guarded calls wait, of a waiter with contexts, while these are watched. Neither is
// the caller the owner, nor is it afterwards.
func (l *Loop) guarded(w *Waiter, wait func(*Waiter) (owner bool)) {
	guards := w.guards
	w.guards = nil
	for _, g := range guards {
		defer g.set(l)()
	}
	if wait(w) {
		l.Leave()
	}
}
