package op_test

import (
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

func TestAnOperatorThatDoesNotFitSaysWhatItTakes(t *testing.T) {
	first := func(lower, _ int32) int32 { return lower }
	for _, c := range []struct {
		o    *op.Op
		k    op.Kind
		want string
	}{
		{op.Sum, op.Bool, "the operator Sum is not defined for bool: it takes integers, floating-point numbers and complex numbers"},
		{op.Max, op.Complex64, "the operator Max is not defined for complex64: it takes integers and floating-point numbers"},
		{op.LOr, op.Float64, "the operator LOr is not defined for float64: it takes bool and integers"},
		{op.BXor, op.Bool, "the operator BXor is not defined for bool: it takes integers and bytes"},
		{op.Min, op.Byte, "the operator Min is not defined for byte: it takes integers and floating-point numbers"},
		{op.MaxLoc, op.Float64, "the operator MaxLoc is not defined for float64: it takes pairs of a value and an index"},
		{op.Sum, op.DoubleInt, "the operator Sum is not defined for float64 with int32: it takes integers, floating-point numbers and complex numbers"},
		{op.Custom("mine", true, "elements of type particle", nil), op.Int8, "the operator mine is not defined for int8: it takes elements of type particle"},
		{op.Min, 0, "the operator Min is not defined for Kind(0): it takes integers and floating-point numbers"},
		{op.Min, 200, "the operator Min is not defined for Kind(200): it takes integers and floating-point numbers"},
		{op.Of("first", false, first), op.Int64, "the operator first is not defined for int64: it takes int32"},
		{op.Of[int32]("none", false, nil), op.Int32, "the operator none fits no element type: give it a function that is not nil"},
		{op.Vector[bool]("none", false, nil), op.Bool, "the operator none fits no element type: give it a function that is not nil"},
		{op.New("none", op.Int8, true, nil), op.Int8, "the operator none fits no element type: give it a function that is not nil"},
	} {
		f, err := c.o.Func(c.k)
		var ke *op.KindError
		if f != nil || !errors.As(err, &ke) || ke.Op != c.o || ke.Kind != c.k || err.Error() != c.want {
			t.Errorf("%v of %v: %v, want %s", c.o, c.k, err, c.want)
		}
	}
}

func TestAnOperatorOfAnUnknownKindFitsNothing(t *testing.T) {
	for _, k := range []op.Kind{0, op.Packed, op.TwoDouble + 1, 255} {
		o := op.New("odd", k, true, func(_, _, _ []byte) {})
		for j := range 256 {
			if _, err := o.Func(op.Kind(j)); err == nil {
				t.Errorf("an operator of kind %d fits %d", k, j)
			}
		}
	}
	if _, err := new(op.Op).Func(op.Int8); err == nil {
		t.Error("the zero value fits int8")
	}
}

func TestKindsHaveGosNamesAndSizes(t *testing.T) {
	want := "bool 1, int8 1, uint8 1, int16 2, uint16 2, int32 4, uint32 4, int64 8, uint64 8, " +
		"float32 4, float64 8, complex64 8, complex128 16, byte 1, packed 0, float32 with int32 8, float64 with int32 12, int64 with int32 12, " +
		"int32 with int32 8, int16 with int32 6, float32 with float32 8, float64 with float64 16, "
	got := ""
	for k := op.Bool; k <= op.TwoDouble; k++ {
		got += fmt.Sprintf("%v %d, ", k, k.Size())
	}
	if got != want {
		t.Errorf("the kinds are %s, want %s", got, want)
	}
	for _, k := range []op.Kind{0, op.TwoDouble + 1, 255} {
		if k.Size() != 0 || k.String() != fmt.Sprintf("Kind(%d)", uint8(k)) {
			t.Errorf("the unknown kind %d is %v of %d bytes", uint8(k), k, k.Size())
		}
	}
}

// celsius and friends are named types of a user's.
type (
	celsius float64
	flag    bool
	length  int
	color   uint8
	wave    complex64
)

func TestKindOfLooksThroughNames(t *testing.T) {
	ints := map[int][2]op.Kind{32: {op.Int32, op.Uint32}, 64: {op.Int64, op.Uint64}}[bits.UintSize]
	for _, c := range []struct {
		name      string
		got, want op.Kind
	}{
		{"bool", op.KindOf[bool](), op.Bool}, {"int8", op.KindOf[int8](), op.Int8}, {"uint8", op.KindOf[uint8](), op.Uint8},
		{"int16", op.KindOf[int16](), op.Int16}, {"uint16", op.KindOf[uint16](), op.Uint16},
		{"int32", op.KindOf[int32](), op.Int32}, {"uint32", op.KindOf[uint32](), op.Uint32},
		{"int64", op.KindOf[int64](), op.Int64}, {"uint64", op.KindOf[uint64](), op.Uint64},
		{"float32", op.KindOf[float32](), op.Float32}, {"float64", op.KindOf[float64](), op.Float64},
		{"complex64", op.KindOf[complex64](), op.Complex64}, {"complex128", op.KindOf[complex128](), op.Complex128},
		{"int", op.KindOf[int](), ints[0]}, {"uint", op.KindOf[uint](), ints[1]},
		{"rune", op.KindOf[rune](), op.Int32}, {"byte", op.KindOf[byte](), op.Uint8},
		{"celsius", op.KindOf[celsius](), op.Float64}, {"flag", op.KindOf[flag](), op.Bool},
		{"length", op.KindOf[length](), ints[0]}, {"color", op.KindOf[color](), op.Uint8},
		{"wave", op.KindOf[wave](), op.Complex64},
	} {
		if c.got != c.want {
			t.Errorf("KindOf[%s] is %v, want %v", c.name, c.got, c.want)
		}
	}
}
