package op_test

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/op"
)

// aligned is n bytes aligned for all elements.
func aligned(n int) []byte {
	words := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))[:n:n]
}

// bytesOf is the memory of s.
func bytesOf[T op.Scalar](s []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(v)))
}
