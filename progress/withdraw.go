package progress

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// watch adds a request's context to those that end the sleep.
func (w *Waiter) watch(r *Request) {
	if r.Ctx == nil {
		return
	}
	for _, c := range w.ctxs {
		if c == r.Ctx {
			return
		}
	}
	w.ctxs = append(w.ctxs, r.Ctx)
}

// expired reports whether a context has ended, which is then watched no longer.
func (w *Waiter) expired() bool {
	for i, c := range w.ctxs {
		if c.Err() != nil {
			w.ctxs = slices.Delete(w.ctxs, i, i+1)
			return true
		}
	}
	return false
}

// token waits for a token, or answers false when a context has ended, which
// is then watched no longer.
func (w *Waiter) token() bool {
	switch len(w.ctxs) {
	case 0:
		<-w.ready
		return true
	case 1:
		select {
		case <-w.ready:
			return true
		case <-w.ctxs[0].Done():
			w.ctxs = w.ctxs[:0]
			return false
		}
	}
	cases := []reflect.SelectCase{{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(w.ready)}}
	for _, c := range w.ctxs {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c.Done())})
	}
	i, _, _ := reflect.Select(cases)
	if i > 0 {
		w.ctxs = slices.Delete(w.ctxs, i-1, i)
	}
	return i == 0
}

// withdraw ends those of the waiter's requests whose context has ended and
// that can still be taken back.
func (l *Loop) withdraw(w *Waiter) {
	if r := w.single; r != nil {
		l.expire(w, r)
	}
	for _, r := range w.reqs {
		l.expire(w, r)
	}
}

func (l *Loop) expire(w *Waiter, r *Request) {
	if r.waiter == w && r.Ctx != nil && r.Ctx.Err() != nil {
		r.sink.Cancel(r, ended(r.Ctx))
	}
}

// ended is the error of a context that has ended and, where it says more, its
// cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
