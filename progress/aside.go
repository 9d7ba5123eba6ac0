package progress

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sys/unix"
)

// Code of the program's runs in two places, and never under ownership: what is
// told of an end (OnEnd, detach.go) on the progress goroutine, one call after
// another, so it may not block; what an operation needs to go on (Aside), such as
// the operator of a reduction, on whatever goroutine waits for the operation. A
// panic in the first ends the process, as in any goroutine of the program's, since
// there is nobody to tell; one in the second ends the operation.

// ErrWithin refuses a call that blocks for an operation and is made by the
// function that the operation itself waits for.
var ErrWithin = errors.New("the call waits for the operation that waits for the function which makes the call: let the function return")

// Panic is why a function that was run Aside has not returned.
type Panic struct {
	Value any // of the panic, or errExit
	Stack []byte
}

var errExit = errors.New("it has ended its goroutine (runtime.Goexit)")

func (p *Panic) Error() string {
	return fmt.Sprintf("a function of the program's has panicked in a nonblocking operation: %v", p.Value)
}

// Unwrap is the value, if that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// aside is a function to be run on behalf of a request.
type aside struct {
	r    *Request
	fn   func()
	then func(error)

	w      *Waiter // whose goroutine was asked to run it, if any
	thread int     // of the operating system, locked to the goroutine that runs it; 0 before
}

// Aside has fn run without ownership, by the goroutine that waits for r if there
// is one, else by a goroutine of its own, and then has then called under ownership
// with nil, or with a *Panic if fn has panicked or ended its goroutine. For the
// owner; r is in flight. It is local.
//
// fn may block, panic and call the engine. A call by the goroutine of fn that
// blocks for r itself returns ErrWithin, or ErrStale where r is waited for already;
// a single handle that it was given is set to null. What fn waits for on other goroutines is not seen: if that needs r
// to end, nothing ends.
//
// Until then is called r stays in flight, since fn may use its buffer. So its sink
// does not finish it, whatever is cancelled and whoever dies: it asks Apart, notes
// the error, and leaves the end to then. Nor does Close wait for fn: r ends with
// fabric.ErrClosed as soon as fn returns, and then is not called.
func (l *Loop) Aside(r *Request, fn func(), then func(error)) {
	a := &aside{r: r, fn: fn, then: then}
	l.asides = append(l.asides, a)
	if w := r.waiter; w != nil && w.detached == nil {
		a.w = w
		l.callUp(w)
		return
	}
	l.woke = true // a goroutine that spins for it, without a Waiter, begins to poll and finds it
	go l.work(a)
}

// Apart reports whether a function runs, or is to run, on behalf of the request.
// For the owner.
func (l *Loop) Apart(r *Request) bool {
	return slices.ContainsFunc(l.asides, func(a *aside) bool { return a.r == r })
}

// asked finds a function that nobody runs yet and that the waiter is to run, or
// returns nil.
func (l *Loop) asked(w *Waiter) *aside {
	for _, a := range l.asides {
		if a.thread == 0 && (a.w == w || a.r.waiter == w) {
			return a
		}
	}
	return nil
}

// runAsides runs the functions that the waiter was asked to run, and reports
// whether there were any. The caller is the owner before and after.
func (l *Loop) runAsides(w *Waiter) (ran bool) {
	for w.need > 0 {
		a := l.asked(w)
		if a == nil {
			break
		}
		l.beginApart(w)
		l.runAs(w, a)
		ran = true
	}
	return ran
}

// runAs gives the loop away, runs a function and owns the loop again. If the
// function ends the goroutine, nobody waits for the waiter's requests any more.
func (l *Loop) runAs(w *Waiter, a *aside) {
	runtime.LockOSThread()
	l.begin(a, unix.Gettid())
	l.Leave()
	exited := true
	var err error = &Panic{Value: errExit}
	defer func() {
		runtime.UnlockOSThread()
		if !exited {
			return
		}
		l.Exclusive(func() {
			l.forsake(w)
			l.endAside(a, err)
		})
	}()
	err = a.call()
	exited = false
	l.reenter()
	l.endApart(w)
	l.endAside(a, err)
}

// work runs a function on a goroutine of its own, unless a waiter has begun to.
func (l *Loop) work(a *aside) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread, mine := unix.Gettid(), false
	l.Exclusive(func() {
		if mine = a.thread == 0 && slices.Contains(l.asides, a); mine {
			l.begin(a, thread)
		}
	})
	if !mine {
		return
	}
	var err error = &Panic{Value: errExit}
	defer func() { l.Exclusive(func() { l.endAside(a, err) }) }()
	err = a.call()
}

// passOn leaves to others the functions that the waiter has not run, since its
// own requests have ended.
func (l *Loop) passOn(w *Waiter) {
	for _, a := range l.asides {
		if a.w == w && a.thread == 0 {
			a.w = nil
			go l.work(a)
		}
	}
}

// begin notes that a function runs on a thread of the operating system. For the
// owner.
func (l *Loop) begin(a *aside, thread int) {
	a.thread = thread
	l.apart.Add(1)
}

// call runs the function.
func (a *aside) call() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	a.fn()
	return nil
}

// endAside goes on with a request whose function has returned. For the owner.
func (l *Loop) endAside(a *aside, err error) {
	l.apart.Add(-1)
	l.asides = slices.DeleteFunc(l.asides, func(b *aside) bool { return a == b })
	switch {
	case !l.over:
		a.then(err)
	case l.refused && !l.Apart(a.r):
		l.Refuse(a.r)
	}
}

// forsake makes the requests of a waiter nobody's whose goroutine has ended.
func (l *Loop) forsake(w *Waiter) {
	if r := w.single; r != nil && r.waiter == w {
		r.waiter = nil
	}
	for _, r := range w.reqs {
		if r.waiter == w {
			r.waiter = nil
		}
	}
	w.need = 0
	l.passOn(w)
}

// refuseAll ends every request because the loop has been closed, but for those
// whose functions run: they end behind them.
func (l *Loop) refuseAll() {
	l.refused = true
	l.asides = slices.DeleteFunc(l.asides, func(a *aside) bool { return a.thread == 0 })
	l.requests.each(func(r *Request) {
		if !l.Apart(r) {
			l.Refuse(r)
		}
	})
}

// self names the calling goroutine to within, or is 0 where no function is run.
// For anyone.
func (l *Loop) self() int {
	if l.apart.Load() == 0 {
		return 0
	}
	return unix.Gettid()
}

// within reports whether a function of the request's runs on the goroutine that
// self names. That goroutine alone runs on its thread. For the owner.
func (l *Loop) within(r *Request, self int) bool {
	return self != 0 && slices.ContainsFunc(l.asides, func(a *aside) bool { return a.r == r && a.thread == self })
}

// withinAny is within for some handles.
func (l *Loop) withinAny(hs []Handle, self int) bool {
	return self != 0 && slices.ContainsFunc(hs, func(h Handle) bool {
		return h.r != nil && h.r.gen == h.gen && l.within(h.r, self)
	})
}
