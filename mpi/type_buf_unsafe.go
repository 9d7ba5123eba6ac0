package mpi

import "unsafe"

// memoryOf is the memory of s, whose elements hold no pointers.
func memoryOf[T any](s []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(v))
}
