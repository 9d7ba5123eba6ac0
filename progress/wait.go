package progress

import (
	"sync"
	"time"
)

// Waiter is a goroutine that waits for requests, or that wants the owner to do
// something for it.
type Waiter struct {
	need int        // requests still to end
	reqs []*Request // what it waits for, if more than one

	// The contexts that end the wait, the goroutine's own.
	watches []watch
	byDone  map[<-chan struct{}]int // index of watches by channel, where there are many
	lapsed  []int                   // of watches: ended, for withdraw
	look    int                     // of watches: the last that expired looked at

	// A waiter for one request has its result handed over and the request
	// freed by whoever ends it.
	single *Request
	result Result
	finds  bool   // a waiter of Find
	found  uint64 // the request's Found
	err    error

	parked     bool
	slept      time.Time // since when, if it had polled before
	biding     bool      // looks now and then, see bide
	turn       bool      // set before the token: it is to poll
	prev, next *Waiter   // in the parked list

	ready chan struct{} // a token when all has ended, it is to poll, or it was served
	node  node
	op    serveOp
	fn    func()

	detached *detached // nobody waits: what to call instead
	hook     func(*Request, error)
	unwatch  func()
}

// serveOp is what a waiter in the queue asks of the owner.
type serveOp uint8

const (
	opStart  serveOp = iota // start the single request and wait for it
	opDo                    // call fn
	opBehind                // call fn, for which nobody waits
)

var waiters = sync.Pool{New: func() any {
	w := &Waiter{ready: make(chan struct{}, 1)}
	w.node.w = w
	return w
}}

func newWaiter() *Waiter { return waiters.Get().(*Waiter) }

func (w *Waiter) recycle() {
	w.reset()
	waiters.Put(w)
}

func (w *Waiter) reset() {
	if len(w.reqs) > 0 {
		clear(w.reqs)
		w.reqs = w.reqs[:0]
	}
	if len(w.watches) > 0 {
		clear(w.watches)
		w.watches, w.byDone, w.lapsed, w.look = w.watches[:0], nil, w.lapsed[:0], 0
	}
	w.single, w.err, w.fn, w.node.sink = nil, nil, nil, nil
	w.detached, w.unwatch, w.hook = nil, nil, nil
	w.need, w.finds = 0, false
}

// waiter and release are newWaiter and recycle for the owner.
func (l *Loop) waiter() *Waiter {
	w := l.spare
	if w == nil {
		return newWaiter()
	}
	l.spare, w.next = w.next, nil
	return w
}

func (l *Loop) release(w *Waiter) {
	w.reset()
	w.next, l.spare = l.spare, w
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
	w.parked = true
}

func (q *waitList) remove(w *Waiter) {
	w.prev.next, w.next.prev = w.next, w.prev
	w.prev, w.next = nil, nil
	w.parked, w.slept = false, time.Time{}
}

// serve does for a waiter what it could not do itself for want of ownership.
// The waiter blocks on its channel meanwhile, but with opBehind.
func (l *Loop) serve(w *Waiter) {
	switch w.op {
	case opDo:
		w.fn()
		w.ready <- struct{}{}
		return
	case opBehind:
		w.fn()
		l.release(w)
		return
	}
	w.single.waiter, w.need = w, 1
	l.parked.add(w) // if it ends at once, satisfy takes it out again
	l.Begin(w.node.sink, w.single)
}

// satisfy counts a request that has ended.
func (l *Loop) satisfy(w *Waiter, r *Request) {
	r.waiter = nil
	if w.hook != nil {
		w.hook(r, r.err)
	}
	if w.single == r {
		if w.finds {
			w.found = r.Found
		}
		w.result, w.err = l.collect(r)
	}
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
	if w.biding {
		l.woke = true
	}
	if w.parked {
		if !w.slept.IsZero() {
			l.spin.woke(time.Since(w.slept))
		}
		l.parked.remove(w)
		l.woke = true
		w.ready <- struct{}{}
	}
}

// handOver makes the oldest parked waiter the poller.
func (l *Loop) handOver() {
	w := l.parked.first()
	l.parked.remove(w)
	l.poller, w.turn = w, true
	w.ready <- struct{}{}
}

// Do starts a request and waits for it: the blocking form of Submit.
func (l *Loop) Do(s Sink, r *Request) (Result, error) {
	if l.Enter() {
		l.Begin(s, r)
		return l.Await(r)
	}
	w := newWaiter()
	w.op, w.single, w.need, w.node.sink = opStart, r, 1, s
	w.watch(r)
	l.push(&w.node)
	return l.end(w, l.sleep(w))
}

// Await waits for a request that the caller, who owns the loop, has started;
// it frees the request and ends the ownership.
func (l *Loop) Await(r *Request) (Result, error) {
	gen := r.gen
	if !r.done && l.passes-l.yielded <= l.turns && l.brisk() {
		// Most waits are short: nothing is noted down for them until others are
		// to be let run (turns). The core is given away here, not below, since a
		// switch makes the processor forget where each function is to return to.
		l.lingering(true)
		for looks := 0; !r.done && looks < l.looks && !l.woke; looks++ {
			if l.pass(1) == 0 && l.oversubscribed && !l.crowded {
				yieldCore()
			}
		}
		l.lingering(false)
	}
	if r.gen != gen || r.resting || r.waiter != nil {
		// Another goroutine, with a copy of the handle, has been faster since we
		// began to look, or waits.
		l.Leave()
		return nothing, ErrStale
	}
	if r.done {
		res, err := l.collect(r)
		l.Leave()
		return res, err
	}
	w := l.waiter()
	w.single, w.need, r.waiter = r, 1, w
	if r.Until.done != nil {
		w.watch(r)
	}
	return l.end(w, l.await(w))
}

// Find starts a request and waits for it, like Do, and returns its Found too. The
// caller owns the loop, or took the request with NewShared.
func (l *Loop) Find(s Sink, r *Request, owner bool) (Result, uint64, error) {
	w := newWaiter()
	w.single, w.need, w.finds = r, 1, true
	w.watch(r)
	if owner {
		r.waiter = w
		l.Begin(s, r)
		if w.need > 0 {
			owner = l.await(w)
		}
	} else {
		w.op, w.node.sink = opStart, s
		l.push(&w.node)
		owner = l.sleep(w)
	}
	res, found, err := w.result, w.found, w.err
	w.recycle()
	if owner {
		l.Leave()
	}
	return res, found, err
}

func (l *Loop) end(w *Waiter, owner bool) (Result, error) {
	res, err := w.result, w.err
	if !owner {
		w.recycle()
		return res, err
	}
	l.release(w)
	l.Leave()
	return res, err
}

// collect frees a request that has ended, or brings it to rest.
func (l *Loop) collect(r *Request) (Result, error) {
	res, err := r.Result, r.err
	if r.Persistent() {
		r.rest()
	} else {
		l.requests.free(r)
	}
	return res, err
}

// await waits, as the owner, until the waiter's requests have ended. It
// reports whether the caller is the owner still. Where one processor runs all
// goroutines it takes polling from whoever has it, who has let others run: the
// goroutine that has just done something is the likeliest to get the next
// message.
func (l *Loop) await(w *Waiter) (owner bool) {
	for fresh := true; ; fresh = false {
		if l.poller != nil && l.poller != w && !(fresh && l.oneProc) {
			if !l.bide(w) {
				break
			}
			if w.need == 0 {
				return true
			}
			continue
		}
		l.poller = w
		l.lingering(true)
		ended := l.poll(w)
		if l.poller == w {
			l.lingering(false)
			l.poller = nil
		} else if !ended {
			continue
		}
		if ended {
			return true
		}
		// In vain: let the doorbell wake us, unless something comes until it is
		// armed.
		quiet := l.arm() && l.pass(burst) == 0
		if w.need == 0 { // also by what another goroutine had queued
			l.spin.woke(0)
			l.disarm()
			return true
		}
		if quiet {
			w.slept = time.Now()
			break
		}
	}
	l.parked.add(w)
	l.Leave()
	return l.sleep(w)
}

// Where one processor runs all goroutines a second waiter stays runnable for a
// while: to let it look when the poller yields costs less than to park and
// ready it, and it polls on when the poller leaves. With more of them the
// rounds cost more than they save.
const (
	bideWaiters = 1
	bideRounds  = 64
)

// bide waits while another goroutine polls. It answers false when the waiter
// should rather park; otherwise its requests have ended or nobody polls.
func (l *Loop) bide(w *Waiter) bool {
	if !l.oneProc || l.biding >= bideWaiters {
		return false
	}
	l.biding++
	w.biding = true
	for i := 0; i < bideRounds && w.need > 0 && l.poller != nil; i++ {
		l.yield()
	}
	w.biding = false
	l.biding--
	return w.need == 0 || l.poller == nil
}

// sleep blocks until the waiter's requests have ended, polling when its turn
// comes. The caller is not the owner; sleep reports whether it is afterwards.
func (l *Loop) sleep(w *Waiter) (owner bool) {
	a := w.newAlarm()
	for !w.token(a) {
		l.Exclusive(func() { l.withdraw(w) })
	}
	a.stop()
	if !w.turn {
		return false
	}
	w.turn = false
	l.reenter()
	return l.await(w)
}

// Behind calls fn, as the owner, once all that others have queued by now is
// started: before it returns if that is nothing. For the owner.
func (l *Loop) Behind(fn func()) {
	if l.queue.empty() && !l.draining {
		fn()
		return
	}
	w := l.waiter()
	w.op, w.fn = opBehind, fn
	l.queue.push(&w.node)
}

// Exclusive calls fn under ownership, by whoever has it. fn calls nothing of the
// user's.
func (l *Loop) Exclusive(fn func()) {
	if l.Enter() {
		defer l.Leave() // also after a panic, which somebody may recover from
		fn()
		return
	}
	w := newWaiter()
	w.op, w.fn = opDo, fn
	l.push(&w.node)
	<-w.ready
	w.recycle()
}
