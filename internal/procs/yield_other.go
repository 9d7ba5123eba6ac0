//go:build !amd64

package procs

import "golang.org/x/sys/unix"

// YieldCore is sched_yield(2). It is bounded, so the Go scheduler need not know
// of it.
func YieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
