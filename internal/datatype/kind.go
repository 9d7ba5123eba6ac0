package datatype

import (
	"fmt"
	"math/bits"
	"reflect"
)

// Kind is a predefined type: a basic one, or a pair of two basic ones. Kinds that
// package op has too have the same numbers there.
type Kind uint8

// The basic kinds that Go has, then raw bytes. An int is an Int64, or an Int32
// where it has 32 bits.
const (
	Bool Kind = iota + 1 // MPI_C_BOOL
	Int8                 // MPI_INT8_T
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64 // MPI_INT64_T; on Linux MPI_AINT, MPI_COUNT and MPI_OFFSET too
	Uint64
	Float32    // MPI_FLOAT
	Float64    // MPI_DOUBLE
	Complex64  // MPI_C_FLOAT_COMPLEX
	Complex128 // MPI_C_DOUBLE_COMPLEX
	Byte       // MPI_BYTE: never converted, matches Byte only
	Packed     // MPI_PACKED: never converted, matches every kind
)

// The pairs of MPI_MINLOC and MPI_MAXLOC (MPI-4.0 §6.9.4). Their fields are aligned
// as those of a struct: DoubleInt has 12 bytes and the extent 16.
const (
	FloatInt  = Packed + 1 + iota // MPI_FLOAT_INT: Float32, Int32
	DoubleInt                     // MPI_DOUBLE_INT: Float64, Int32
	LongInt                       // MPI_LONG_INT: Int64, Int32
	TwoInt                        // MPI_2INT: Int32, Int32
	ShortInt                      // MPI_SHORT_INT: Int16, Int32
	TwoFloat                      // MPI_2REAL: Float32, Float32
	TwoDouble                     // MPI_2DOUBLE_PRECISION: Float64, Float64

	lastKind = TwoDouble
)

// trait is what there is to know of a kind.
type trait struct {
	name   string
	size   int // bytes of data
	word   int // bytes that change order together in external32
	align  int
	extent int
	pair   bool
	parts  [2]Kind // of a pair
	second int     // displacement of a pair's second part
}

var traits = [lastKind + 1]trait{
	Bool: basic[bool](1), Int8: basic[int8](1), Uint8: basic[uint8](1), Int16: basic[int16](2), Uint16: basic[uint16](2),
	Int32: basic[int32](4), Uint32: basic[uint32](4), Int64: basic[int64](8), Uint64: basic[uint64](8),
	Float32: basic[float32](4), Float64: basic[float64](8), Complex64: basic[complex64](4), Complex128: basic[complex128](8),
	Byte: {name: "byte", size: 1, word: 1, align: 1, extent: 1}, Packed: {name: "packed", size: 1, word: 1, align: 1, extent: 1},
	FloatInt: pair("float_int", Float32, Int32), DoubleInt: pair("double_int", Float64, Int32), LongInt: pair("long_int", Int64, Int32),
	TwoInt: pair("2int", Int32, Int32), ShortInt: pair("short_int", Int16, Int32),
	TwoFloat: pair("2real", Float32, Float32), TwoDouble: pair("2double_precision", Float64, Float64),
}

func basic[T any](word int) trait {
	t := reflect.TypeFor[T]()
	return trait{name: t.Name(), size: int(t.Size()), word: word, align: t.Align(), extent: int(t.Size())}
}

// basics is traits without the pairs, which are made of them.
var basics = [...]trait{Int16: basic[int16](2), Int32: basic[int32](4), Int64: basic[int64](8), Float32: basic[float32](4), Float64: basic[float64](8)}

func pair(name string, first, second Kind) trait {
	a, b := basics[first], basics[second]
	t := trait{name: name, size: a.size + b.size, align: max(a.align, b.align), pair: true, parts: [2]Kind{first, second}}
	t.second = roundUp(a.size, b.align)
	t.extent = roundUp(t.second+b.size, t.align)
	return t
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

func (k Kind) known() bool { return k >= Bool && k <= lastKind }

func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return traits[k].name
}

// Size is the number of bytes of data in an element; 0 if the kind is unknown.
func (k Kind) Size() int {
	if !k.known() {
		return 0
	}
	return traits[k].size
}

// Pair returns the two kinds that a pair is made of and the displacement of the
// second one. It is false for basic kinds.
func (k Kind) Pair() (first, second Kind, disp int, ok bool) {
	if !k.known() || !traits[k].pair {
		return 0, 0, 0, false
	}
	t := &traits[k]
	return t.parts[0], t.parts[1], t.second, true
}

// dense reports whether elements that follow one another leave no gaps.
func (k Kind) dense() bool { return traits[k].size == traits[k].extent }

// basics is the number of basic elements in an element.
func (k Kind) basics() int {
	if traits[k].pair {
		return 2
	}
	return 1
}

// intKind is the kind of int, and intKind+1 that of uint.
const intKind = Int32 + (Int64-Int32)*(bits.UintSize/64)

var goKinds = [...]Kind{
	reflect.Bool: Bool, reflect.Int: intKind, reflect.Uint: intKind + 1,
	reflect.Int8: Int8, reflect.Int16: Int16, reflect.Int32: Int32, reflect.Int64: Int64,
	reflect.Uint8: Uint8, reflect.Uint16: Uint16, reflect.Uint32: Uint32, reflect.Uint64: Uint64,
	reflect.Float32: Float32, reflect.Float64: Float64,
	reflect.Complex64: Complex64, reflect.Complex128: Complex128,
}

// KindOf is the kind of a Go type's memory, by what the type is made of: that of
// time.Duration is Int64. It is false for types that are no basic elements:
// structs, arrays, everything with pointers, and uintptr, since an address means
// nothing to another rank.
func KindOf(t reflect.Type) (Kind, bool) {
	if k := t.Kind(); int(k) < len(goKinds) && goKinds[k] != 0 {
		return goKinds[k], true
	}
	return 0, false
}
