package progress

import (
	"runtime"

	"github.com/weft-mpi/weft/internal/procs"
)

// Enter makes the caller the owner if there is none. It first does what others
// have queued, so that one goroutine's operations start in its order.
func (l *Loop) Enter() bool {
	if !l.take() {
		return false
	}
	if !l.queue.empty() {
		l.drain()
	}
	return true
}

// Leave ends the ownership. If a waiter is left, one of them polls after it.
func (l *Loop) Leave() {
	if l.watching.inward > 0 {
		l.watching.look()
	}
	if l.poller == nil && l.parked.first() != nil {
		l.relay()
	}
	l.checkLeave()
	l.owned.give(freeWord)
	if !l.queue.empty() {
		l.drainLate()
	}
}

// letGo releases the word and then checks the queue: a node pushed while its
// producer saw an owner must not be stranded. The producer pushes and then tries
// to own; letGo releases and then checks the queue. Both are sequentially
// consistent, so one of the two sees the other.
func (l *Loop) letGo() {
	l.checkLeave()
	l.owned.give(freeWord)
	l.drainLate()
}

// drainLate does what was queued before the word was released.
func (l *Loop) drainLate() {
	for !l.queue.empty() && l.take() {
		l.drain()
		l.relay()
		if l.watching.inward > 0 {
			l.watching.look()
		}
		l.checkLeave()
		l.owned.give(freeWord)
	}
}

// Submit starts a request now or leaves that to the owner. It never blocks.
func (l *Loop) Submit(s Sink, r *Request) {
	if l.Enter() {
		l.Begin(s, r)
		l.Leave()
		return
	}
	r.node.sink, r.node.w = s, nil
	l.push(&r.node)
}

// push queues a node and makes sure that an owner takes it.
func (l *Loop) push(n *node) {
	l.queue.push(n)
	if l.Enter() || l.owned.meet() && l.Enter() {
		l.Leave()
	}
}

// reenter makes the poller the owner again. A goroutine that has the word lets
// go of it soon.
func (l *Loop) reenter() {
	for i := 1; !l.Enter(); i++ {
		runtime.Gosched()
		if i%16 == 0 {
			procs.YieldCore()
		}
	}
}

// drain does what other goroutines have queued, in their order. Nodes that
// arrive meanwhile, from a loop of Test say, wait for the next drain.
func (l *Loop) drain() {
	if l.draining {
		return
	}
	l.draining = true
	for n := l.queue.takeAll(); n != nil; {
		next := n.next
		n.next = nil
		if n.r != nil {
			l.Begin(n.sink, n.r)
		} else {
			l.serve(n.w)
		}
		n = next
	}
	l.draining = false
}

// serve does for a waiter what it could not do itself without ownership.
func (l *Loop) serve(w *Waiter) {
	if w.fn != nil {
		w.fn()
		return
	}
	w.single.waiter, w.need = w, 1
	l.park(w) // if its request ends at once, satisfy takes it out again
	l.Begin(w.node.sink, w.single)
}

// Behind calls fn, as the owner, after everything that others have queued so far
// has been started; at once if that is nothing. For the owner.
func (l *Loop) Behind(fn func()) {
	if l.queue.empty() && !l.draining {
		fn()
		return
	}
	l.Later(fn)
}

// Later calls fn, as the owner, when the owner has done what it is about: before
// it lets go, or in its next pass. For the owner.
func (l *Loop) Later(fn func()) {
	w := newWaiter()
	w.fn = func() { fn(); w.recycle() }
	l.queue.push(&w.node)
}

// Exclusive calls fn under ownership, on the goroutine that has it. fn calls
// none of the user's code.
func (l *Loop) Exclusive(fn func()) {
	if l.Enter() {
		defer l.Leave() // also after a panic, which a caller may recover from
		fn()
		return
	}
	w := newWaiter()
	w.fn = func() { fn(); w.ready <- toReturn }
	l.push(&w.node)
	<-w.ready
	w.recycle()
}
