package op_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

// pairs are the kinds of the values and the indices of pairs.
var pairs = map[op.Kind][2]op.Kind{op.FloatInt: {op.Float32, op.Int32}, op.DoubleInt: {op.Float64, op.Int32}, op.LongInt: {op.Int64, op.Int32},
	op.TwoInt: {op.Int32, op.Int32}, op.ShortInt: {op.Int16, op.Int32}, op.TwoFloat: {op.Float32, op.Float32}, op.TwoDouble: {op.Float64, op.Float64}}

// before reports whether x is less than y, and whether the two are equal. NaN is equal
// to NaN, and above all else.
func before(k op.Kind, x, y []byte) (less, equal bool) {
	if k == op.Float32 || k == op.Float64 {
		a, b := floatOf(x), floatOf(y)
		return a < b || !math.IsNaN(a) && math.IsNaN(b), a == b || math.IsNaN(a) && math.IsNaN(b)
	}
	unused := 64 - 8*k.Size()
	a, b := int64(rawBits(x)<<unused)>>unused, int64(rawBits(y)<<unused)>>unused
	return a < b, a == b
}

// modelPair is MPI's definition (MPI-4.0 §6.9.4), with NaN before all other values.
func modelPair(o *op.Op, k op.Kind, lower, upper []byte) []byte {
	v, i := pairs[k][0], pairs[k][1]
	n := v.Size()
	less, equal := before(v, upper[:n], lower[:n])
	isNaN := func(e []byte) bool { return (v == op.Float32 || v == op.Float64) && math.IsNaN(floatOf(e[:n])) }
	takes := less == (o == op.MinLoc)
	switch {
	case equal:
		if takes, equal = before(i, upper[n:], lower[n:]); equal {
			takes = bytes.Compare(upper, lower) < 0
		}
	case isNaN(lower):
		takes = false
	case isNaN(upper):
		takes = true
	}
	if takes {
		return upper
	}
	return lower
}

// Pairs of equal values give the one with the lower index, in whatever order they come.
func TestOfEqualValuesTheLowerIndexIsTaken(t *testing.T) {
	pair := func(v float64, i int32) []byte { return appendBits(appendFloat(nil, 8, v), 4, uint64(uint32(i))) }
	for _, o := range []*op.Op{op.MinLoc, op.MaxLoc} {
		f, err := o.Func(op.DoubleInt)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range [][2]float64{{1, 1}, {math.Inf(1), math.Inf(1)}, {math.NaN(), math.NaN()}, {0, minus0}, {minus0, 0}} {
			low, high := pair(v[0], -3), pair(v[1], 7)
			for _, operands := range [][2][]byte{{low, high}, {high, low}} {
				// The operands have odd addresses, as pairs without padding may.
				a, b, to := append([]byte{0}, operands[0]...)[1:], append([]byte{0}, operands[1]...)[1:], make([]byte, 13)[1:]
				if f(a, b, to); !bytes.Equal(to, low) {
					t.Errorf("%v of %v: % x", o, v, to)
				}
			}
		}
	}
}
