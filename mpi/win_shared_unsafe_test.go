package mpi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

// shared is a variable that all ranks of a test see, be they goroutines or
// processes. T holds atomics only. The ranks that are processes make the same
// shared variables in the same order.
func shared[T any]() *T {
	if team == nil {
		return new(T)
	}
	var v T
	at := team.used
	team.used += int(unsafe.Sizeof(v)+63) &^ 63
	return (*T)(unsafe.Pointer(&team.memory[at:team.used:team.used][0]))
}

// sharedBytes is enough for what the tests share.
const sharedBytes = 1 << 20

// mapShared maps the file that a job's processes share.
func mapShared(dir string) ([]byte, error) {
	f, err := os.OpenFile(filepath.Join(dir, "shared"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(sharedBytes); err != nil {
		return nil, err
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, sharedBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return b, nil
}
