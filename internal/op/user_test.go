package op_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/internal/op"
)

// compose is associative and does not commute: an element is the function
// z → hi·z + lo of integers modulo 2³², and the result is upper after lower.
func compose(lower, upper uint64) uint64 {
	a, b := uint32(lower>>32), uint32(lower)
	c, d := uint32(upper>>32), uint32(upper)
	return uint64(c*a)<<32 | uint64(c*b+d)
}

func composeAll(in, inout []uint64) {
	for i := range inout {
		inout[i] = compose(in[i], inout[i])
	}
}

// forms are the ways to make an operator.
var forms = map[string]*op.Op{
	"Of":     op.Of("compose", false, compose),
	"Vector": op.Vector("compose", false, composeAll),
}

// counts are lengths around a block of intoLower's, and small ones.
var counts = []int{0, 1, 2, 3, 7, 64, 4095, 4096, 4097, 3*4096 + 5}

func TestUsersOperatorsKeepTheOrderOfOperandsInAllPlaces(t *testing.T) {
	for name, o := range forms {
		f, err := o.Func(op.Uint64)
		if err != nil {
			t.Fatal(err)
		}
		if o.Commutes() || !o.User() || o.String() != "compose" {
			t.Errorf("%s: %v commutes %v, user's %v", name, o, o.Commutes(), o.User())
		}
		for _, n := range counts {
			lower, upper := make([]uint64, n), make([]uint64, n)
			for i := range lower {
				lower[i], upper[i] = uint64(i)*0x9E3779B97F4A7C15+3, uint64(i)*0xD1B54A32D192ED03+5
			}
			checkUser(t, fmt.Sprint(name, " of ", n), f, lower, upper)
		}
	}
}

func checkUser(t rapid.TB, what string, f op.Func, lower, upper []uint64) {
	t.Helper()
	for _, p := range places {
		if p.sameValues {
			lower = upper
		}
		var all, inner [3][]byte
		for i, content := range [][]byte{bytesOf(lower), bytesOf(upper), make([]byte, 8*len(upper))} {
			all[i], inner[i] = fenced(content)
		}
		want := [3][]byte{bytes.Clone(all[0]), bytes.Clone(all[1]), bytes.Clone(all[2])}
		for i := range lower {
			order.PutUint64(want[p.to][16+8*i:], compose(lower[i], upper[i]))
		}
		f(inner[p.lower], inner[1], inner[p.to])
		for i := range all {
			if !bytes.Equal(all[i], want[i]) {
				t.Fatalf("%s, %s: buffer %d differs", what, p.name, i)
			}
		}
	}
}

func TestUsersOperatorsDoAsTheFunctionForAllValues(t *testing.T) {
	for name, o := range forms {
		f, err := o.Func(op.Uint64)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 20).Draw(t, "elements")
			lower := rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, "lower")
			upper := rapid.SliceOfN(rapid.Uint64(), n, n).Draw(t, "upper")
			checkUser(t, name, f, lower, upper)
		})
	}
}

func TestAUsersFunctionIsNotCalledForNoElements(t *testing.T) {
	for name, o := range map[string]*op.Op{
		"Of":     op.Of("never", true, func(_, _ int32) int32 { panic("called") }),
		"Vector": op.Vector("never", true, func(_, _ []int32) { panic("called") }),
	} {
		f, err := o.Func(op.Int32)
		if err != nil {
			t.Fatal(err)
		}
		f(nil, nil, nil)
		f([]byte{}, []byte{}, []byte{})
		// Too short for an element.
		same := aligned(3)
		f(same, aligned(3), same)
		f(same, aligned(8), aligned(8))
		if !bytes.Equal(same, make([]byte, 3)) {
			t.Errorf("%s writes %v", name, same)
		}
	}
}

func TestSlicesOfAUsersFunctionEndAtTheirCapacity(t *testing.T) {
	calls := 0
	o := op.Vector("append", true, func(in, inout []int16) {
		calls++
		if len(in) != len(inout) || len(in) == 0 || cap(in) != len(in) || cap(inout) != len(inout) {
			t.Errorf("in has %d of %d elements, inout %d of %d", len(in), cap(in), len(inout), cap(inout))
		}
		_, _ = append(in, 1), append(inout, 2)
	})
	f, err := o.Func(op.Int16)
	if err != nil {
		t.Fatal(err)
	}
	const size = 100_000 // several blocks of intoLower's
	lower, upper, to := aligned(size), aligned(size), aligned(size)
	for _, n := range []int{10, size - 2} {
		calls = 0
		f(lower[:n], upper[:n], to[:n])
		f(lower[:n], upper[:n], lower[:n])
		f(lower[:n], upper[:n], upper[:n])
		if zeros := make([]byte, size); calls < 3 || !bytes.Equal(lower, zeros) || !bytes.Equal(upper, zeros) || !bytes.Equal(to, zeros) {
			t.Errorf("%d bytes: after %d calls something is written behind the slices", n, calls)
		}
	}
}

func TestNamedTypesHaveOperators(t *testing.T) {
	warmer := op.Of("warmer", true, func(lower, upper celsius) celsius { return max(lower, upper) })
	if got := apply(t, warmer, celsius(3), 4); got != 4 {
		t.Errorf("the warmer of 3 and 4 is %v", got)
	}
	if got := apply(t, op.Sum, length(3), 4); got != 7 {
		t.Errorf("3 and 4 are %v", got)
	}
	implies := op.Of("implies", false, func(lower, upper flag) flag { return !lower || upper })
	if apply(t, implies, flag(true), false) || !apply(t, implies, flag(false), true) {
		t.Error("an implication is wrong")
	}
}

func TestAPanicOfAUsersFunctionLeavesTheOperatorUsable(t *testing.T) {
	bad := true
	var kept []uint64
	o := op.Vector("panics", false, func(in, inout []uint64) {
		if bad {
			kept = inout
			panic("bad")
		}
		composeAll(in, inout)
	})
	f, err := o.Func(op.Uint64)
	if err != nil {
		t.Fatal(err)
	}
	lower, upper := []uint64{1<<32 | 2, 3}, []uint64{5, 7<<32 | 11}
	func() {
		defer func() {
			if recover() != "bad" {
				t.Error("the panic does not arrive")
			}
		}()
		f(bytesOf(lower), bytesOf(upper), bytesOf(lower))
	}()
	bad = false
	want := []uint64{compose(lower[0], upper[0]), compose(lower[1], upper[1])}
	before := slices.Clone(kept)
	f(bytesOf(lower), bytesOf(upper), bytesOf(lower))
	if !slices.Equal(lower, want) || !slices.Equal(kept, before) {
		t.Errorf("after a panic the result is %x, want %x; what the panic left is %x, was %x", lower, want, kept, before)
	}
}

func TestOperatorsAreUsedByManyGoroutinesAtOnce(t *testing.T) {
	for _, o := range forms {
		f, err := o.Func(op.Uint64)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				lower, upper, want := make([]uint64, 5000), make([]uint64, 5000), make([]uint64, 5000)
				for range 10 {
					for i := range lower {
						lower[i], upper[i] = uint64(g*i)<<20+7, uint64(g+i)<<30+9
						want[i] = compose(lower[i], upper[i])
					}
					f(bytesOf(lower), bytesOf(upper), bytesOf(lower))
					if !slices.Equal(lower, want) {
						t.Errorf("goroutine %d of %v gets a wrong result", g, o)
					}
				}
			})
		}
		wg.Wait()
	}
}
