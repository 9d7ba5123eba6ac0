package progress

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/procs"
)

// An application that computes in Go without a call holds its processor (P) for
// ten milliseconds at a time: where it is the only one, as in a rank bound to a
// core, a goroutine that the doorbell has made ready waits for so long. So once a
// rank is seen to compute, its progress thread becomes an OS thread that sleeps
// in the kernel, and the process gets processors for it to come back to. The
// kernel's scheduler then runs it as soon as the doorbell rings, on the same core
// if need be. A rank that only communicates keeps the processors it has: goroutines
// that wait in turn hand the core over without the kernel.

// attendant is how the progress thread sleeps. It is the thread's own.
type attendant struct {
	l     *Loop         // whose attended says that the thread sleeps in the kernel
	never bool          // the fabric has no such sleep, or the user wants no thread
	used  time.Duration // by the process, after the last look
	row   int           // of looks at which the application may have computed

	scheduled time.Time // when it last went through the runtime's scheduler, once it sleeps in the kernel
}

// begin looks whether there is a choice.
func (a *attendant) begin() {
	a.used = processTime()
	a.never = !a.l.threaded || errors.Is(a.l.dom.Sleep(time.Nanosecond), fabric.ErrUnsupported)
}

// sleep waits for the doorbell, or for timeout unless that is 0.
func (a *attendant) sleep(timeout time.Duration) error {
	// With one processor a thread in the kernel would hold it for a while.
	if !a.l.attended.Load() || runtime.GOMAXPROCS(0) <= 1 {
		return a.l.dom.Wait(timeout)
	}
	if now := time.Now(); now.Sub(a.scheduled) >= scheduleEvery {
		a.scheduled = now
		runtime.Gosched()
	}
	return a.l.dom.Sleep(timeout)
}

// pause lets others run. Where the thread sleeps in the kernel, the kernel shares
// the core out.
func (a *attendant) pause() {
	if !a.l.attended.Load() {
		runtime.Gosched()
	}
}

// computes reports, at a look, whether the application computes. The caller is
// the owner.
func (a *attendant) computes() bool {
	l := a.l
	switch {
	case a.never || l.attended.Load():
		return false
	case l.poller != nil:
		a.row = 0
		return false
	case processTime()-a.used < computing:
		return false
	case l.passes-l.seen >= fewPasses:
		a.row = 0
		return false
	case l.passes != l.seen:
		a.row++
		return a.row == computingRow
	}
	return true
}

// looked ends a look: what the thread itself has used in it is not the
// application's.
func (a *attendant) looked() {
	if !a.never && !a.l.attended.Load() {
		a.used = processTime()
	}
}

// attend moves the sleep into the kernel.
func (a *attendant) attend() {
	if !procs.Add(spareProcs) {
		a.never = true
		return
	}
	wakePromptly()
	a.l.attended.Store(true)
	for _, d := range a.l.more {
		d.Wake() // its bell's goroutine does the same
	}
}

// A thread that wakes up preempts the one that runs at once if it would be
// through sooner (EEVDF: PREEMPT_SHORT and the earlier virtual deadline), and
// waits for a tick of the kernel otherwise, some milliseconds. So the thread asks
// for the shortest slice there is (sched_setattr(2), Linux 6.12), and for a
// higher priority, which only some users are granted (RLIMIT_NICE): without it one
// ring in ten waits.

// wakePromptly locks the goroutine to its thread and asks for both. It does
// without what the kernel does not know or grant.
func wakePromptly() {
	runtime.LockOSThread()
	unix.Setpriority(unix.PRIO_PROCESS, 0, threadNice)
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil && attr.Policy == unix.SCHED_NORMAL {
		attr.Runtime = uint64(threadSlice)
		unix.SchedSetAttr(0, attr, 0)
	}
}

// processTime is the processor time that the process has used.
func processTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
