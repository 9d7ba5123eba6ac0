package mpi

import "unsafe"

// Scalar is the set of element types that can be sent: fixed-size values
// without pointers. A type that holds pointers does not compile.
type Scalar interface {
	~bool | ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 |
		~int | ~uint | ~float32 | ~float64 | ~complex64 | ~complex128
}

// bytesOf is the memory of s.
func bytesOf[T Scalar](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*sizeOf[T]())
}

func sizeOf[T Scalar]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// ofBytes is b as elements; b is aligned and a whole number of them long.
func ofBytes[T Scalar](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[T]())
}

// oneOf is the memory of one element.
func oneOf[T Scalar](v *T) []byte { return bytesOf(unsafe.Slice(v, 1)) }
