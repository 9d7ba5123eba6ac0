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

// pairs is the memory of operands that are pairs, and how many all three have.
func pairs[V, I Scalar](lower, upper, to []byte) (a, b, c unsafe.Pointer, n int) {
	n = min(len(lower), len(upper), len(to)) / (sizeOf[V]() + sizeOf[I]())
	return unsafe.Pointer(unsafe.SliceData(lower)), unsafe.Pointer(unsafe.SliceData(upper)), unsafe.Pointer(unsafe.SliceData(to)), n
}

// pair is pair k from p on, where no alignment is known of.
func pair[V, I Scalar](p unsafe.Pointer, k int) (v V, i I) {
	p = unsafe.Add(p, k*(sizeOf[V]()+sizeOf[I]()))
	return *(*V)(p), *(*I)(unsafe.Add(p, sizeOf[V]()))
}

// setPair sets pair k.
func setPair[V, I Scalar](p unsafe.Pointer, k int, v V, i I) {
	p = unsafe.Add(p, k*(sizeOf[V]()+sizeOf[I]()))
	*(*V)(p), *(*I)(unsafe.Add(p, sizeOf[V]())) = v, i
}

// pairBits are the bytes of pair k.
func pairBits[V, I Scalar](p unsafe.Pointer, k int) []byte {
	size := sizeOf[V]() + sizeOf[I]()
	return unsafe.Slice((*byte)(unsafe.Add(p, k*size)), size)
}
