package op_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/internal/op"
)

var predefined = []*op.Op{op.Sum, op.Prod, op.Max, op.Min, op.LAnd, op.BAnd, op.LOr, op.BOr, op.LXor, op.BXor, op.MinLoc, op.MaxLoc}

// fits is the table of MPI-4.0 §6.9.2 in Go's types.
func fits(o *op.Op, k op.Kind) bool {
	switch {
	case o == op.MinLoc || o == op.MaxLoc:
		return k >= op.FloatInt
	case k == op.Byte:
		return o == op.BAnd || o == op.BOr || o == op.BXor
	case k > op.Byte:
		return false
	}
	switch o {
	case op.Sum, op.Prod:
		return k != op.Bool
	case op.Max, op.Min:
		return k != op.Bool && k != op.Complex64 && k != op.Complex128
	case op.LAnd, op.LOr, op.LXor:
		return k <= op.Uint64
	default:
		return k != op.Bool && k <= op.Uint64
	}
}

// each runs f for each predefined operator and each kind that it fits.
func each(t *testing.T, f func(t *testing.T, o *op.Op, k op.Kind, apply op.Func)) {
	for _, o := range predefined {
		for k := op.Bool; k <= op.TwoDouble; k++ {
			if fits(o, k) {
				apply, err := o.Func(k)
				if err != nil {
					t.Errorf("%v of %v: %v", o, k, err)
					continue
				}
				t.Run(fmt.Sprint(o, "/", k), func(t *testing.T) { f(t, o, k, apply) })
			}
		}
	}
}

func TestAPredefinedOperatorFitsTheKindsOfMPIAndNoOthers(t *testing.T) {
	for _, o := range predefined {
		if !o.Commutes() || o.User() {
			t.Errorf("%v: commutes %v, user's %v", o, o.Commutes(), o.User())
		}
		for k := op.Kind(0); k < 30; k++ {
			want := k.Size() > 0 && fits(o, k)
			if f, err := o.Func(k); (err == nil) != want || (f != nil) != want {
				t.Errorf("%v of %v: %v", o, k, err)
			}
		}
	}
}

// places says which of the operands share memory.
var places = []struct {
	name       string
	lower, to  int // of three buffers; upper is 1
	sameValues bool
}{
	{"to apart", 0, 2, false},
	{"to is lower", 0, 0, false},
	{"to is upper", 0, 1, false},
	{"lower is upper", 1, 2, true},
	{"all are one", 1, 1, true},
}

// fence is what lies around operands and has to stay.
const fence = 0xA5

func fenced(content []byte) (all, inner []byte) {
	all = aligned(len(content) + 32)
	for i := range all {
		all[i] = fence
	}
	copy(all[16:], content)
	return all, all[16 : 16+len(content) : 16+len(content)]
}

// check applies an operator for each place of the operands and compares with the
// model.
func check(t rapid.TB, o *op.Op, k op.Kind, f op.Func, lower, upper []byte) {
	t.Helper()
	for _, p := range places {
		if p.sameValues {
			lower = upper
		}
		result := model(o, k, lower, upper)
		var all, inner [3][]byte
		for i, content := range [][]byte{lower, upper, make([]byte, len(upper))} {
			all[i], inner[i] = fenced(content)
		}
		before := [3][]byte{bytes.Clone(all[0]), bytes.Clone(all[1]), bytes.Clone(all[2])}
		copy(before[p.to][16:], result)
		f(inner[p.lower], inner[1], inner[p.to])
		copy(inner[p.to], canonical(o, k, inner[p.to], result))
		for i := range all {
			if !bytes.Equal(all[i], before[i]) {
				t.Fatalf("%s: lower % x, upper % x: buffer %d is % x, want % x", p.name, lower, upper, i, all[i], before[i])
			}
		}
	}
}

func TestPredefinedOperatorsDoAsTheModelForAllLengthsAndPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		for n := range 68 {
			check(t, o, k, apply, random(r, k, n), random(r, k, n))
		}
	})
}

func TestPredefinedOperatorsDoAsTheModelForAllValues(t *testing.T) {
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		rapid.Check(t, func(t *rapid.T) {
			n := rapid.IntRange(0, 10).Draw(t, "elements")
			check(t, o, k, apply, drawn(t, k, n, "lower"), drawn(t, k, n, "upper"))
		})
	})
}

func TestOperandsThatAreNoWholeElementsOrDifferInLengthAreNotExceeded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		for range 200 {
			var all, inner [3][]byte
			shortest := 100
			for i := range inner {
				all[i], inner[i] = fenced(random(r, k, 7)[:r.IntN(7*k.Size()+1)])
				shortest = min(shortest, len(inner[i]))
			}
			n := shortest / k.Size() * k.Size()
			want := bytes.Clone(all[2])
			copy(want[16:], model(o, k, inner[0][:n], inner[1][:n]))
			apply(inner[0], inner[1], inner[2])
			copy(inner[2][:n], canonical(o, k, inner[2][:n], want[16:16+n]))
			if !bytes.Equal(all[2], want) {
				t.Fatalf("%d, %d and %d bytes: % x, want % x", len(inner[0]), len(inner[1]), len(inner[2]), all[2], want)
			}
		}
		apply(nil, nil, nil)
		apply(make([]byte, 16), nil, make([]byte, 16))
	})
}

// An element's result does not depend on its place and its neighbors, whatever the
// loop does with eight of them.
func TestAnElementAloneHasTheResultThatItHasAmongOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		const n = 21
		lower, upper, all := aligned(n*k.Size()), aligned(n*k.Size()), aligned(n*k.Size())
		copy(lower, random(r, k, n))
		copy(upper, random(r, k, n))
		apply(lower, upper, all)
		for i := range n {
			at, end := i*k.Size(), (i+1)*k.Size()
			alone := aligned(k.Size())
			apply(lower[at:end], upper[at:end], alone)
			if !bytes.Equal(canonical(o, k, alone, all[at:end]), all[at:end]) {
				t.Errorf("element %d: % x alone, % x among others", i, alone, all[at:end])
			}
		}
	})
}

// combined is the result of an operator in new memory.
func combined(apply op.Func, lower, upper []byte) []byte {
	to := aligned(len(lower))
	apply(lower, upper, to)
	return to
}

func TestPredefinedOperatorsCommute(t *testing.T) {
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		rapid.Check(t, func(t *rapid.T) {
			a, b := drawn(t, k, 4, "a"), drawn(t, k, 4, "b")
			ab, ba := combined(apply, a, b), combined(apply, b, a)
			if !bytes.Equal(canonical(o, k, ab, ba), ba) {
				t.Fatalf("a ⊕ b is % x, b ⊕ a is % x", ab, ba)
			}
		})
	})
}

func TestPredefinedOperatorsAreAssociativeWhereNothingIsRounded(t *testing.T) {
	each(t, func(t *testing.T, o *op.Op, k op.Kind, apply op.Func) {
		if k >= op.Float32 && (o == op.Sum || o == op.Prod) {
			return
		}
		rapid.Check(t, func(t *rapid.T) {
			a, b, c := drawn(t, k, 4, "a"), drawn(t, k, 4, "b"), drawn(t, k, 4, "c")
			left := combined(apply, combined(apply, a, b), c)
			right := combined(apply, a, combined(apply, b, c))
			if !bytes.Equal(left, right) {
				t.Fatalf("(a ⊕ b) ⊕ c is % x, a ⊕ (b ⊕ c) is % x", left, right)
			}
		})
	})
}

// A bool from a peer may be any byte; what comes out is a bool of Go's.
func TestLogicalOperatorsGiveZeroOrOne(t *testing.T) {
	for _, o := range []*op.Op{op.LAnd, op.LOr, op.LXor} {
		f, err := o.Func(op.Bool)
		if err != nil {
			t.Fatal(err)
		}
		for x := range 256 {
			for _, y := range []int{0, 1, 2, 128, 255} {
				got := combined(f, []byte{byte(x)}, []byte{byte(y)})
				p, q := x != 0, y != 0
				want := map[*op.Op]bool{op.LAnd: p && q, op.LOr: p || q, op.LXor: p != q}[o]
				if !slices.Equal(got, bytesOf([]bool{want})) {
					t.Errorf("%v of %d and %d is %d", o, x, y, got)
				}
			}
		}
	}
}
