//go:build !amd64

package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawCMA is process_vm_readv(2) or process_vm_writev(2) with one range on each
// side. It returns what the kernel does: bytes, or minus the errno. It bypasses
// the scheduler.
func rawCMA(call, thread uintptr, local, remote *[2]uint64) int {
	n, _, errno := unix.RawSyscall6(call, thread,
		uintptr(unsafe.Pointer(local)), 1, uintptr(unsafe.Pointer(remote)), 1, 0)
	if errno != 0 {
		return -int(errno)
	}
	return int(n)
}
