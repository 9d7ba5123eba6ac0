package op

import "sync"

// Of returns an operator of the user's from a function of two elements (MPI_Op_create,
// MPI-4.0 §6.9.5): lower is of lower ranks, upper of upper ranks. f has to be
// associative; commutes promises that it gives the same for swapped operands, too.
//
// The function may block and is called by several goroutines at once if the
// operator is in use by several operations. It may not call collectives. After a
// panic the contents of the result are undefined.
//
// The operator fits the kind of T, so those of all types of that kind.
func Of[T Scalar](name string, commutes bool, f func(lower, upper T) T) *Op {
	k := KindOf[T]()
	if f == nil {
		return New(name, k, commutes, nil)
	}
	return New(name, k, commutes, func(lower, upper, to []byte) {
		a, b, c := elements[T](lower, upper, to)
		for i := range c {
			c[i] = f(a[i], b[i])
		}
	})
}

// Vector returns an operator of the user's from a function of slices, which is
// MPI's form (MPI_User_function, MPI-4.0 §6.9.5): f sets inout[i] = in[i] ⊕ inout[i],
// where in is of lower ranks, for all elements of two slices of equal length above
// zero. For f the same holds as with [Of].
//
// f may read in and write inout until it returns, and keeps neither. in may be the
// buffer of a send and is not to be written. The slices of a call may be any part
// of the user's: an element depends on the two with its index only.
func Vector[T Scalar](name string, commutes bool, f func(in, inout []T)) *Op {
	k := KindOf[T]()
	if f == nil {
		return New(name, k, commutes, nil)
	}
	return New(name, k, commutes, func(lower, upper, to []byte) {
		a, b, c := elements[T](lower, upper, to)
		switch {
		case len(c) == 0:
		case &c[0] == &a[0]:
			intoLower(a, b, f)
		case &c[0] == &b[0]:
			f(a, c)
		default:
			copy(c, b)
			f(a, c)
		}
	})
}

// block holds a part of an operand. It has no pointers and suits all elements.
type block [4096]uint64

var blocks = sync.Pool{New: func() any { return new(block) }}

// intoLower leaves the result in the lower operand. f writes over its upper one,
// which is to be kept: so it gets a copy, block by block. Swapping the operands of
// a function that commutes would save the copies, but would also leave it to f
// whether all ranks get the same bits. A block is not used again after a panic.
func intoLower[T Scalar](lower, upper []T, f func(in, inout []T)) {
	b := blocks.Get().(*block)
	scratch := of[T](b)
	for len(lower) > 0 {
		n := copy(scratch, upper)
		f(lower[:n:n], scratch[:n:n])
		copy(lower, scratch[:n])
		lower, upper = lower[n:], upper[n:]
	}
	blocks.Put(b)
}
