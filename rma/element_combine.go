package rma

import (
	"math"

	ops "github.com/weft-mpi/weft/internal/op"
)

// combineBits combines the bits of two elements of up to eight bytes. It is not for
// Replace, which keeps the bits of a signaling NaN.
func combineBits(c ops.Code, k ops.Kind, a, b uint64) uint64 {
	switch k {
	case ops.Bool, ops.Uint8:
		return uint64(ops.Int(c, uint8(a), uint8(b)))
	case ops.Int8:
		return uint64(uint8(ops.Int(c, int8(a), int8(b))))
	case ops.Uint16:
		return uint64(ops.Int(c, uint16(a), uint16(b)))
	case ops.Int16:
		return uint64(uint16(ops.Int(c, int16(a), int16(b))))
	case ops.Uint32:
		return uint64(ops.Int(c, uint32(a), uint32(b)))
	case ops.Int32:
		return uint64(uint32(ops.Int(c, int32(a), int32(b))))
	case ops.Uint64:
		return ops.Int(c, a, b)
	case ops.Int64:
		return uint64(ops.Int(c, int64(a), int64(b)))
	case ops.Float32:
		return uint64(math.Float32bits(ops.Float(c, math.Float32frombits(uint32(a)), math.Float32frombits(uint32(b)))))
	case ops.Float64:
		return math.Float64bits(ops.Float(c, math.Float64frombits(a), math.Float64frombits(b)))
	case ops.Complex64:
		return bitsOf(ops.Complex(c, complexOf(a), complexOf(b)))
	}
	return a
}

// complexOf is a number from its memory as a word, and bitsOf the word.

func complexOf(v uint64) complex64 {
	re, im := uint32(v), uint32(v>>32)
	if bigEndian {
		re, im = im, re
	}
	return complex(math.Float32frombits(re), math.Float32frombits(im))
}

func bitsOf(z complex64) uint64 {
	low, high := math.Float32bits(real(z)), math.Float32bits(imag(z))
	if bigEndian {
		low, high = high, low
	}
	return uint64(low) | uint64(high)<<32
}

// combineComplex sets a to a ⊕ b, for the memory of two complex128.
func combineComplex(c ops.Code, a, b []byte) {
	part := func(b []byte) float64 { return math.Float64frombits(getWord[uint64](b)) }
	z := ops.Complex(c, complex(part(a), part(a[8:])), complex(part(b), part(b[8:])))
	putWord(a, math.Float64bits(real(z)))
	putWord(a[8:], math.Float64bits(imag(z)))
}
