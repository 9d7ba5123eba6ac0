package progress

import (
	"math"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/timeline"
)

// Waiting is three state machines: each waiter's, the doorbell's and the
// progress thread's. They move here and nowhere else, one function for each
// event, and under ownership of the loop. Two words are exceptions and atomic:
// Loop.life (made, going, closed) and Loop.attended (whether the thread sleeps
// in the kernel; once set it stays set).
//
// # Waiter
//
// A wait begins spinning: its goroutine owns the loop and makes passes, and no
// state is recorded (Await, sweep). A longer wait has a Waiter.
//
//	running   no waiter polls, or it is new where one processor    polling  beginPoll
//	            runs all goroutines
//	polling   its requests have completed, or it has polled for    running  endPoll
//	            long
//	polling   another waiter begins to poll                        running  beginPoll, the other's
//	running   another polls, or the bell is armed for all and the  parked   park
//	            last pass found nothing
//	parked    no waiter polls, and the bell is not armed for all   polling  handOver
//	parked    its requests have completed                          running  requestsEnded
//
// A parked waiter blocks on its channel; the function that moves it sends a
// token, which says why. In every other state its goroutine runs or is about to,
// and sees by itself that no request is left (Waiter.need). At most one waiter
// polls: Loop.poller. It lets others run when they can go on (Loop.woke).
//
// # Doorbell (Loop.bell)
//
//	off      a waiter is about to park                              all      lastLook
//	off      the thread is about to sleep: goroutines, callbacks    all      lastLook
//	           or conditions wait
//	off      the same, and nothing waits                            urgent   lastLook
//	any      a waiter spins or polls; urgent: a call of Test        off      disarm
//	any      the thread looks, or the domain can't be armed         off      bellHeard, lastLook
//	any      the loop is closed                                     off      seal
//
// # Thread (Loop.looking, Loop.timeout)
//
// It looks, which is to own the loop, or sleeps until it is woken, for a timeout at
// most: again, a tick, a roomPause, which is longer, or untilBell.
//
//	sleeps              it owns the loop                         looks             tend
//	looks               the bell is armed, the last pass found   sleeps untilBell  tend
//	                      nothing
//	looks               the same, but a backlog waits for room,  sleeps for a      tend
//	                      which rings no bell                      roomPause
//	looks               otherwise, also where it was rung for    sleeps for a      tend
//	                      packets and a waiter is parked, who      tick, or again
//	                      polls for the next: it returns after
//	                      a tick or less
//	looks               there is work that no bell announces     looks, and may    Rouse
//	                                                               not sleep long
//	sleeps for longer   the same, or a waiter polls; its Wait    sleeps, again     Rouse
//	  than a tick         is woken
//
// # Why no wake-up is lost
//
// Before anything sleeps, lastLook arms the bell for what it waits for, then
// makes one more pass, and only then reports quiet. A pass checks everything
// that can complete a wait:
//
//   - Packets, completions and deaths. The fabric guarantees that an event which
//     a Poll after Arm does not find rings the bell (fabric.Domain.Arm).
//   - Conditions (Watch). The side that makes one true stores, then rings: a
//     peer by Knock, this process by Domain.Wake. The loop arms, then loads.
//     Both sides are sequentially consistent, so either the load sees the store,
//     or the ring sees the armed word. What makes one true without a ring is done by an
//     owner, who checks it in a pass or as it leaves.
//   - Nodes of this rank's goroutines. They push, then try to own the loop. The
//     owner gives the loop back and then checks the queue (Leave), so one of the
//     two sees the other. An operation that starts this way may need work that
//     no bell announces; it then calls Rouse, and the thread does not sleep.
//
// Nothing can be missed between that pass and the sleep: the bell is armed, so
// an event rings, and a ring stays until a Wait takes it. A waiter parks only
// after lastLook for all, or while another polls. Whenever an owner leaves and a
// waiter is parked, another polls or the bell is armed for all (Leave, relay).

// waiterState is the state of a waiter.
type waiterState uint8

const (
	running waiterState = iota // its goroutine runs, or is about to; or it is free, or has none
	polling                    // it passes, as Loop.poller, or is about to; gives the loop away in between
	parked                     // its goroutine blocks on its channel, in Loop.parked
)

func (s waiterState) String() string { return [...]string{"running", "polling", "parked"}[s] }

// token is why a waiter that blocks on its channel goes on.
type token uint8

const (
	toReturn token = iota // its requests have ended, or it has been served
	toPoll                // it polls
)

// bellOff is the level of a doorbell that is not armed.
const bellOff fabric.Wake = 0

// The timeouts of the thread's sleep that are not times.
const (
	again     time.Duration = 0             // others run, and it looks again
	untilBell time.Duration = math.MaxInt64 // it sleeps until the doorbell rings
)

// life is the state of a loop.
const (
	made uint32 = iota
	going
	closed
)

// pollsNext reports whether the waiter polls next, whose goroutine owns the loop. Where
// one processor runs all goroutines, a wait that begins takes over from the poller, which
// has yielded to it: to park its goroutine and to ready it again costs more than to let
// the poller see, once it has the processor, whether it has to park (latency_mt -t 2:2
// and 4:4; 1:2 and 1:4 take as long either way).
func (l *Loop) pollsNext(w *Waiter, begins bool) bool {
	return l.poller == nil || l.poller == w || begins && l.oneProc
}

// beginPoll makes the waiter the poller, in place of the present one.
func (l *Loop) beginPoll(w *Waiter) {
	if p := l.poller; p != nil {
		p.state = running
	}
	l.poller, w.state = w, polling
	l.lingering(true)
	l.check()
}

// endPoll ends the polling of the poller.
func (l *Loop) endPoll(w *Waiter) {
	l.lingering(false)
	l.poller, w.state = nil, running
	l.check()
}

// park appends the waiter to the parked ones. Its goroutine blocks on its
// channel next, without owning the loop.
func (l *Loop) park(w *Waiter) {
	l.parked.add(w)
	l.counts.parks++
	w.state = parked
	if w.traced {
		w.trace.parked = timeline.Now()
	}
	l.check()
}

// unpark makes a parked waiter go on.
func (l *Loop) unpark(w *Waiter, t token) {
	l.parked.remove(w)
	w.state, w.slept = running, time.Time{}
	if w.traced {
		w.trace.slept()
	}
	w.ready <- t // pairs with the receive in Waiter.await: what the owner did comes before
}

// relay makes a parked waiter poll if none does and no ring would wake the
// thread for what it waits for.
func (l *Loop) relay() {
	if l.poller == nil && l.parked.first() != nil && l.bell != fabric.WakeAll {
		l.handOver()
	}
}

// handOver makes the oldest parked waiter the poller.
func (l *Loop) handOver() {
	w := l.parked.first()
	l.unpark(w, toPoll)
	l.poller, w.state = w, polling
	l.check()
}

// requestsEnded moves a waiter that does not poll and has no unfinished requests. One
// that runs sees that by itself, once the poller lets it.
func (l *Loop) requestsEnded(w *Waiter) {
	if w.state == parked {
		if !w.slept.IsZero() {
			l.budget.woke(time.Since(w.slept))
		}
		l.unpark(w, toReturn)
		l.woke = true
	} else if l.poller != nil {
		l.woke = true
	}
}

// lastLook stands between work and sleep: it arms the doorbell, then makes one
// more pass. It reports whether the bell is armed, and whether the pass found
// nothing. If the bell can't be armed, nothing may sleep for long.
func (l *Loop) lastLook(level fabric.Wake) (armed, quiet bool) {
	if err := l.armAll(level); err != nil {
		l.log.Error("the doorbell can't be armed; waiting burns a core", "err", err)
		l.bell = bellOff
		return false, false
	}
	l.bell = level
	return true, l.pass(burst) == 0
}

// disarm turns the doorbell off because a waiter spins or polls. A thread that
// sleeps until the bell returns to its ticks.
func (l *Loop) disarm() {
	l.bell = bellOff
	l.disarmAll()
	l.Rouse()
}

// bellHeard takes the doorbell for off, since the thread looks: a ring clears
// the word that peers read, and there may have been one.
func (l *Loop) bellHeard() { l.bell = bellOff }

// tend is one look of the thread: its time as owner. It returns the timeout of the
// sleep after it. A thread roused in it does not sleep until the doorbell.
func (l *Loop) tend() time.Duration {
	rung := l.timeout == untilBell
	if rung {
		l.counts.wakes[l.bell]++
	}
	l.looking, l.timeout = true, untilBell
	if l.rec != nil {
		l.rec.looks(l.found)
	}
	next := l.stand(rung)
	if l.rec != nil {
		l.rec.looked(l.found)
	}
	l.seen = l.visits()
	switch {
	case l.timeout != again: // it was not roused
	case next == untilBell:
		next = again
	default:
		next = min(next, l.tick)
	}
	l.looking, l.timeout = false, next
	l.check()
	return next
}

// Rouse makes the thread look for work that the doorbell would not announce: the
// rank's own work under way, such as a backlog or a Get. For the owner.
func (l *Loop) Rouse() {
	if l.timeout <= l.tick {
		return
	}
	l.timeout = again
	if !l.looking {
		l.dom.Wake()
	}
}
