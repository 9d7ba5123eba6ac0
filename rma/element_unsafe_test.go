package rma

import "unsafe"

// alignedBytes are n bytes aligned for all elements.
func alignedBytes(n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]complex128, n/16+1)))), n)
}
