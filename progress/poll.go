package progress

import (
	"runtime"
	"time"
)

// pollBudget decides how long polling in vain goes on. Waits that ended parked
// make the next budget shorter, one that ended in time, or soon after, makes it
// whole again.
type pollBudget struct {
	whole  time.Duration
	misses uint
}

func (b *pollBudget) init(shared bool) {
	b.whole = pollDedicated
	if shared {
		b.whole = pollShared
	}
}

// woke takes how long a waiter was parked that had polled in vain. One that parks
// for no longer than it polls had better polled on: to park and wake is dear.
func (b *pollBudget) woke(slept time.Duration) {
	if slept < 2*b.whole {
		b.misses = 0
	}
}

func (b *pollBudget) left() time.Duration { return b.whole >> min(b.misses, 2) }

// poll passes until the waiter's requests have ended, or in vain for so long that
// it should park, or until another waiter polls instead, or it has a function to
// run. The caller is the owner before and after.
func (l *Loop) poll(w *Waiter) bool {
	if l.bell != bellOff || l.thread == asleep {
		l.disarm()
	}
	idle := 0
	var start time.Time
	for w.need > 0 {
		// No more messages than can end the wait: to look at the line behind the
		// last one would be to wait for it to come from the other core.
		if l.pass(min(w.need, burst)) > 0 {
			idle, start = 0, time.Time{}
			if l.passes%expiryPasses == 0 && w.expired() {
				l.withdraw(w)
			}
			if l.woke || l.passes-l.yielded > l.yieldEvery {
				l.woke = false
				l.pace()
				if l.yield(); l.poller != w || l.asked(w) != nil {
					break
				}
			}
			continue
		}
		if idle++; idle&(l.checkEvery-1) != 0 {
			continue
		}
		// In a crowd it is a goroutine of this process that is to send: it is let
		// run at once, and to give the core away would stop it.
		if l.oversubscribed && !l.crowded {
			yieldCore()
		}
		if idle&(4*l.checkEvery-1) != 0 && !l.crowded {
			continue
		}
		if start.IsZero() {
			start = time.Now()
		} else if time.Since(start) > l.budget.left() {
			l.budget.misses++
			return false
		}
		if w.expired() {
			l.withdraw(w)
		}
		if l.yield(); l.poller != w || l.asked(w) != nil {
			break
		}
	}
	if w.need > 0 {
		return false
	}
	l.budget.misses = 0
	return true
}

// pace sets how many passes go between two yields: the runtime's monitor looks
// every ten milliseconds, and interrupts by a signal a goroutine that the scheduler
// has not run anew since, which costs several times as much.
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
	runtime.Gosched()
	l.reenter()
}
