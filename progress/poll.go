package progress

import (
	"runtime"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

const (
	// burst is how many messages one pass takes at most.
	burst = 64
	// A poller looks after so many passes in vain at the clock, the contexts and
	// the other goroutines: seldom with a core to itself, nearly at once where
	// the message it waits for may need the core to be sent. Powers of two.
	lookDedicated = 64
	lookShared    = 1
	// watchPasses is after how many passes a poller looks at its contexts while
	// messages come.
	watchPasses = 256
	// lookLinger is how many passes of a domain that lingers a short wait takes.
	lookLinger = 8
	// yieldPasses is after how many passes, at most, a poller yields that is never
	// in vain for long, where a domain lingers; yieldAfter is how long that is to
	// take, see pace.
	yieldPasses = 512
	yieldAfter  = 8 * time.Millisecond
	// spinDedicated is how long a waiter with a core to itself polls before it
	// sleeps; spinShared the same where ranks share cores and it gives the core
	// away at every look.
	spinDedicated = 250 * time.Microsecond
	spinShared    = 400 * time.Microsecond
)

// spinner decides how long polling in vain goes on. Waits that ended asleep
// make the next spin shorter, one that ended in time, or soon after, makes it
// whole again.
type spinner struct {
	whole  time.Duration
	misses uint
}

func (s *spinner) init(shared bool) {
	s.whole = spinDedicated
	if shared {
		s.whole = spinShared
	}
}

// woke takes how long a waiter slept that had polled in vain. Who sleeps for no
// longer than it polls would rather have polled on: to sleep and wake is dear.
func (s *spinner) woke(slept time.Duration) {
	if slept < 2*s.whole {
		s.misses = 0
	}
}

func (s *spinner) budget() time.Duration { return s.whole >> min(s.misses, 2) }

// poll turns the loop until the waiter's requests have ended, or in vain for
// so long that it should sleep, or until another waiter has taken over. The
// caller is the owner before and after.
func (l *Loop) poll(w *Waiter) bool {
	if l.armed != 0 || l.asleep {
		l.disarm()
	}
	idle := 0
	var start time.Time
	for w.need > 0 {
		// No more messages than can end the wait: to look at the line behind the
		// last one would be to wait for it to come from the other core.
		if l.pass(min(w.need, burst)) > 0 {
			idle, start = 0, time.Time{}
			if l.passes%watchPasses == 0 && w.expired() {
				l.withdraw(w)
			}
			if l.woke || l.passes-l.yielded > l.turns {
				l.woke = false
				l.pace()
				if l.yield(); l.poller != w {
					break
				}
			}
			continue
		}
		if idle++; idle&(l.look-1) != 0 {
			continue
		}
		// In a crowd it is a goroutine of this process that is to send: it is let
		// run at once, and to give the core away would stop it.
		if l.oversubscribed && !l.crowded {
			yieldCore()
		}
		if idle&(4*l.look-1) != 0 && !l.crowded {
			continue
		}
		if start.IsZero() {
			start = time.Now()
		} else if time.Since(start) > l.spin.budget() {
			l.spin.misses++
			return false
		}
		if w.expired() {
			l.withdraw(w)
		}
		if l.yield(); l.poller != w {
			break
		}
	}
	if w.need > 0 {
		return false
	}
	l.spin.misses = 0
	return true
}

// pace sets how many passes go between two yields: the runtime's monitor looks
// every ten milliseconds, and interrupts a goroutine that has had no turn of the
// scheduler since by a signal, which costs several times as much.
func (l *Loop) pace() {
	if passes := l.passes - l.yielded; passes > l.turns {
		spent := max(time.Since(l.paced), 1)
		l.turns = min(max(passes*uint64(yieldAfter)/uint64(spent), yieldPasses/32), yieldPasses)
	}
}

// yield lets other goroutines have the processor, and the loop with it.
func (l *Loop) yield() {
	l.yielded = l.passes
	if l.turns <= yieldPasses {
		l.paced = time.Now()
	}
	l.letGo()
	runtime.Gosched()
	l.reenter()
}

// reenter makes the poller the owner again. Whoever has the word lets go of it
// soon.
func (l *Loop) reenter() {
	for i := 1; !l.Enter(); i++ {
		runtime.Gosched()
		if i%16 == 0 {
			yieldCore()
		}
	}
}

// arm asks for the doorbell for anything. Where that fails nobody may sleep:
// the waiter is made to poll by handOver.
func (l *Loop) arm() bool {
	if err := l.armAll(fabric.WakeAll); err != nil {
		l.log.Error("the doorbell can't be armed; waiting burns a core", "err", err)
		l.armed = 0
		return false
	}
	l.armed = fabric.WakeAll
	return true
}

// disarm ends the doorbell because somebody polls. The thread, if it sleeps
// without a timeout, goes back to looking whether somebody still does.
func (l *Loop) disarm() {
	l.armed = 0
	l.disarmAll()
	l.Rouse()
}
