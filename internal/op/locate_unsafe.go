package op

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// MinLoc and MaxLoc (MPI-4.0 §6.9.4) are for pairs of a value and an index, as they are
// sent: without padding, so that they may have any address. The result is one of the
// operands: that with the smaller or the larger value, and of equal values that with the
// lower index. As with Min and Max NaN wins; −0 equals +0. Where that decides nothing
// the bits do, so that the two commute bit by bit.
var (
	MinLoc = predefined("MinLoc", CodeMinLoc, table{
		FloatInt: minLoc[float32, int32], DoubleInt: minLoc[float64, int32], TwoFloat: minLoc[float32, float32], TwoDouble: minLoc[float64, float64],
		LongInt: minLocWhole[int64], TwoInt: minLocWords, ShortInt: minLocWhole[int16]})

	MaxLoc = predefined("MaxLoc", CodeMaxLoc, table{
		FloatInt: maxLoc[float32, int32], DoubleInt: maxLoc[float64, int32], TwoFloat: maxLoc[float32, float32], TwoDouble: maxLoc[float64, float64],
		LongInt: maxLocWhole[int64], TwoInt: maxLocWords, ShortInt: maxLocWhole[int16]})
)

type signed interface{ int16 | int64 }

type index interface{ int32 | float }

func minLoc[V float, I index](lower, upper, to []byte) { locate[V, I](lower, upper, to, false) }

func maxLoc[V float, I index](lower, upper, to []byte) { locate[V, I](lower, upper, to, true) }

func minLocWhole[V signed](lower, upper, to []byte) { locateWhole[V](lower, upper, to, false) }

func maxLocWhole[V signed](lower, upper, to []byte) { locateWhole[V](lower, upper, to, true) }

// locateWhole is locate for pairs of integers: those that are equal have the same bits.
// Where data are random, branches would cost more than all else; the compiler makes none
// here.
func locateWhole[V signed](lower, upper, to []byte, larger bool) {
	x, y, z, n := pairs[V, int32](lower, upper, to)
	for k := range n {
		a, i := pair[V, int32](x, k)
		b, j := pair[V, int32](y, k)
		takes := a < b == larger
		if a == b {
			takes = j < i
		}
		if takes {
			a, i = b, j
		}
		setPair(z, k, a, i)
	}
}

func minLocWords(lower, upper, to []byte) { locateWords(lower, upper, to, -1<<31-1) }

func maxLocWords(lower, upper, to []byte) { locateWords(lower, upper, to, 1<<31-1) }

// locateWords is locate for pairs of two int32. As numbers of 64 bits with the value above
// the index, flipped by a mask, the pair that is taken is the larger one.
func locateWords(lower, upper, to []byte, mask int64) {
	x, y, z, n := pairs[int32, int32](lower, upper, to)
	turn := 32
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		turn = 0
	}
	for k := range n {
		v, w := *(*uint64)(unsafe.Add(x, 8*k)), *(*uint64)(unsafe.Add(y, 8*k))
		if int64(bits.RotateLeft64(w, turn))^mask > int64(bits.RotateLeft64(v, turn))^mask {
			v = w
		}
		*(*uint64)(unsafe.Add(z, 8*k)) = v
	}
}

// locate takes the upper operand where its value is the larger one (or the smaller one).
func locate[V float, I index](lower, upper, to []byte, larger bool) {
	x, y, z, n := pairs[V, I](lower, upper, to)
	for k := range n {
		a, i := pair[V, I](x, k)
		b, j := pair[V, I](y, k)
		var takes bool
		switch {
		case a < b:
			takes = larger
		case a > b:
			takes = !larger
		case a != b:
			takes = decides[V, I](x, y, k)
		case i < j:
		case j < i:
			takes = true
		case i != j || a == 0 || i == 0: // equal numbers other than 0 have the same bits
			takes = decides[V, I](x, y, k)
		}
		if takes {
			a, i = b, j
		}
		setPair(z, k, a, i)
	}
}

// decides reports whether the upper one of two pairs is taken that have equal values and
// indices, or NaN somewhere. A value that is NaN comes first, such an index last.
func decides[V float, I index](x, y unsafe.Pointer, k int) bool {
	a, i := pair[V, I](x, k)
	b, j := pair[V, I](y, k)
	switch {
	case a == a && b != b:
		return true
	case a != a && b == b:
		return false
	case i < j || i == i && j != j:
		return false
	case j < i || j == j && i != i:
		return true
	}
	return bytes.Compare(pairBits[V, I](y, k), pairBits[V, I](x, k)) < 0
}
