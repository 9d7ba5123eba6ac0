package progress

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Expiry is a user's context in the form an owner may use. None of the context's
// methods is called under ownership: they are the user's code, which may panic,
// block or call the engine.
type Expiry struct {
	ctx  context.Context
	done <-chan struct{} // nil for never
}

// Expires reads the channel of a context, or of none if ctx is nil. Not for the
// owner.
func Expires(ctx context.Context) (e Expiry) {
	if ctx != nil {
		e.ctx, e.done = ctx, ctx.Done()
	}
	return e
}

// Never reports whether nothing ends the wait.
func (e Expiry) Never() bool { return e.ctx == nil }

// Over reports whether the context is done. For anyone.
func (e Expiry) Over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// then calls f on a goroutine of its own once the context is done, unless stop
// is called before. Not for the owner. The context's methods may panic in it. A
// request or a waiter already depends on f then, so then falls back to the
// context's channel.
func (e Expiry) then(f func()) (stop func()) {
	defer func() {
		if recover() != nil {
			over := make(chan struct{})
			go func() {
				select {
				case <-e.done:
					f()
				case <-over:
				}
			}()
			stop = sync.OnceFunc(func() { close(over) })
		}
	}()
	unwatch := context.AfterFunc(e.ctx, f)
	return func() {
		defer func() { recover() }() // the rest of the watch ends with the context
		unwatch()
	}
}

// err returns the error of a request whose context is done.
func (e Expiry) err() error { return &expired{e.ctx} }

// expired calls the context for its error only when the error is read. Not for
// the owner.
type expired struct{ ctx context.Context }

func (e *expired) Error() string { return e.Unwrap().Error() }

// Unwrap returns the context's error and, if there is one, its cause.
func (e *expired) Unwrap() error {
	err, cause := e.ctx.Err(), context.Cause(e.ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// lapse withdraws a request whose context is done, if it still can be.
func (r *Request) lapse() {
	if !r.done && r.Until.Over() {
		r.sink.Cancel(r, r.Until.err())
	}
}

// guard is a context that ends the waits of a Waiter for some requests.
type guard struct {
	until Expiry
	w     *Waiter
	hs    []Handle
}

// guard adds a request's context to those that end the wait. For the goroutine that
// waits, or its owner.
func (w *Waiter) guard(r *Request) {
	if r.Until.done == nil {
		return
	}
	if n := len(w.guards); n == 0 || w.guards[n-1].until.done != r.Until.done {
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
			h.r.sink.Cancel(h.r, g.until.err())
		}
	}
}

// set begins to watch the context. Not for the owner.
func (g guard) set(l *Loop) (stop func()) {
	if g.until.Over() {
		l.Exclusive(g.expire)
		return func() {}
	}
	return g.until.then(func() { l.Exclusive(g.expire) })
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
