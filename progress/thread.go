package progress

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// tick is how long the application may stay away from the engine before the
// progress thread stands in for it.
const tick = time.Millisecond

// tickRanks is how many ranks of one process a processor serves at that pace.
// With more of them the threads look in less often, or their ticks alone would
// keep the processors busy.
const tickRanks = 16

// thread is the progress thread. While somebody polls it only looks in at
// every tick; or each time that the poller yields, where it does so seldom and on
// the one processor: a turn of the scheduler costs a quarter of a timer. Once a
// tick goes by with nobody there, it arms the doorbell, for urgent work or, where
// goroutines or detached requests wait, for any, and sleeps until it rings. How
// it sleeps is the attendant's.
func (l *Loop) thread() {
	defer close(l.stopped)
	at := attendant{l: l}
	at.begin()
	for next := afterTick; ; {
		timeout := time.Duration(0)
		if next == afterTick {
			timeout = l.tick
		}
		if next == again {
			at.pause()
		} else if err := at.sleep(timeout); err != nil {
			if !errors.Is(err, fabric.ErrClosed) {
				l.log.Error("the progress thread ends", "err", err)
			}
			return
		}
		if l.closed.Load() {
			return
		}
		next = afterTick
		if l.Enter() {
			computes := at.computes()
			next = l.tend()
			calls := l.takeCalls()
			l.Leave()
			calls.make()
			if computes {
				at.attend()
			}
			at.looked()
		} else if l.called.Load() {
			var calls *detached
			l.Exclusive(func() { calls = l.takeCalls() })
			calls.make()
		}
	}
}

// nextLook is when the thread looks at the loop again.
type nextLook uint8

const (
	untilBell nextLook = iota // when the doorbell rings
	afterTick                 // then, or after a tick
	again                     // as soon as others have had their turn
)

// tend does the thread's part as the owner.
func (l *Loop) tend() nextLook {
	rung := l.asleep
	l.asleep, l.roused = false, false
	if l.parked.first() == nil || l.poller != nil {
		if !rung && l.seen != l.passes && (l.poller != nil || !l.attended.Load()) {
			l.seen = l.passes
			if l.poller != nil && l.oneProc && l.turns <= yieldPasses && !l.oversubscribed {
				return again
			}
			return afterTick // somebody was there within the tick
		}
		if !l.threaded && l.poller == nil {
			l.asleep = true
			return untilBell
		}
	}
	l.armed = 0 // a ring has cleared the word that peers read
	busy := !l.dry()
	if rung && l.attended.Load() && l.poller == nil {
		busy = !l.follow()
	}
	level := fabric.WakeUrgent
	if l.parked.first() != nil || l.detachments > 0 || l.watching.first != nil {
		level = fabric.WakeAll
	}
	l.seen = l.passes
	switch {
	case busy:
		return again
	case l.poller != nil, len(l.backlogged) > 0:
		return afterTick
	case level == fabric.WakeUrgent && rung && !l.attended.Load():
		return afterTick // the application has been given something; it may come
	}
	if err := l.armAll(level); err != nil {
		l.log.Error("the doorbell can't be armed", "err", err)
		return afterTick
	}
	l.armed = level
	came := l.pass(burst) > 0
	l.seen = l.passes
	if came || len(l.backlogged) > 0 || l.roused {
		return again // the pass may also have done what others had queued
	}
	l.asleep = true
	return untilBell
}

// followUp is how long the thread polls on behind what it was woken for: the
// next of it, such as the block of a helper or the next message of a sender that
// has been answered, comes sooner than a sleep takes.
const followUp = 20 * time.Microsecond

// follow polls until nothing has come for a while, and reports whether that is
// so: it is not where others should have their turn.
func (l *Loop) follow() bool {
	for range 64 {
		for since := time.Now(); l.pass(burst) == 0; {
			if time.Since(since) > followUp {
				return true
			}
		}
	}
	return false
}

// dry passes until there is nothing left to do, or for so long that others
// should have their turn.
func (l *Loop) dry() bool {
	for range 256 {
		if l.pass(burst) == 0 {
			return true
		}
	}
	return false
}
