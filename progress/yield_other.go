//go:build !amd64

package progress

import "golang.org/x/sys/unix"

// yieldCore is sched_yield(2). It is bounded, so the Go scheduler need not know
// of it.
func yieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
