package shm

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// residency says of each page of a mapped file whether it is in memory
// (mincore(2)).
func residency(t testing.TB, mem []byte) []byte {
	t.Helper()
	page := unix.Getpagesize()
	in := make([]byte, (len(mem)+page-1)/page)
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)), uintptr(unsafe.Pointer(&in[0])))
	if errno != 0 {
		t.Fatalf("mincore: %v", errno)
	}
	for i := range in {
		in[i] &= 1
	}
	return in
}
