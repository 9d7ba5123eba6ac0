package progress

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// tick is how long the application may stay away from the engine before the
// progress thread stands in for it.
const tick = time.Millisecond

// thread is the progress thread. While somebody polls it only looks in at
// every tick. Once a tick goes by with nobody there, it arms the doorbell, for
// urgent work or, where goroutines wait, for any, and sleeps until it rings.
//
// It is a goroutine: a domain's Wait is a wait on the Go poller, the one place
// where the process sleeps, and holds neither a thread nor a processor.
func (l *Loop) thread() {
	defer close(l.stopped)
	timeout := tick
	for {
		if err := l.dom.Wait(timeout); err != nil {
			if !errors.Is(err, fabric.ErrClosed) {
				l.log.Error("the progress thread ends", "err", err)
			}
			return
		}
		if l.closed.Load() {
			return
		}
		timeout = tick
		if l.Enter() {
			if l.tend() {
				timeout = 0
			}
			l.Leave()
		}
	}
}

// tend does the thread's part as the owner and reports whether it may sleep
// until the doorbell rings.
func (l *Loop) tend() bool {
	rung := l.asleep
	l.asleep = false
	if l.parked.first() == nil || l.poller != nil {
		if !rung && l.seen != l.passes {
			l.seen = l.passes
			return false // somebody was there within the tick
		}
		if !l.threaded && l.poller == nil {
			l.asleep = true
			return true
		}
	}
	l.armed = 0 // a ring has cleared the word that peers read
	l.dry()
	if l.poller != nil || len(l.backlogged) > 0 {
		l.seen = l.passes
		return false
	}
	level := fabric.WakeUrgent
	if l.parked.first() != nil {
		level = fabric.WakeAll
	} else if rung {
		// The application has been given something; it may come.
		l.seen = l.passes
		return false
	}
	if err := l.dom.Arm(level); err != nil {
		l.log.Error("the doorbell can't be armed", "err", err)
		return false
	}
	l.armed = level
	l.dry()
	if level == fabric.WakeAll && l.parked.first() == nil || len(l.backlogged) > 0 {
		l.seen = l.passes
		return false
	}
	l.asleep = true
	return true
}

// dry passes until there is nothing left to do.
func (l *Loop) dry() {
	for l.pass() > 0 {
	}
}
