package op

import (
	"bytes"
	"unsafe"
)

// MinLoc and MaxLoc (MPI-4.0 §6.9.4) are for pairs of a value and an index, as they are
// sent: without padding, so that they may have any address. The result is one of the
// operands: that with the smaller or the larger value, and of equal values that with the
// lower index. As with Min and Max NaN wins; −0 equals +0. Where that decides nothing
// the bits do, so that the two commute bit by bit.
var (
	MinLoc = predefined("MinLoc", CodeMinLoc, table{
		FloatInt: minLoc[float32, int32], DoubleInt: minLoc[float64, int32], LongInt: minLoc[int64, int32], TwoInt: minLoc[int32, int32],
		ShortInt: minLoc[int16, int32], TwoFloat: minLoc[float32, float32], TwoDouble: minLoc[float64, float64]})

	MaxLoc = predefined("MaxLoc", CodeMaxLoc, table{
		FloatInt: maxLoc[float32, int32], DoubleInt: maxLoc[float64, int32], LongInt: maxLoc[int64, int32], TwoInt: maxLoc[int32, int32],
		ShortInt: maxLoc[int16, int32], TwoFloat: maxLoc[float32, float32], TwoDouble: maxLoc[float64, float64]})
)

type located interface {
	int16 | int32 | int64 | float
}

func minLoc[V, I located](lower, upper, to []byte) { locate[V, I](lower, upper, to, false) }

func maxLoc[V, I located](lower, upper, to []byte) { locate[V, I](lower, upper, to, true) }

// locate takes the upper operand where its value is the larger one (or the smaller one).
func locate[V, I located](lower, upper, to []byte, larger bool) {
	x, y, z, n := pairs[V, I](lower, upper, to)
	whole := V(1)/V(2) == 0 && I(1)/I(2) == 0 // integers: those that are equal have the same bits
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
		case !whole && (i != j || a == 0 || i == 0):
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
func decides[V, I located](x, y unsafe.Pointer, k int) bool {
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
