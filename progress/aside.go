package progress

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"

	"golang.org/x/sys/unix"
)

// The program's code runs in two places, and never under ownership. Callbacks at
// completion (OnEnd) run on a goroutine of their own, one after another
// (callbacks.go). Functions that an operation needs (Aside), such as the operator
// of a reduction, run on a goroutine that waits for the operation. A panic in one
// fails the operation.

// ErrWithin is returned by a blocking call for an operation if the function that
// the operation itself waits for makes the call.
var ErrWithin = errors.New("the call waits for the operation that waits for the function which makes the call: let the function return")

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

// aside is a function to be run on behalf of a request.
type aside struct {
	r    *Request
	fn   func()
	then func(error)

	w      *Waiter // the waiter whose goroutine was asked to run fn, if any
	thread int     // the OS thread, locked to the goroutine that runs fn; 0 before
}

// Aside runs fn without ownership, on the goroutine that waits for r if there is
// one, else on a goroutine of its own. Then it calls then under ownership, with
// nil, or with a *Panic if fn has panicked or ended its goroutine. For the
// owner; r is in flight. Local.
//
// fn may block, panic and call the engine. A call by fn's goroutine that blocks
// for r itself returns ErrWithin, or ErrStale if another goroutine waits for r
// already, and sets a single handle to null. The loop does not see what fn waits
// for on other goroutines: if that needs r to complete, there is a deadlock.
//
// Until then is called, r stays in flight, since fn may use its buffer.
// Meanwhile its sink must not finish it on a cancel or a death: it checks Apart,
// records the error, and leaves the completion to then. Close does not wait for
// fn: r fails with fabric.ErrClosed as soon as fn returns, and then is not
// called.
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

// asked returns a function that the waiter is to run and that no goroutine runs
// yet, or nil.
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

// runAs lets go of the loop, runs a function and owns the loop again. If the
// function ends the goroutine, the waiter's requests have no waiter any more.
func (l *Loop) runAs(w *Waiter, a *aside) {
	runtime.LockOSThread()
	l.begin(a, unix.Gettid())
	l.Leave()
	exited := true
	var err error = &Panic{Value: ErrExit}
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
	err = Try(a.fn)
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
	var err error = &Panic{Value: ErrExit}
	defer func() { l.Exclusive(func() { l.endAside(a, err) }) }()
	err = Try(a.fn)
}

// passOn hands the functions that the waiter has not run to others, since its
// own requests have completed.
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

// forsake takes the waiter off its requests: its goroutine has ended.
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

// refuseAll fails every request because the loop has been closed. Requests whose
// functions run fail when these return.
func (l *Loop) refuseAll() {
	l.refused = true
	l.asides = slices.DeleteFunc(l.asides, func(a *aside) bool { return a.thread == 0 })
	l.requests.each(func(r *Request) {
		if !l.Apart(r) {
			l.Refuse(r)
		}
	})
}

// self returns the name of the calling goroutine for within, or 0 while no
// function runs. For anyone.
func (l *Loop) self() int {
	if l.apart.Load() == 0 {
		return 0
	}
	return unix.Gettid()
}

// within reports whether a function of the request runs on the goroutine that
// self names: no other goroutine runs on its thread. For the owner.
func (l *Loop) within(r *Request, self int) bool {
	return self != 0 && slices.ContainsFunc(l.asides, func(a *aside) bool { return a.r == r && a.thread == self })
}

// withinAny is within for some handles.
func (l *Loop) withinAny(hs []Handle, self int) bool {
	return self != 0 && slices.ContainsFunc(hs, func(h Handle) bool {
		return h.r != nil && h.r.gen == h.gen && l.within(h.r, self)
	})
}
