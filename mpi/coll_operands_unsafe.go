package mpi

import "unsafe"

// inPlace is where the slices of InPlace begin. It suits every element.
var inPlace complex128

// InPlace stands for a buffer of a collective call (MPI_IN_PLACE, MPI-4.0 §6.2.1):
// the rank's input is in the other buffer, where the result comes. Each call says
// where it may. It is a slice of no elements, told from others by where it is.
// Local.
func InPlace[T Scalar]() []T { return unsafe.Slice((*T)(unsafe.Pointer(&inPlace)), 0) }

// isInPlace reports whether s is InPlace's.
func isInPlace[T Scalar](s []T) bool {
	return unsafe.Pointer(unsafe.SliceData(s)) == unsafe.Pointer(&inPlace)
}

// overlap reports whether a and b have memory in common.
func overlap(a, b []byte) bool {
	at, bt := addressOf(a), addressOf(b)
	return at < bt+uintptr(len(b)) && bt < at+uintptr(len(a)) && len(a) > 0 && len(b) > 0
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
