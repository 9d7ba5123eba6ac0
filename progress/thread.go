package progress

import (
	"context"
	"errors"
	"runtime/pprof"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/procs"
)

// standIn is the progress thread. While a waiter polls, it only looks once a
// tick. Where the poller yields seldom and on the one processor, the thread
// looks at each of its yields instead: being scheduled costs a quarter of a
// timer. After a tick without a poller the thread arms the doorbell, for urgent
// work, or for any if goroutines or callbacks wait, and sleeps until it rings.
// attendant decides how it sleeps.
func (l *Loop) standIn() {
	defer close(l.stopped)
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("weft", "progress thread")))
	at := attendant{l: l, clock: procs.CPUTime, used: procs.CPUTime()}
	at.never = !l.threaded || errors.Is(l.dom.Sleep(time.Nanosecond), fabric.ErrUnsupported)
	for next := l.tick; ; {
		err := at.sleep(next)
		if err != nil && !errors.Is(err, fabric.ErrClosed) {
			l.log.Error("the progress thread ends", "err", err)
		}
		if err != nil || l.life.Load() == closed {
			return
		}
		slept := next != again
		if next = l.tick; l.Enter() {
			l.owned.calm(slept)
			computes := at.computes()
			next = l.tend()
			l.Leave()
			l.late()
			if computes {
				at.attend()
			}
			at.looked()
		}
	}
}

// stand is what the thread does in a look, and decides. rung means that it slept until
// the doorbell.
func (l *Loop) stand(rung bool) time.Duration {
	if l.parked.first() == nil || l.poller != nil {
		if !rung && l.seen != l.visits() && (l.poller != nil || !l.attended.Load()) {
			if l.poller != nil && l.oneProc && l.yieldEvery <= yieldPasses && !l.oversubscribed {
				return again
			}
			return l.tick // a waiter polled within the tick
		}
		if !l.threaded && l.poller == nil {
			l.bellHeard() // it may have rung: a waiter that parks next must not rely on it
			return untilBell
		}
	}
	l.bellHeard()
	found, busy := l.dry()
	if found || len(l.backlogged) == 0 {
		l.stuck = time.Time{}
	}
	if rung && l.attended.Load() && l.poller == nil {
		busy = !l.follow()
	}
	level := fabric.WakeUrgent
	if l.parked.first() != nil || l.goesOn() {
		level = fabric.WakeAll
	}
	switch {
	case busy:
		return again
	case rung && found && l.parked.first() != nil && !l.oversubscribed && !l.crowded:
		return l.tick // more may come soon: Leave lets a waiter poll for it
	case l.poller != nil, found && len(l.backlogged) > 0:
		return l.tick // meanwhile a waiter polls, if there is one
	case level == fabric.WakeUrgent && rung && !l.attended.Load():
		return l.tick // something for the application has completed; it may call
	}
	armed, quiet := l.lastLook(level)
	switch {
	case !armed:
		return l.tick
	case !quiet:
		return again // the pass may also have done what others had queued
	case len(l.backlogged) == 0:
		return untilBell
	case l.stuck.IsZero():
		l.stuck = time.Now()
	}
	return roomPause(time.Since(l.stuck), l.tick)
}

// goesOn reports whether something is to happen at this rank without a call of
// the program: callbacks, steps of operations or conditions wait.
func (l *Loop) goesOn() bool {
	return l.detachments > 0 || l.steps > 0 || l.watching.waiting.head != nil
}

// follow polls until nothing has come for a while, and reports whether it got
// that far: it stops early if others should run first.
func (l *Loop) follow() bool {
	for range maxFollow {
		for since := time.Now(); l.pass(burst) == 0; {
			if time.Since(since) > followUp {
				return true
			}
		}
	}
	return false
}

// dry makes passes until there is nothing left to do, or until others should run
// first: busy. It reports whether there was anything.
func (l *Loop) dry() (found, busy bool) {
	for range maxDry {
		if l.pass(burst) == 0 {
			return found, false
		}
		found = true
	}
	return true, true
}
