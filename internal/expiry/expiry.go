// Package expiry has a user's context in a form that the owner of a loop may use. It
// imports nothing of Weft.
package expiry

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Expiry is the context of an operation, or none. None of the context's methods is
// called under ownership: they are the user's code, which may panic, block or call the
// engine.
type Expiry struct {
	ctx  context.Context // nil for never
	done <-chan struct{} // nil for never
}

// Of reads the channel of a context, which may be nil. Not for the owner.
func Of(ctx context.Context) (e Expiry) {
	if ctx != nil {
		if e.done = ctx.Done(); e.done != nil {
			e.ctx = ctx
		}
	}
	return e
}

// Never reports whether nothing ends the wait.
func (e Expiry) Never() bool { return e.done == nil }

// Same reports whether two contexts end at once, since they have one channel. Contexts
// may be of a type that can't be compared.
func (e Expiry) Same(o Expiry) bool { return e.done == o.done }

// Over reports whether the context is done. For anyone.
func (e Expiry) Over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// AfterFunc calls f on a goroutine of its own once the context is done, unless stop
// is called before. Not for the owner. The context's methods may panic in it. A
// request or a waiter already depends on f then, so AfterFunc falls back to the
// context's channel.
func (e Expiry) AfterFunc(f func()) (stop func()) {
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

// Err returns the error of a request whose context is done.
func (e Expiry) Err() error { return &expired{e.ctx} }

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
