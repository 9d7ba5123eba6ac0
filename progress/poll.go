package progress

import (
	"runtime"
	"time"

	"github.com/weft-mpi/weft/internal/procs"
	"github.com/weft-mpi/weft/internal/timeline"
)

// pollBudget decides how long polling without result continues. Waits that
// parked make the next budget shorter. One that completed in time, or soon
// after, restores it.
type pollBudget struct {
	whole  time.Duration
	misses uint
}

// woke takes how long a waiter was parked after it had polled. One that parks
// for no longer than it polls should have polled on: parking and waking is
// expensive.
func (b *pollBudget) woke(slept time.Duration) {
	if slept < 2*b.whole {
		b.misses = 0
	}
}

func (b *pollBudget) left() time.Duration { return b.whole >> min(b.misses, 2) }

// poll makes passes until the waiter's requests have completed, until it has
// polled long enough without result to park, or until another waiter polls instead.
// The caller is the owner before and after.
func (l *Loop) poll(w *Waiter) bool {
	if l.bell != bellOff || l.timeout == untilBell {
		l.disarm()
	}
	idle := 0
	var start time.Time
	for w.need > 0 {
		// A pass takes no more messages than can complete the wait: to load the
		// line behind the last one is to wait for it to come from the other
		// core.
		if l.pass(min(w.need, burst)) > 0 {
			idle, start = 0, time.Time{}
			if l.woke || l.passes-l.yielded > l.yieldEvery {
				l.heedWoken()
				l.pace()
				if l.yield(); l.poller != w {
					break
				}
			}
			continue
		}
		if idle++; idle&(l.checkEvery-1) != 0 && !l.woke {
			continue
		}
		// In a crowd the sender is a goroutine of this process: let it run at
		// once. Giving the core away would stop it.
		if l.oversubscribed && !l.crowded {
			procs.YieldCore()
		}
		if idle&(4*l.checkEvery-1) != 0 && !l.crowded && !l.woke {
			continue
		}
		l.heedWoken()
		if start.IsZero() {
			start = time.Now()
		} else if time.Since(start) > l.budget.left() {
			l.budget.misses++
			return false
		}
		if l.yield(); l.poller != w {
			break
		}
	}
	if w.need > 0 {
		return false
	}
	l.budget.misses = 0
	return true
}

// pace sets the number of passes between two yields. The runtime's monitor
// checks every ten milliseconds, and interrupts by a signal a goroutine that has
// run without being rescheduled since, which costs several times as much as a
// yield.
func (l *Loop) pace() {
	if passes := l.passes - l.yielded; passes > l.yieldEvery {
		spent := max(time.Since(l.paced), 1)
		l.yieldEvery = min(max(passes*uint64(yieldAfter)/uint64(spent), yieldPasses/32), yieldPasses)
	}
}

// yield lets other goroutines have the processor, and the loop with it.
func (l *Loop) yield() {
	l.yielded = l.passes
	if l.yieldEvery <= yieldPasses {
		l.paced = time.Now()
	}
	l.letGo()
	l.giveWay()
	l.reenter()
}

// heedWoken has the next yield let a waiter run that has been woken.
func (l *Loop) heedWoken() {
	if l.woke {
		l.woke = false
		l.gaveWay.Store(0)
	}
}

// giveWay lets other goroutines run. Where the caller's is locked to its thread, that is two
// switches of threads and some microseconds, so it is done now and then only.
func (l *Loop) giveWay() {
	if l.locked {
		now := timeline.Now()
		if now-l.gaveWay.Load() < int64(lockedEvery) {
			return
		}
		l.gaveWay.Store(now)
	}
	runtime.Gosched()
}
