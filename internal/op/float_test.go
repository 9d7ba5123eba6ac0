package op_test

import (
	"math"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

var minus0 = math.Copysign(0, -1)

// apply combines two elements.
func apply[T op.Scalar](t *testing.T, o *op.Op, lower, upper T) T {
	t.Helper()
	f, err := o.Func(op.KindOf[T]())
	if err != nil {
		t.Fatal(err)
	}
	to := make([]T, 1)
	f(bytesOf([]T{lower}), bytesOf([]T{upper}), bytesOf(to))
	return to[0]
}

func TestMaxAndMinGiveOneNaN(t *testing.T) {
	others := append([]float64{}, specials...)
	for _, b := range nans[8] {
		others = append(others, math.Float64frombits(b))
	}
	for _, o := range []*op.Op{op.Max, op.Min} {
		for _, b := range nans[8] {
			for _, other := range others {
				nan := math.Float64frombits(b)
				for _, got := range []float64{apply(t, o, nan, other), apply(t, o, other, nan)} {
					if math.Float64bits(got) != math.Float64bits(math.NaN()) {
						t.Errorf("%v of NaN %x and %v is %x", o, b, other, math.Float64bits(got))
					}
				}
			}
		}
		for _, b := range nans[4] {
			for _, other := range others {
				nan := math.Float32frombits(uint32(b))
				for _, got := range []float32{apply(t, o, nan, float32(other)), apply(t, o, float32(other), nan)} {
					if math.Float32bits(got) != math.Float32bits(float32(math.NaN())) {
						t.Errorf("%v of NaN %x and %v is %x", o, b, other, math.Float32bits(got))
					}
				}
			}
		}
	}
}

func TestMaxAndMinOrderTheZerosAndInfinities(t *testing.T) {
	rising := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, minus0,
		0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1)}
	for i, low := range rising {
		for _, high := range rising[i:] {
			for _, x := range [][2]float64{{low, high}, {high, low}} {
				if got := apply(t, op.Max, x[0], x[1]); math.Float64bits(got) != math.Float64bits(high) {
					t.Errorf("Max of %v is %v", x, got)
				}
				if got := apply(t, op.Min, x[0], x[1]); math.Float64bits(got) != math.Float64bits(low) {
					t.Errorf("Min of %v is %v", x, got)
				}
			}
		}
	}
	zero, below := float32(0), float32(minus0)
	if got := apply(t, op.Max, below, zero); math.Signbit(float64(got)) {
		t.Error("Max of float32 −0 and +0 is −0")
	}
	if got := apply(t, op.Min, zero, below); !math.Signbit(float64(got)) {
		t.Error("Min of float32 +0 and −0 is +0")
	}
}

// With a fused multiply-add the real part is not zero: one of two equal products
// is not rounded before they are subtracted.
func TestComplexProductsAreRoundedBeforeTheyAreAdded(t *testing.T) {
	x := 1 + math.Ldexp(1, -30)
	if got := apply(t, op.Prod, complex(x, x), complex(x, x)); real(got) != 0 || imag(got) != 2*float64(x*x) {
		t.Errorf("(x+xi)² is %v", got)
	}
	const y = 1 + 1.0/(1<<20)
	want := complex(0, float32(2*y*y))
	if got := apply[complex64](t, op.Prod, complex(y, y), complex(y, y)); got != want {
		t.Errorf("(y+yi)² of complex64 is %v, want %v", got, want)
	}
}

func TestProductsOfComplexNumbersAreTheSchoolbooks(t *testing.T) {
	for _, c := range []struct{ x, y, want complex128 }{
		{1 + 2i, 3 + 4i, -5 + 10i},
		{1i, 1i, -1},
		{2, 3i, 6i},
		{0, 5 + 6i, 0},
	} {
		if got := apply(t, op.Prod, c.x, c.y); got != c.want {
			t.Errorf("%v times %v is %v, want %v", c.x, c.y, got, c.want)
		}
		if got := apply(t, op.Prod, complex64(c.x), complex64(c.y)); got != complex64(c.want) {
			t.Errorf("%v times %v of complex64 is %v, want %v", c.x, c.y, got, c.want)
		}
	}
	big := complex(float32(math.MaxFloat32), 0)
	if got := apply(t, op.Prod, big, 2); !math.IsInf(float64(real(got)), 1) {
		t.Errorf("twice the largest complex64 is %v", got)
	}
}

func TestOperatorsOnKnownValues(t *testing.T) {
	for what, ok := range map[string]bool{
		"int8 sum":     apply[int8](t, op.Sum, 127, 1) == -128,
		"uint8 sum":    apply[uint8](t, op.Sum, 255, 2) == 1,
		"int16 prod":   apply[int16](t, op.Prod, -32768, -1) == -32768,
		"int64 sum":    apply[int64](t, op.Sum, math.MaxInt64, 1) == math.MinInt64,
		"uint32 prod":  apply[uint32](t, op.Prod, 1<<31, 2) == 0,
		"int max":      apply(t, op.Max, -1, 1) == 1,
		"uint max":     apply(t, op.Max, ^uint(0), 1) == ^uint(0),
		"int8 min":     apply[int8](t, op.Min, -1, 1) == -1,
		"int64 land":   apply[int64](t, op.LAnd, -1, 256) == 1,
		"uint16 band":  apply[uint16](t, op.BAnd, 0xFF00, 0x0FF0) == 0x0F00,
		"int32 bxor":   apply[int32](t, op.BXor, -1, 1) == -2,
		"bool lxor":    !apply(t, op.LXor, true, true),
		"uint64 lxor":  apply[uint64](t, op.LXor, 1<<40, 1) == 0,
		"uint32 lor":   apply[uint32](t, op.LOr, 0, 1<<31) == 1,
		"float64 prod": apply(t, op.Prod, 0.5, -3) == -1.5,
	} {
		if !ok {
			t.Error(what)
		}
	}
}
