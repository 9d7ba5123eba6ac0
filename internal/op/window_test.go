package op_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

var onWindows = append([]*op.Op{op.Replace, op.NoOp}, predefined...)

func TestCodesNameThePredefinedOperatorsAndNoOthers(t *testing.T) {
	named := 0
	for c := range 256 {
		if o := op.Code(c).Op(); o != nil {
			named++
			if o.Code() != op.Code(c) || c == 0 {
				t.Errorf("%v has the code %d, and %d names it", o, o.Code(), c)
			}
		}
	}
	for _, o := range onWindows {
		if o.Code().Op() != o {
			t.Errorf("the code %d of %v names %v", o.Code(), o, o.Code().Op())
		}
	}
	if named != len(onWindows) {
		t.Errorf("%d codes are taken by %d operators", named, len(onWindows))
	}
	if c := op.Of[int8]("mine", true, nil).Code(); c != 0 {
		t.Errorf("an operator of the user's has the code %d", c)
	}
}

func TestWindowsTakeWhatReductionsTakeAndReplaceAndNoOpOfAllKinds(t *testing.T) {
	for _, o := range onWindows {
		for k := op.Kind(0); k < 20; k++ {
			known := k >= op.Bool && k <= op.Complex128
			_, reduces := o.Func(k)
			f, err := o.OnWindow(k)
			var ke *op.KindError
			switch {
			case o == op.Replace || o == op.NoOp:
				if reduces == nil || o.Commutes() || (err == nil) != known || (f != nil) != known {
					t.Errorf("%v of %v: in reductions %v, on windows %v", o, k, reduces, err)
				}
			case (err == nil) != (known && reduces == nil) || (f != nil) != (err == nil):
				t.Errorf("%v of %v: in reductions %v, on windows %v", o, k, reduces, err)
			}
			if err != nil && !errors.As(err, &ke) {
				t.Errorf("%v of %v: %v", o, k, err)
			}
		}
	}
}

func TestAnOperatorThatIsInTheWrongPlaceSaysWhereItBelongs(t *testing.T) {
	reduced := func(o *op.Op, k op.Kind) error { _, err := o.Func(k); return err }
	window := func(o *op.Op, k op.Kind) error { _, err := o.OnWindow(k); return err }
	mine := op.Of("mine", true, func(lower, _ int32) int32 { return lower })
	for _, c := range []struct {
		err  error
		want string
	}{
		{reduced(op.Replace, op.Int8), "the operator Replace is for accumulate operations on windows only: give one such as Sum"},
		{reduced(op.NoOp, op.Float64), "the operator NoOp is for accumulate operations on windows only: give one such as Sum"},
		{window(mine, op.Int32), "the operator mine is the program's own: accumulate operations take those of MPI only, such as Sum"},
		{window(op.BAnd, op.Float32), "the operator BAnd is not defined for float32: it takes integers and bytes"},
		{window(op.Replace, 0), "the operator Replace is not defined for Kind(0): it takes bool, integers, floating-point numbers and complex numbers"},
	} {
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}

func TestReplaceTakesTheOriginsElementsAndNoOpTheWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for k := op.Bool; k <= op.Complex128; k++ {
		for n := range 20 {
			for _, p := range places {
				for o, from := range map[*op.Op]int{op.Replace: 1, op.NoOp: p.lower} {
					f, err := o.OnWindow(k)
					if err != nil {
						t.Fatal(err)
					}
					bufs := [3][]byte{random(r, k, n), random(r, k, n), random(r, k, n)}
					want := bytes.Clone(bufs[from])
					f(bufs[p.lower], bufs[1], bufs[p.to])
					if !bytes.Equal(bufs[p.to], want) {
						t.Errorf("%v of %d %v, %s: % x, want % x", o, n, k, p.name, bufs[p.to], want)
					}
				}
			}
		}
	}
}

// one combines two elements by Int, Float or Complex.
func one(c op.Code, k op.Kind, a, b []byte) []byte {
	x, y := rawBits(a[:min(8, len(a))]), rawBits(b[:min(8, len(b))])
	f := func(v uint64) float32 { return math.Float32frombits(uint32(v)) }
	size := k.Size()
	switch k {
	case op.Bool, op.Uint8:
		x = uint64(op.Int(c, uint8(x), uint8(y)))
	case op.Int8:
		x = uint64(op.Int(c, int8(x), int8(y)))
	case op.Int16:
		x = uint64(op.Int(c, int16(x), int16(y)))
	case op.Uint16:
		x = uint64(op.Int(c, uint16(x), uint16(y)))
	case op.Int32:
		x = uint64(op.Int(c, int32(x), int32(y)))
	case op.Uint32:
		x = uint64(op.Int(c, uint32(x), uint32(y)))
	case op.Int64:
		x = uint64(op.Int(c, int64(x), int64(y)))
	case op.Uint64:
		x = op.Int(c, x, y)
	case op.Float32:
		x = uint64(math.Float32bits(op.Float(c, f(x), f(y))))
	case op.Float64:
		x = math.Float64bits(op.Float(c, math.Float64frombits(x), math.Float64frombits(y)))
	case op.Complex64:
		z := op.Complex(c, complex64(complex(floatOf(a[:4]), floatOf(a[4:]))), complex64(complex(floatOf(b[:4]), floatOf(b[4:]))))
		return appendFloat(appendFloat(nil, 4, float64(real(z))), 4, float64(imag(z)))
	case op.Complex128:
		z := op.Complex(c, complex(floatOf(a[:8]), floatOf(a[8:])), complex(floatOf(b[:8]), floatOf(b[8:])))
		return appendFloat(appendFloat(nil, 8, real(z)), 8, imag(z))
	}
	return appendBits(nil, size, x)
}

func TestOneElementHasTheResultThatItHasInAFunc(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, o := range onWindows {
		for k := op.Bool; k <= op.Complex128; k++ {
			f, err := o.OnWindow(k)
			if err != nil {
				continue
			}
			for range 500 {
				a, b := random(r, k, 1), random(r, k, 1)
				want := combined(f, a, b)
				got := one(o.Code(), k, a, b)
				if k == op.Complex64 && o.Code() >= op.CodeReplace {
					continue // a signaling NaN is a quiet one after its way through float64
				}
				if !bytes.Equal(canonical(o, k, got, want), want) {
					t.Fatalf("%v of the %vs % x and % x: % x, in a Func % x", o, k, a, b, got, want)
				}
			}
		}
	}
}

func TestWhatDoesNotFitLeavesTheWindowsElement(t *testing.T) {
	for _, o := range onWindows {
		c := o.Code()
		if _, err := o.OnWindow(op.Float64); err != nil && op.Float(c, 3.0, 5.0) != 3 {
			t.Errorf("%v changes a float64", o)
		}
		if _, err := o.OnWindow(op.Complex128); err != nil && op.Complex(c, 3i, 5i) != 3i {
			t.Errorf("%v changes a complex128", o)
		}
	}
	for _, c := range []op.Code{0, op.CodeNoOp + 1, 255} {
		if op.Int(c, int8(3), 5) != 3 || op.Float(c, 3.0, 5.0) != 3 || op.Complex(c, 3i, 5i) != 3i {
			t.Errorf("the code %d changes an element", c)
		}
	}
}
