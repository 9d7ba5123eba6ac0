package op

import "unsafe"

// elements is the memory of a Func's operands as elements. All three results have
// the length of the shortest, so that one comparison bounds a loop over them. They
// end at their capacity: a user's append does not reach into memory behind them.
// Operands shorter than an element are none, and need not be memory for one.
func elements[T any](lower, upper, to []byte) (a, b, c []T) {
	var v T
	n := min(len(lower), len(upper), len(to)) / int(unsafe.Sizeof(v))
	if n == 0 {
		return nil, nil, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(lower))), n),
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(upper))), n),
		unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(to))), n)
}

// sizeOf is the length of an element in bytes: a power of two.
func sizeOf[T Scalar]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// of is a block as elements.
func of[T Scalar](b *block) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(b)), int(unsafe.Sizeof(*b))/sizeOf[T]())
}

// load is the element at the beginning of b, which need not be aligned for it.
func load[T Scalar](b []byte) (v T) {
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)), b)
	return v
}
