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
	if p := l.poller; p != nil && p.state != polling {
		l.broken("the poller is %v", p.state)
	}
	n := 0
	for w := l.parked.root.next; w != &l.parked.root; w = w.next {
		switch {
		case w.state != parked:
			l.broken("a waiter in the list of the parked is %v", w.state)
		case w.prev.next != w || w.next.prev != w:
			l.broken("the list of the parked is torn")
		case len(w.ready) > 0:
			l.broken("a parked waiter has a token")
		case w.detached != nil:
			l.broken("nobody waits, parked")
		}
		if n++; n > 1<<20 {
			l.broken("the list of the parked has no end")
		}
	}
	if l.linger != nil && *l.linger && l.poller == nil {
		l.broken("the domain lingers and nobody polls")
	}
}

// checkLeave also checks what holds whenever the loop has no owner: everything
// that waits has a poller, or the doorbell announces its event.
func (l *Loop) checkLeave() {
	l.check()
	if l.over {
		return
	}
	if first := l.parked.first(); first != nil && l.poller == nil && l.bell != fabric.WakeAll {
		l.broken("a waiter is parked, nobody polls, and the bell is %d", l.bell)
	}
	for _, r := range l.asides {
		if r.done || r.sink == nil {
			l.broken("a request has ended before its function")
		}
	}
	for w := l.parked.root.next; w != &l.parked.root; w = w.next {
		if w.need == 0 {
			l.broken("a waiter is parked whose requests have ended")
		}
	}
	if l.looking {
		l.broken("the thread looks while nobody owns the loop")
	}
	if l.timeout <= l.tick || !l.threaded {
		return
	}
	switch {
	case l.bell == bellOff:
		l.broken("the thread is asleep and the bell is off")
	case len(l.backlogged) > 0 && l.timeout == untilBell:
		l.broken("the thread is asleep and a backlog waits for room")
	case l.bell != fabric.WakeAll && l.goesOn():
		l.broken("the thread is asleep and the bell is for urgent packets only, though callbacks, steps or conditions wait")
	}
}

// broken ends the process: a panic would run deferred calls that wait for the
// loop.
func (l *Loop) broken(format string, a ...any) {
	fmt.Fprintf(os.Stderr, "broken invariant: %s (bell %d, thread looks %t, sleeps for %v, poller %t)\n%s",
		fmt.Sprintf(format, a...), l.bell, l.looking, l.timeout, l.poller != nil, debug.Stack())
	os.Exit(2)
}
