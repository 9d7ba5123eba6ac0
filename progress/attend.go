package progress

import (
	"runtime"
	"time"

	"github.com/weft-mpi/weft/internal/procs"
)

// A goroutine that computes in Go without a call holds its processor (P) for up
// to ten milliseconds. Where it is the only P, as in a rank bound to a core, a
// goroutine that the doorbell has made ready waits for that long. So once a rank
// is seen to compute, its progress thread becomes an OS thread that sleeps in
// the kernel, and the process gets more processors for it to return to. The
// kernel's scheduler then runs it as soon as the doorbell rings, on the same
// core if need be. A rank that only communicates keeps the processors it has:
// its waiting goroutines hand the core over without the kernel.

// attendant decides how the progress thread sleeps. It belongs to the thread.
type attendant struct {
	l      *Loop                // whose attended says that the thread sleeps in the kernel
	never  bool                 // the fabric has no such sleep, or the user wants no thread
	clock  func() time.Duration // procs.CPUTime; a test has its own
	used   time.Duration        // by the process, after the last look
	row    int                  // of looks at which the application may have computed
	late   int                  // looks that came late, as the application had the processor
	timely int                  // looks in time since the last of them

	scheduled time.Time // when it last went through the runtime's scheduler, once it sleeps in the kernel
}

// sleep waits for the doorbell, or for timeout. Only with again it does not: others
// run, unless the thread sleeps in the kernel, which shares the core.
func (a *attendant) sleep(timeout time.Duration) error {
	attended := a.l.attended.Load()
	switch timeout {
	case again:
		if !attended {
			runtime.Gosched()
		}
		return nil
	case untilBell:
		timeout = 0 // for a domain
	}
	// With one processor a thread in the kernel would hold that for a while.
	if !attended || runtime.GOMAXPROCS(0) <= 1 {
		begun, used := time.Now(), a.used
		err := a.l.dom.Wait(timeout)
		if timeout > 0 && !a.never {
			a.ticked(time.Since(begun) >= timeout+computing && a.clock()-used >= computing)
		}
		return err
	}
	if now := time.Now(); now.Sub(a.scheduled) >= scheduleEvery {
		a.scheduled = now
		runtime.Gosched()
	}
	return a.l.dom.Sleep(timeout)
}

// computes reports, at one of the thread's checks, whether the application
// computes. For the owner.
func (a *attendant) computes() bool {
	l := a.l
	switch {
	case a.never || l.attended.Load():
		return false
	case a.late >= computingRow:
		return true
	case l.poller != nil:
		a.row = 0
		return false
	case a.clock()-a.used < computing:
		return false
	case l.visits()-l.seen >= fewPasses:
		a.row = 0
		return false
	case l.visits() != l.seen:
		a.row++
		return a.row == computingRow
	}
	return true
}

// ticked counts a look that was to come after a time.
func (a *attendant) ticked(late bool) {
	if late {
		a.late++
		a.timely = 0
	} else if a.timely++; a.timely >= forgetLate {
		a.late = 0
	}
}

// looked ends a check: time that the thread itself has used in it is not the
// application's.
func (a *attendant) looked() {
	if !a.never && !a.l.attended.Load() {
		a.used = a.clock()
	}
}

// attend moves the sleep into the kernel.
func (a *attendant) attend() {
	if !procs.Add(spareProcs) {
		a.never = true
		return
	}
	procs.WakePromptly(threadNice, threadSlice)
	a.l.attended.Store(true)
	for _, d := range a.l.doms[1:] {
		d.Wake() // its bell's goroutine does the same
	}
}
