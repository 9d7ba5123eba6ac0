package datatype

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/op"
)

type position struct{ X, Y, Z float64 }

type particle struct {
	position
	ID     int32
	Charge int8
	_      [3]byte
	Spin   [2][3]float32
	cells  [2]struct {
		Row int16
		Far bool
	}
	Next  *particle `mpi:"-"`
	Since time.Duration
}

var _ = particle{}.cells // fields that are not exported are sent too

func TestTheTypeOfAStructHasItsFieldsAndNoPadding(t *testing.T) {
	got, err := TypeOf[particle]()
	if err != nil {
		t.Fatal(err)
	}
	if want := 3*8 + 4 + 1 + 6*4 + 2*3 + 8; got.Size() != want {
		t.Errorf("the size is %d, not %d", got.Size(), want)
	}
	if lb, extent := got.Extent(); lb != 0 || extent != int(reflect.TypeFor[particle]().Size()) {
		t.Errorf("lb and extent are %d and %d", lb, extent)
	}
	if !got.Committed() {
		t.Error("the type is not committed")
	}
	var kinds []Kind
	for e := range got.Elements(1, 0, got.Size()) {
		for range e.N {
			kinds = append(kinds, e.Kind)
		}
	}
	want := []Kind{Float64, Float64, Float64, Int32, Int8, Float32, Float32, Float32, Float32, Float32, Float32,
		Int16, Bool, Int16, Bool, Int64}
	if !slices.Equal(kinds, want) {
		t.Errorf("the kinds are %v, not %v", kinds, want)
	}
	again, err := TypeOf[particle]()
	if again != got || err != nil {
		t.Errorf("the second time it is another type: %v", err)
	}
}

func TestAReceivedStructKeepsPaddingAndFieldsThatAreLeftOut(t *testing.T) {
	type record struct {
		A int8 // and padding
		B int32
		C string `mpi:"-"`
		D int16  // and padding
	}
	rt, err := TypeOf[record]()
	if err != nil {
		t.Fatal(err)
	}
	_, extent := rt.Extent()
	mem := bytes.Repeat([]byte{0xEE}, 2*extent)
	if _, err := Unpack(rt, 2, mem, 0, make([]byte, 2*rt.Size()), 0); err != nil {
		t.Fatal(err)
	}
	g := reflect.TypeFor[record]()
	want := bytes.Repeat([]byte{0xEE}, 2*extent)
	for i := range 2 {
		for _, name := range []string{"A", "B", "D"} {
			f, _ := g.FieldByName(name)
			clear(want[i*extent+int(f.Offset):][:f.Type.Size()])
		}
	}
	if !bytes.Equal(mem, want) {
		t.Errorf("memory is\n%x, not\n%x", mem, want)
	}
}

func TestAStructWithoutPaddingIsDense(t *testing.T) {
	dense, err := TypeOf[position]()
	if err != nil || !dense.Dense() {
		t.Errorf("three numbers in a row are not dense: %v", err)
	}
	padded, err := TypeOf[struct {
		A float64
		B int8
	}]()
	if err != nil || padded.Dense() {
		t.Errorf("a struct that ends in padding is dense: %v", err)
	}
	if off, n, ok := padded.Range(1); !ok || off != 0 || n != 9 {
		t.Errorf("one of them is %d bytes at %d, %v", n, off, ok)
	}
	if empty, err := TypeOf[struct{}](); err != nil || empty.Size() != 0 || !empty.Dense() {
		t.Errorf("the empty struct: %v, %v", empty, err)
	}
}

type bad struct{ Cells [4]struct{ Names []string } }

func TestATypeThatHoldsPointersIsRefusedByItsPath(t *testing.T) {
	for _, c := range []struct {
		of   func() (*Type, error)
		path string
	}{
		{TypeOf[*int], "*int"},
		{TypeOf[string], "string"},
		{TypeOf[bad], "bad.Cells[].Names"},
		{TypeOf[struct{ A struct{ *particle } }], "struct { A struct { *datatype.particle } }.A.particle"},
		{TypeOf[map[int]int], "map[int]int"},
		{TypeOf[[3]any], "[3]interface {}[]"},
		{TypeOf[chan int], "chan int"},
		{TypeOf[func()], "func()"},
		{TypeOf[uintptr], "uintptr"},
		{TypeOf[struct {
			A int `mpi:"float"`
		}], `struct { A int "mpi:\"float\"" }.A`},
	} {
		got, err := c.of()
		var field *FieldError
		if got != nil || !errors.As(err, &field) || field.Path != c.path {
			t.Errorf("%s: %v, %v", c.path, got, err)
		}
	}
	if _, err := Reflect(nil); !errors.Is(err, ErrNilType) {
		t.Errorf("no type at all: %v", err)
	}
}

func TestNamedElementsHaveTheirKinds(t *testing.T) {
	type myBool bool
	for g, want := range map[reflect.Type]Kind{
		reflect.TypeFor[time.Duration](): Int64, reflect.TypeFor[myBool](): Bool, reflect.TypeFor[int](): intKind,
		reflect.TypeFor[uint](): intKind + 1, reflect.TypeFor[rune](): Int32, reflect.TypeFor[byte](): Uint8,
	} {
		if got, err := Reflect(g); err != nil || got != Of(want) {
			t.Errorf("%v is %v, %v", g, got, err)
		}
	}
}

func TestTheFirstUsersOfAStructGetOneType(t *testing.T) {
	type fresh struct{ A, B int32 }
	var all [8]*Type
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() { all[i], _ = TypeOf[fresh]() })
	}
	wg.Wait()
	for _, got := range all {
		if got == nil || got != all[0] {
			t.Fatalf("types %p and %p", got, all[0])
		}
	}
}

// Package op numbers the same kinds in the same way, so that one can be turned into
// the other.
func TestKindsAreThoseOfOperators(t *testing.T) {
	for k := op.Bool; k <= op.TwoDouble; k++ {
		if l := Kind(k); l != Packed && l.Size() != k.Size() || l <= Packed && l.String() != k.String() {
			t.Errorf("kind %d is %v of %d bytes here, %v of %d bytes there", k, l, l.Size(), k, k.Size())
		}
	}
}
