package membar

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Commands of membarrier(2), linux/membarrier.h.
const (
	privateExpedited         = 1 << 3
	registerPrivateExpedited = 1 << 4
)

// CanProcess reports whether the kernel offers Process, and prepares it.
var CanProcess = sync.OnceValue(func() bool {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, registerPrivateExpedited, 0, 0)
	return errno == 0
})

// Process is a full fence in all threads of the process, those that do not run
// included. It is called after CanProcess has returned true.
func Process() { unix.RawSyscall(unix.SYS_MEMBARRIER, privateExpedited, 0, 0) }

// Fence keeps the stores before it ahead of the loads behind it.
func Fence() {
	var w uint32
	atomic.AddUint32(&w, 0)
}
