package progress

import (
	"sync"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/procs"
)

// Waiter is a goroutine that waits for requests, or that needs the owner to do
// something for it.
type Waiter struct {
	need int        // requests that must still complete
	reqs []*Request // what it waits for, if more than one

	guards []guard // the contexts that end the wait, until they are watched

	// A waiter for one request is handed its result; the goroutine that
	// completes the request frees it.
	single *Request
	result Result
	step   bool // counted in Loop.steps
	traced bool
	err    error

	state      waiterState // see states.go
	slept      time.Time   // since when it is parked, if it had polled before
	prev, next *Waiter     // in the parked list

	ready chan token // for a goroutine that blocks: one token each time
	node  node
	fn    func() // for the owner to call where the waiter is queued, instead of starting the request

	trace traced // of the wait, if it is traced

	detached *detached // there is no goroutine: call this instead
	hook     func(*Request, error)
	unwatch  func()
}

var waiters = sync.Pool{New: func() any {
	w := &Waiter{ready: make(chan token, 1)}
	w.node.w = w
	return w
}}

func newWaiter() *Waiter { return waiters.Get().(*Waiter) }

func (w *Waiter) recycle() {
	if w.traced {
		w.trace.end()
	}
	if len(w.reqs) > 0 {
		clear(w.reqs)
		w.reqs = w.reqs[:0]
	}
	w.single, w.err, w.fn, w.node.sink = nil, nil, nil, nil
	w.guards, w.detached, w.unwatch, w.hook = nil, nil, nil, nil
	w.need, w.state, w.step, w.traced = 0, running, false, false
	waiters.Put(w)
}

// waitList is the ring of parked waiters, oldest first.
type waitList struct{ root Waiter }

func (q *waitList) init() { q.root.prev, q.root.next = &q.root, &q.root }

func (q *waitList) first() *Waiter {
	if w := q.root.next; w != &q.root {
		return w
	}
	return nil
}

func (q *waitList) add(w *Waiter) {
	w.prev, w.next = q.root.prev, &q.root
	w.prev.next, q.root.prev = w, w
}

func (q *waitList) remove(w *Waiter) {
	w.prev.next, w.next.prev = w.next, w.prev
	w.prev, w.next = nil, nil
}

// satisfy counts a completed request that has a waiter or is timed.
func (l *Loop) satisfy(r *Request) {
	if r.timed {
		l.timed(r)
	}
	w := r.waiter
	if w == nil {
		return
	}
	r.waiter = nil
	if w.step {
		w.step = false
		l.steps--
	}
	if w.hook != nil {
		w.hook(r, r.err)
	}
	if w.single == r {
		w.result, w.err = l.collect(r)
	}
	l.lessen(w)
}

// lessen has a waiter wait for one request less.
func (l *Loop) lessen(w *Waiter) {
	if w.need--; w.need > 0 {
		return
	}
	for _, r := range w.reqs { // the others of a Waitany
		if r.waiter == w {
			r.waiter = nil
		}
	}
	if w.detached != nil {
		l.endDetached(w)
		return
	}
	if w.state != polling {
		l.requestsEnded(w)
	}
}

// Do starts a request and waits for it: the blocking form of Submit.
func (l *Loop) Do(s Sink, r *Request) (Result, error) {
	if l.Enter() {
		l.Begin(s, r)
		return l.Await(r)
	}
	w := newWaiter()
	w.single, w.need, w.node.sink = r, 1, s
	w.guard(r)
	l.trace(w, s)
	l.push(&w.node)
	return l.end(w, l.sleep(w))
}

// Await waits for a request that the caller, who owns the loop, has started;
// it frees the request and ends the ownership.
func (l *Loop) Await(r *Request) (Result, error) {
	gen := r.gen
	if l.rec == nil && !r.done {
		l.Spin(&r.done)
	}
	if r.gen != gen || r.resting || r.waiter != nil {
		// Another goroutine, with a copy of the handle, has waited for it
		// meanwhile, or waits.
		err := Handle{r: r, gen: gen}.stale(nil)
		l.Leave()
		return nothing, err
	}
	if r.done {
		res, err := l.collect(r)
		l.Leave()
		return res, err
	}
	return l.awaitLong(r)
}

// Spin makes passes until *ended is set, for a short while: most waits are short, and no
// state is recorded until the core is given away (yieldEvery). For the owner.
func (l *Loop) Spin(ended *bool) {
	if l.passes-l.yielded > l.yieldEvery || !l.brisk() {
		return
	}
	l.lingering(true)
	for spins := 0; !*ended && spins < l.spins && !l.woke; spins++ {
		if l.pass(1) == 0 && l.oversubscribed && !l.crowded {
			procs.YieldCore()
		}
	}
	l.lingering(false)
}

// awaitLong is the part of Await that has a Waiter.
func (l *Loop) awaitLong(r *Request) (Result, error) {
	if r.inDoubt() {
		err := r.err
		l.PollOnce() // a wait that a doubt ends makes progress too
		l.Leave()
		return nothing, err
	}
	w := newWaiter()
	w.single, w.need, r.waiter = r, 1, w
	w.guard(r)
	l.trace(w, r.sink)
	return l.end(w, l.await(w))
}

func (l *Loop) end(w *Waiter, owner bool) (Result, error) {
	res, err := w.result, w.err
	w.recycle()
	if owner {
		l.Leave()
	}
	return res, err
}

// collect frees a completed request, or brings it to rest if it is persistent and has
// not been released.
func (l *Loop) collect(r *Request) (Result, error) {
	res, err := r.Result, r.err
	if r.Persistent() && !r.released {
		r.rest()
	} else {
		l.requests.free(r)
	}
	return res, err
}

// await waits, as the owner, until the waiter's requests have completed. It
// reports whether the caller is still the owner.
func (l *Loop) await(w *Waiter) (owner bool) {
	if len(w.guards) > 0 {
		l.pass(burst) // what has come precedes the end of a context
		l.Leave()
		l.guarded(w, func(w *Waiter) bool {
			l.reenter()
			return l.await(w)
		})
		return false
	}
	for begins := true; ; begins = false {
		if w.need == 0 && l.poller != w {
			return true
		}
		if !l.pollsNext(w, begins) {
			break
		}
		l.beginPoll(w)
		ended := l.poll(w)
		if l.poller == w {
			l.endPoll(w)
		} else if !ended {
			continue
		}
		if ended {
			return true
		}
		_, quiet := l.lastLook(fabric.WakeAll)
		if w.need == 0 { // another goroutine's queued operation may have completed it
			l.budget.woke(0)
			l.disarm()
			return true
		}
		if quiet {
			w.slept = time.Now()
			break
		}
	}
	l.park(w)
	l.Leave()
	return l.sleep(w)
}

// sleep blocks until the waiter's requests have completed, and polls when it is
// handed that. The caller is not the owner; sleep reports whether it is
// afterwards.
func (l *Loop) sleep(w *Waiter) (owner bool) {
	if len(w.guards) > 0 {
		l.guarded(w, l.sleep)
		return false
	}
	if w.traced {
		defer w.trace.region().End()
	}
	if t := <-w.ready; t == toReturn {
		return false
	}
	l.reenter()
	return l.await(w)
}
