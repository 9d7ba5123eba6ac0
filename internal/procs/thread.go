package procs

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// A woken thread preempts the running one at once only if it would finish sooner
// (EEVDF: PREEMPT_SHORT and the earlier virtual deadline). Otherwise it waits
// for a tick of the kernel, some milliseconds. So such a thread asks for the
// shortest slice there is (sched_setattr(2), Linux 6.12) and for a higher
// priority, which only some users are permitted (RLIMIT_NICE). Without the
// priority one wake-up in ten waits.

// WakePromptly locks the goroutine to its thread and asks for both. It ignores
// what the kernel does not know or permit.
func WakePromptly(nice int, slice time.Duration) {
	runtime.LockOSThread()
	unix.Setpriority(unix.PRIO_PROCESS, 0, nice)
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil && attr.Policy == unix.SCHED_NORMAL {
		attr.Runtime = uint64(slice)
		unix.SchedSetAttr(0, attr, 0)
	}
}

// CPUTime is the processor time that the process has used.
func CPUTime() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
