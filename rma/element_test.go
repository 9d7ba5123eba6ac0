package rma

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

// eachElement runs f for each operator and each kind that it fits.
func eachElement(t *testing.T, f func(t *testing.T, c ops.Code, k ops.Kind)) {
	for c := ops.CodeSum; c <= ops.CodeNoOp; c++ {
		for k := ops.Bool; k <= ops.Complex128; k++ {
			if _, err := c.Op().OnWindow(k); err == nil {
				t.Run(fmt.Sprint(c.Op(), "/", k), func(t *testing.T) { f(t, c, k) })
			}
		}
	}
}

// forms are the ways to accumulate.
var forms = []struct {
	name    string
	call    func(c ops.Code, k ops.Kind, dst, operands, old []byte)
	anyhow  bool // also what needs the owner
	shifted int  // how many bytes the operands are off their alignment
}{
	{"accumulate", accumulate, false, 0},
	{"accumulate", accumulate, false, 3},
	{"accumulateOwned", accumulateOwned, true, 0},
	{"accumulateOwned", accumulateOwned, true, 1},
}

func TestAccumulatesDoAsTheModelForAllOperatorsKindsAndPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	eachElement(t, func(t *testing.T, c ops.Code, k ops.Kind) {
		for _, form := range forms {
			for n := range 21 {
				for at := range 17 {
					window := alignedBytes(16 + n*k.Size() + 16)
					copy(window, randomElements(r, ops.Uint64, len(window)/8))
					dst := window[at : at+n*k.Size()]
					copy(dst, randomElements(r, k, n))
					if needsOwner(k.Size(), addressOf(dst)) && !form.anyhow {
						continue
					}
					operands := alignedBytes(n*k.Size() + form.shifted)[form.shifted:]
					copy(operands, randomElements(r, k, n))
					want := bytes.Clone(window)
					wantOld := naive(c, k, want[at:at+len(dst)], operands)
					var old []byte
					if r.IntN(2) == 0 {
						old = alignedBytes(len(dst) + form.shifted)[form.shifted:]
					}
					given := bytes.Clone(operands)
					if c == ops.CodeNoOp {
						operands = nil
					}
					form.call(c, k, dst, operands, old)
					what := fmt.Sprintf("%s, %d elements at %d", form.name, n, at)
					if !sameElements(c, k, dst, want[at:at+len(dst)]) {
						t.Fatalf("%s: % x, want % x", what, dst, want[at:at+len(dst)])
					}
					copy(dst, want[at:])
					if !bytes.Equal(window, want) {
						t.Fatalf("%s: the window is % x, want % x", what, window, want)
					}
					if old != nil && !bytes.Equal(old, wantOld) {
						t.Fatalf("%s: the old elements are % x, want % x", what, old, wantOld)
					}
					if operands != nil && !bytes.Equal(operands, given) {
						t.Fatalf("%s: the operands have changed", what)
					}
				}
			}
		}
	})
}

func TestCompareAndSwapDoesAsTheModelForAllKindsAndPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := ops.Bool; k <= ops.Uint64; k++ {
		size := k.Size()
		for at := range 17 {
			for range 20 {
				window := randomElements(r, ops.Uint64, 4)
				dst := window[at : at+size]
				copy(dst, randomElements(r, k, 1))
				compare, value, old := randomElements(r, k, 1), randomElements(r, k, 1), alignedBytes(size)
				if r.IntN(2) == 0 {
					copy(compare, dst)
				}
				was, want := bytes.Clone(dst), bytes.Clone(window)
				if bytes.Equal(was, compare) {
					copy(want[at:], value)
				}
				if needsOwner(size, addressOf(dst)) {
					compareAndSwapOwned(dst, compare, value, old)
				} else {
					compareAndSwap(k, dst, compare, value, old)
				}
				if !bytes.Equal(window, want) || !bytes.Equal(old, was) {
					t.Fatalf("%v at %d, % x for % x if it is % x: % x and % x, want % x", k, at, value, was, compare, old, window, want)
				}
			}
		}
	}
}

func TestCompareAndSwapTakesBoolsAndIntegers(t *testing.T) {
	for k := ops.Kind(0); k < 20; k++ {
		err := comparesBits(k)
		if (err == nil) != (k >= ops.Bool && k <= ops.Uint64) {
			t.Errorf("%v: %v", k, err)
		}
		want := fmt.Sprintf("CompareAndSwap is not defined for %v: it takes bool and integers", k)
		if err != nil && err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestElementsOf16BytesAndThoseNotAlignedNeedTheGate(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		var without []int
		for at := range 16 {
			if !needsOwner(size, uintptr(4096+at)) {
				without = append(without, at)
			}
		}
		want := map[int][]int{1: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 2: {0, 2, 4, 6, 8, 10, 12, 14},
			4: {0, 4, 8, 12}, 8: {0, 8}}[size]
		if !slices.Equal(without, want) {
			t.Errorf("elements of %d bytes do not need it at %v, want %v", size, without, want)
		}
	}
}

// Where the byte order is the other one, words have the same bytes in another order.
func TestPartsOfAWordAreInTheOrderOfMemory(t *testing.T) {
	b := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for n := 1; n <= 8; n++ {
		v := getPart(b[:n])
		back := make([]byte, n)
		putPart(back, v)
		if !bytes.Equal(back, b[:n]) {
			t.Errorf("%d bytes come back as %v", n, back)
		}
		for i := range n {
			if byte(v>>bytePlace(i, n)) != b[i] {
				t.Errorf("byte %d of %d is %d in the word", i, n, byte(v>>bytePlace(i, n)))
			}
		}
	}
	if getPart(b) != native.Uint64(b) || getPart(b[:2]) != uint64(native.Uint16(b)) {
		t.Error("the order is not the processor's")
	}
}
