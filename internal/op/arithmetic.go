package op

import "math"

type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type integer interface {
	unsigned | int8 | int16 | int32 | int64
}

type float interface{ float32 | float64 }

// The loops are plain: the compiler removes their bounds checks, and unrolling
// them by four is slower for one element and gains nothing for float64.

// sum takes signed integers as unsigned ones: in two's complement the bits of the
// result are the same.
func sum[T unsigned | float | complex64 | complex128](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = a[i] + b[i]
	}
}

// prod takes signed integers as sum does.
func prod[T unsigned | float](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = a[i] * b[i]
	}
}

// product converts the products to float64, which forbids a fused multiply-add: that
// would round differently for swapped operands and on other processors.
func product(x, y complex128) complex128 {
	re := float64(real(x)*real(y)) - float64(imag(x)*imag(y))
	im := float64(real(x)*imag(y)) + float64(imag(x)*real(y))
	return complex(re, im)
}

func prodComplex64(lower, upper, to []byte) {
	a, b, c := elements[complex64](lower, upper, to)
	for i := range c {
		c[i] = complex64(product(complex128(a[i]), complex128(b[i])))
	}
}

func prodComplex128(lower, upper, to []byte) {
	a, b, c := elements[complex128](lower, upper, to)
	for i := range c {
		c[i] = product(a[i], b[i])
	}
}

func maxInt[T integer](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = max(a[i], b[i])
	}
}

func minInt[T integer](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = min(a[i], b[i])
	}
}

// Go's max and min give some NaN if an operand is one, and order −0 and +0. Which
// NaN depends on the processor and the order of operands, so canonical replaces it.

func canonical[T float](x T) T {
	if x != x {
		return T(math.NaN())
	}
	return x
}

func maxFloat[T float](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = canonical(max(a[i], b[i]))
	}
}

func minFloat[T float](lower, upper, to []byte) {
	a, b, c := elements[T](lower, upper, to)
	for i := range c {
		c[i] = canonical(min(a[i], b[i]))
	}
}
