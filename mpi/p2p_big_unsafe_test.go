package mpi_test

import "unsafe"

// asShorts is b as elements of two bytes.
func asShorts(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}
