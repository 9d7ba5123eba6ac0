package mpi

import "unsafe"

// inMemory is b, a whole number of elements, as those: nil if it is not aligned for them.
func inMemory[T any](b []byte) []T {
	var v T
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(v) != 0 {
		return nil
	}
	return unsafe.Slice((*T)(p), len(b)/int(unsafe.Sizeof(v)))
}
