package progress

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
)

// The program's code runs in two places, and never under ownership. Callbacks at
// completion (OnEnd) run on a goroutine of their own, one after another
// (callbacks.go). Each function that an operation needs (Aside), such as the operator
// of a reduction, runs on a goroutine of its own too. A panic in one fails the
// operation.

// Panic is the error of a function that was run Aside and did not return.
type Panic struct {
	Value any // of the panic, or ErrExit
	Stack []byte
}

// ErrExit is the Value of the Panic of a function that has ended its goroutine.
var ErrExit = errors.New("it has ended its goroutine (runtime.Goexit)")

func (p *Panic) Error() string {
	return fmt.Sprintf("a function of the program's has panicked in a nonblocking operation: %v", p.Value)
}

// Unwrap returns the panic's value if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Aside runs fn without ownership, on a goroutine of its own. Then it calls then under
// ownership, with nil, or with a *Panic if fn has panicked or ended its goroutine. For
// the owner; r is in flight. Local.
//
// fn may block, panic and call the engine. The loop does not see what fn waits for: if
// that needs r to complete, there is a deadlock, unless another goroutine waits for r
// already, which makes the wait ErrStale.
//
// Until then is called, r stays in flight, since fn may use its buffer.
// Meanwhile its sink must not finish it on a cancel or a death: it checks Apart,
// records the error, and leaves the completion to then. Close does not wait for
// fn: r fails with fabric.ErrClosed as soon as fn returns, and then is not
// called.
func (l *Loop) Aside(r *Request, fn func(), then func(error)) {
	l.asides = append(l.asides, r)
	l.woke = true // where one processor runs all goroutines, a waiter that polls lets fn run
	go func() {
		var err error = &Panic{Value: ErrExit}
		defer func() { l.Exclusive(func() { l.endAside(r, then, err) }) }()
		err = Try(fn)
	}()
}

// Apart reports whether a function runs, or is to run, on behalf of the request.
// For the owner.
func (l *Loop) Apart(r *Request) bool { return slices.Contains(l.asides, r) }

// Try calls a function of the program, and returns its panic as a *Panic.
func Try(fn func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	fn()
	return nil
}

// endAside continues a request whose function has returned. For the owner.
func (l *Loop) endAside(r *Request, then func(error), err error) {
	at := slices.Index(l.asides, r)
	l.asides = slices.Delete(l.asides, at, at+1)
	switch {
	case !l.over:
		then(err)
	case l.refused && !l.Apart(r):
		l.Refuse(r)
	}
}

// refuseAll fails every request because the loop has been closed. Requests whose
// functions run fail when these return.
func (l *Loop) refuseAll() {
	l.refused = true
	l.requests.each(func(r *Request) {
		if !l.Apart(r) {
			l.Refuse(r)
		}
	})
}
