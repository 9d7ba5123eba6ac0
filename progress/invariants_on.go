//go:build invariants

package progress

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/weft-mpi/weft/fabric"
)

// check ends the process unless the states are consistent (states.go). It is
// called after each transition.
func (l *Loop) check() {
	if p := l.poller; p != nil {
		l.ensure(p.state == polling, "the poller is %v", p.state)
	}
	n := 0
	for w := l.parked.root.next; w != &l.parked.root; w = w.next {
		l.ensure(w.state == parked, "a waiter in the list of the parked is %v", w.state)
		l.ensure(w.prev.next == w && w.next.prev == w, "the list of the parked is torn")
		l.ensure(len(w.ready) == 0, "a parked waiter has a token")
		l.ensure(w.detached == nil, "nobody waits, parked")
		n++
		l.ensure(n <= 1<<20, "the list of the parked has no end")
	}
	l.ensure(l.poller != nil || l.linger == nil || !*l.linger, "the domain lingers and nobody polls")
}

// checkLeave also checks what holds whenever the loop has no owner: everything
// that waits has a poller, or the doorbell announces its event.
func (l *Loop) checkLeave() {
	l.check()
	if l.over {
		return
	}
	l.ensure(l.parked.first() == nil || l.poller != nil || l.bell == fabric.WakeAll,
		"a waiter is parked, nobody polls, and the bell is %d", l.bell)
	for _, r := range l.asides {
		l.ensure(!r.done && r.sink != nil, "a request has ended before its function")
	}
	for w := l.parked.root.next; w != &l.parked.root; w = w.next {
		l.ensure(w.need > 0, "a waiter is parked whose requests have ended")
	}
	l.ensure(!l.looking, "the thread looks while nobody owns the loop")
	if l.timeout > l.tick && l.threaded {
		l.ensure(l.bell != bellOff, "the thread is asleep and the bell is off")
		l.ensure(len(l.backlogged) == 0 || l.timeout != untilBell, "the thread is asleep and a backlog waits for room")
		l.ensure(l.bell == fabric.WakeAll || !l.goesOn(),
			"the thread is asleep and the bell is for urgent packets only, though callbacks, steps or conditions wait")
	}
}

// ensure ends the process unless ok: a panic would run deferred calls that wait for the
// loop.
func (l *Loop) ensure(ok bool, format string, a ...any) {
	if ok {
		return
	}
	fmt.Fprintf(os.Stderr, "broken invariant: %s (bell %d, thread looks %t, sleeps for %v, poller %t)\n%s",
		fmt.Sprintf(format, a...), l.bell, l.looking, l.timeout, l.poller != nil, debug.Stack())
	os.Exit(2)
}
