package launch

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// signalsKey marks the contexts of WithSignals.
type signalsKey struct{}

// jobControl passes SIGTSTP, SIGCONT and what is passed on to the ranks: they lead
// process groups of their own, so Ctrl-Z at the terminal and the shell's fg reach the
// launcher only, and so does what a batch system announces.
type jobControl struct {
	got chan os.Signal // nil if they are not followed
}

// passed are the signals that have a meaning for the program only.
var passed = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2}

// pending is room for one signal of each kind, twice: the kernel and the runtime keep no
// more.
const pending = 8

// followJobControl begins to catch the signals if ctx comes from WithSignals, but
// SIGTSTP and SIGCONT not in a process that was started to ignore the first.
func followJobControl(ctx context.Context) *jobControl {
	if ctx.Value(signalsKey{}) == nil {
		return &jobControl{}
	}
	j := &jobControl{got: make(chan os.Signal, pending)}
	signal.Notify(j.got, passed...)
	if !signal.Ignored(syscall.SIGTSTP) {
		signal.Notify(j.got, syscall.SIGTSTP, syscall.SIGCONT)
	}
	return j
}

// leave restores the former handling of the signals.
func (j *jobControl) leave() {
	if j.got != nil {
		signal.Stop(j.got)
	}
}

// follow stops and continues the ranks with the launcher, and passes other signals on.
func follow(ranks troop, s os.Signal, grace *graceTimer) {
	if s != syscall.SIGTSTP {
		ranks.send(s.(syscall.Signal))
		if s == syscall.SIGCONT {
			grace.resume()
		}
		return
	}
	// The launcher has caught SIGTSTP, so the signal has not stopped it.
	// SIGSTOP can't be caught, not by the ranks either. Threads may run on
	// until the kernel has stopped the last one; SIGCONT says that the stop is
	// over.
	ranks.send(unix.SIGSTOP)
	grace.pause()
	unix.Kill(os.Getpid(), unix.SIGSTOP)
}

// graceTimer is a timer that does not count the time while it is paused. One
// goroutine uses it.
type graceTimer struct {
	timer  *time.Timer
	end    time.Time     // while it runs
	left   time.Duration // while it is paused
	armed  bool
	paused bool
}

func newGraceTimer() *graceTimer {
	g := &graceTimer{timer: time.NewTimer(0)}
	g.timer.Stop()
	return g
}

// reset lets the timer fire after d.
func (g *graceTimer) reset(d time.Duration) {
	g.armed = true
	if g.left = d; g.paused {
		return
	}
	g.end = time.Now().Add(d)
	g.timer.Reset(d)
}

func (g *graceTimer) pause() {
	if g.paused {
		return
	}
	g.paused = true
	if g.armed {
		g.left = time.Until(g.end)
		g.timer.Stop()
	}
}

func (g *graceTimer) resume() {
	if !g.paused {
		return
	}
	g.paused = false
	if g.armed {
		g.reset(g.left)
	}
}
