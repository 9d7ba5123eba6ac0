package progress

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Expiry is a user's context as an owner may look at it. None of the context's
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

// over reports whether the context has ended.
func (e Expiry) over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// then calls f on a goroutine of its own once the context has ended, unless stop
// is called before. Not for the owner. The context's methods may panic in it: by
// now a request or a waiter counts on the caller, so its channel has to do.
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
		defer func() { recover() }() // what is left of the watch ends with the context
		unwatch()
	}
}

// err is how a request ends whose context has.
func (e Expiry) err() error { return &expired{e.ctx} }

// expired asks the context why it has ended once somebody looks at the error. Not
// for the owner.
type expired struct{ ctx context.Context }

func (e *expired) Error() string { return e.Unwrap().Error() }

// Unwrap is the context's error and, where it says more, its cause.
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
	seen  bool       // it has ended, and is among the waiter's lapsed or has been
}

// fewWatches is up to how many contexts of a wait are compared one by one, and
// how many a poller looks at in one go.
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

// watched finds a context among those watched, by its channel, or returns -1.
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
// contexts it looks at some, the next ones the next time.
func (w *Waiter) expired() bool {
	for range min(len(w.watches), fewWatches) {
		if w.look++; w.look >= len(w.watches) {
			w.look = 0
		}
		if w.watches[w.look].until.over() {
			w.lapse(w.look)
		}
	}
	return len(w.lapsed) > 0
}

// lapse notes for withdraw that a context has ended.
func (w *Waiter) lapse(i int) {
	if x := &w.watches[i]; !x.seen {
		x.seen = true
		w.lapsed = append(w.lapsed, i)
	}
}

// withdraw ends those of the waiter's requests whose context has ended and that
// can still be taken back.
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

// lapse takes a request back whose context has ended, if it still can be.
func (r *Request) lapse() {
	if !r.done && r.Until.over() {
		r.sink.Cancel(r, r.Until.err())
	}
}

// alarm tells a goroutine that sleeps which of many contexts have ended.
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

// token blocks until a token comes and returns it, or noToken when contexts have
// ended, which withdraw then finds.
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
