package op

import "bytes"

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

func minLoc[V, I located](lower, upper, to []byte) {
	locate[V, I](lower, upper, to, func(a, b V) bool { return b < a })
}

func maxLoc[V, I located](lower, upper, to []byte) {
	locate[V, I](lower, upper, to, func(a, b V) bool { return b > a })
}

// locate takes the upper operand where its value beats the lower one's.
func locate[V, I located](lower, upper, to []byte, beats func(lower, upper V) bool) {
	size := sizeOf[V]() + sizeOf[I]()
	for n := min(len(lower), len(upper), len(to)); n >= size; n -= size {
		a, b := load[V](lower), load[V](upper)
		from := lower
		switch {
		case a == b || a != a && b != b:
			if comesFirst[V, I](upper[:size], lower[:size]) {
				from = upper
			}
		case b != b || a == a && beats(a, b):
			from = upper
		}
		copy(to, from[:size])
		lower, upper, to = lower[size:], upper[size:], to[size:]
	}
}

// comesFirst reports whether x has a lower index than y, whose value is equal. An index
// that is NaN comes last.
func comesFirst[V, I located](x, y []byte) bool {
	i, j := load[I](x[sizeOf[V]():]), load[I](y[sizeOf[V]():])
	switch {
	case i < j || j != j && i == i:
		return true
	case i == j || i != i && j != j:
		return bytes.Compare(x, y) < 0
	}
	return false
}
