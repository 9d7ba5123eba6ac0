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

// watch is a context that ends the waits for some requests.
type watch struct {
	until Expiry
	reqs  []*Request // of a waiter for several
	seen  bool       // it is done, and is among the waiter's lapsed or has been
}

// fewWatches is up to how many contexts of a wait are compared one by one, and
// how many a poller checks in one go.
const fewWatches = 16

// watch adds a request's context to those that end the wait. For the goroutine
// that waits.
func (w *Waiter) watch(r *Request) {
	if r.Until.done == nil {
		return
	}
	at := w.watched(r.Until.done)
	if at < 0 {
		at = len(w.watches)
		w.watches = append(w.watches, watch{until: r.Until})
		if w.byDone != nil {
			w.byDone[r.Until.done] = at
		} else if len(w.watches) > fewWatches {
			w.byDone = make(map[<-chan struct{}]int, 2*len(w.watches))
			for i := range w.watches {
				w.byDone[w.watches[i].until.done] = i
			}
		}
	}
	if w.single != r {
		w.watches[at].reqs = append(w.watches[at].reqs, r)
	}
}

// watched returns the index of a context among those watched, by its channel, or
// -1.
func (w *Waiter) watched(done <-chan struct{}) int {
	if w.byDone != nil {
		if at, ok := w.byDone[done]; ok {
			return at
		}
		return -1
	}
	for i := range w.watches {
		if w.watches[i].until.done == done {
			return i
		}
	}
	return -1
}

// expired reports whether there is something for withdraw to do. Of many
// contexts it checks some, and the next ones the next time.
func (w *Waiter) expired() bool {
	for range min(len(w.watches), fewWatches) {
		if w.look++; w.look >= len(w.watches) {
			w.look = 0
		}
		if w.watches[w.look].until.Over() {
			w.lapse(w.look)
		}
	}
	return len(w.lapsed) > 0
}

// lapse records for withdraw that a context is done.
func (w *Waiter) lapse(i int) {
	if x := &w.watches[i]; !x.seen {
		x.seen = true
		w.lapsed = append(w.lapsed, i)
	}
}

// withdraw withdraws those of the waiter's requests whose context is done, if
// they still can be.
func (l *Loop) withdraw(w *Waiter) {
	for _, i := range w.lapsed {
		if r := w.single; r != nil {
			l.expire(w, r)
		}
		for _, r := range w.watches[i].reqs {
			l.expire(w, r)
		}
	}
	w.lapsed = w.lapsed[:0]
}

func (l *Loop) expire(w *Waiter, r *Request) {
	if r.waiter == w {
		r.lapse()
	}
}

// lapse withdraws a request whose context is done, if it still can be.
func (r *Request) lapse() {
	if !r.done && r.Until.Over() {
		r.sink.Cancel(r, r.Until.err())
	}
}

// alarm tells a sleeping goroutine which of many contexts are done.
type alarm struct {
	ring  chan struct{}
	stops []func()

	mu    sync.Mutex
	ended []int
}

// newAlarm sets the alarm for a waiter with several contexts, nil for others.
// Not for the owner.
func (w *Waiter) newAlarm() *alarm {
	if len(w.watches) < 2 {
		return nil
	}
	a := &alarm{ring: make(chan struct{}, 1)}
	for i := range w.watches {
		if w.watches[i].seen {
			continue
		}
		a.stops = append(a.stops, w.watches[i].until.then(func() {
			a.mu.Lock()
			a.ended = append(a.ended, i)
			a.mu.Unlock()
			select {
			case a.ring <- struct{}{}:
			default:
			}
		}))
	}
	return a
}

func (a *alarm) stop() {
	if a != nil {
		for _, stop := range a.stops {
			stop()
		}
	}
}

// token blocks until a token comes and returns it, or noToken when contexts are
// done, which withdraw then finds.
func (w *Waiter) token(a *alarm) token {
	if a != nil {
		select {
		case t := <-w.ready:
			return t
		case <-a.ring:
		}
		a.mu.Lock()
		for _, i := range a.ended {
			w.lapse(i)
		}
		a.ended = a.ended[:0]
		a.mu.Unlock()
		return noToken
	}
	if len(w.watches) == 0 || w.watches[0].seen {
		return <-w.ready
	}
	select {
	case t := <-w.ready:
		return t
	case <-w.watches[0].until.done:
		w.lapse(0)
		return noToken
	}
}
