package op

import (
	"fmt"
	"math/bits"
	"reflect"
)

// Kind is the type of an element. The numbers are those of package datatype.
type Kind uint8

const (
	Bool Kind = iota + 1
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Float32
	Float64
	Complex64
	Complex128
	Byte   // which has no value: only its bits are combined
	Packed // which no operator takes
	// The pairs of MinLoc and MaxLoc, a value and an index, without padding.
	FloatInt  // float32, int32
	DoubleInt // float64, int32
	LongInt   // int64, int32
	TwoInt    // int32, int32
	ShortInt  // int16, int32
	TwoFloat  // float32, float32
	TwoDouble // float64, float64

	lastKind = TwoDouble
)

var kinds = [lastKind + 1]struct {
	name string
	size int
}{Bool: {"bool", 1}, Int8: {"int8", 1}, Uint8: {"uint8", 1}, Int16: {"int16", 2}, Uint16: {"uint16", 2},
	Int32: {"int32", 4}, Uint32: {"uint32", 4}, Int64: {"int64", 8}, Uint64: {"uint64", 8},
	Float32: {"float32", 4}, Float64: {"float64", 8}, Complex64: {"complex64", 8}, Complex128: {"complex128", 16}, Byte: {"byte", 1}, Packed: {name: "packed"},
	FloatInt: {"float32 with int32", 8}, DoubleInt: {"float64 with int32", 12}, LongInt: {"int64 with int32", 12}, TwoInt: {"int32 with int32", 8},
	ShortInt: {"int16 with int32", 6}, TwoFloat: {"float32 with float32", 8}, TwoDouble: {"float64 with float64", 16}}

func (k Kind) known() bool { return k <= lastKind && kinds[k].size > 0 }

func (k Kind) String() string {
	if k > lastKind || kinds[k].name == "" {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kinds[k].name
}

// Size is the length of an element in bytes; 0 if no operator takes the kind.
func (k Kind) Size() int {
	if !k.known() {
		return 0
	}
	return kinds[k].size
}

// Scalar is the set of element types: those that have a Kind, and types made of
// them.
type Scalar interface {
	~bool | ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64 |
		~int | ~uint | ~float32 | ~float64 | ~complex64 | ~complex128
}

// intKind is the kind of int, and intKind+1 that of uint.
const intKind = Int32 + (Int64-Int32)*(bits.UintSize/64)

var kindOf = [...]Kind{
	reflect.Bool: Bool, reflect.Int: intKind, reflect.Uint: intKind + 1,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64,
	reflect.Complex64: Complex64, reflect.Complex128: Complex128,
}

// KindOf is the kind of T's memory. An int is an Int64, or an Int32 where it has
// 32 bits; a named type has the kind of the type that it is made of. KindOf does
// not allocate.
func KindOf[T Scalar]() Kind {
	switch any((*T)(nil)).(type) { // the usual ones without reflect: short calls ask for each operation
	case *int64:
		return Int64
	case *float64:
		return Float64
	case *int:
		return intKind
	case *int32:
		return Int32
	case *float32:
		return Float32
	case *uint64:
		return Uint64
	case *uint8:
		return Uint8
	}
	return kindOf[reflect.TypeFor[T]().Kind()]
}
