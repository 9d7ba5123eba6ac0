package rma

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	ops "github.com/weft-mpi/weft/internal/op"
)

const (
	hammers = 6
	strokes = 300
)

// hammer runs f for each stroke of several goroutines at once.
func hammer(f func(g, i int)) {
	var all sync.WaitGroup
	for g := range hammers {
		all.Go(func() {
			for i := range strokes {
				f(g, i)
			}
		})
	}
	all.Wait()
}

// element is a number as the memory of a kind.
func element(k ops.Kind, v int) []byte {
	e := alignedBytes(k.Size())
	switch k {
	case ops.Float32, ops.Float64:
		setFloat(e, float64(v))
	case ops.Complex64, ops.Complex128:
		setFloat(e[:len(e)/2], float64(v))
		setFloat(e[len(e)/2:], float64(-v))
	default:
		setBits(e, uint64(v))
	}
	return e
}

// Each goroutine adds to all elements, in vectors of many lengths and places. No sum
// is rounded.
func TestSumsOfManyGoroutinesAreExact(t *testing.T) {
	for k := ops.Int8; k <= ops.Complex128; k++ {
		t.Run(k.String(), func(t *testing.T) {
			const n = 13
			size := k.Size()
			window, want := alignedBytes(n*size), alignedBytes(n*size)
			var gate sync.Mutex
			var counts [hammers][n]int
			hammer(func(g, i int) {
				from := (g + i) % n
				count := 1 + (g*i)%(n-from)
				var operands []byte
				for j := range count {
					operands = append(operands, element(k, g+j-2)...)
					counts[g][from+j] += g + j - 2
				}
				dst := window[from*size : (from+count)*size]
				var old []byte
				if i%2 == 0 {
					old = make([]byte, len(dst))
				}
				if needsOwner(size, addressOf(dst)) {
					gate.Lock()
					defer gate.Unlock()
					accumulateOwned(ops.CodeSum, k, dst, operands, old)
					return
				}
				accumulate(ops.CodeSum, k, dst, operands, old)
			})
			for j := range n {
				sum := 0
				for g := range hammers {
					sum += counts[g][j]
				}
				copy(want[j*size:], element(k, sum))
			}
			if !sameZeros(k, window, want) {
				t.Errorf("% x, want % x", window, want)
			}
		})
	}
}

// sameZeros compares elements for which the sign of a zero does not matter.
func sameZeros(k ops.Kind, got, want []byte) bool {
	if k < ops.Float32 {
		return bytes.Equal(got, want)
	}
	part := 4
	if k == ops.Float64 || k == ops.Complex128 {
		part = 8
	}
	for i := 0; i < len(got); i += part {
		if floatIn(got[i:i+part]) != floatIn(want[i:i+part]) {
			return false
		}
	}
	return true
}

// A long hammer has goroutines in the middle of an operation when others come: on
// another processor, or after they were preempted there.
func TestNoStrokeOfALongHammerIsLost(t *testing.T) {
	const goroutines, long = 4, 1_000_000
	for _, c := range []struct {
		k    ops.Kind
		each bool // goroutines have an element of their own, in one word
	}{{ops.Float64, false}, {ops.Int16, true}} {
		size := c.k.Size()
		window, want := alignedBytes(8), alignedBytes(8)
		var begin, all sync.WaitGroup
		begin.Add(goroutines)
		for g := range goroutines {
			dst := window[:size]
			if c.each {
				dst = window[g*size : (g+1)*size]
				copy(want[g*size:], element(c.k, long))
			} else {
				copy(want, element(c.k, goroutines*long))
			}
			all.Go(func() {
				one := element(c.k, 1)
				begin.Done()
				begin.Wait()
				for range long {
					accumulate(ops.CodeSum, c.k, dst, one, nil)
				}
			})
		}
		all.Wait()
		if !bytes.Equal(window, want) {
			t.Errorf("%v: % x, want % x", c.k, window, want)
		}
	}
}

// The eight bytes of one word are elements of six kinds. Each goroutine has its own
// one, and knows what it is at any time, whatever the others do to theirs.
func TestNeighborsInAWordDoNotDisturbOneAnother(t *testing.T) {
	for c := ops.CodeSum; c <= ops.CodeNoOp; c++ {
		t.Run(c.Op().String(), func(t *testing.T) {
			window := alignedBytes(24)
			places := []struct {
				k  ops.Kind
				at int
			}{{ops.Uint8, 8}, {ops.Int8, 9}, {ops.Int16, 10}, {ops.Uint32, 12}, {ops.Uint8, 7}, {ops.Uint16, 16}}
			var mine [hammers][]byte
			var random [hammers]*rand.Rand
			for g, p := range places {
				mine[g], random[g] = make([]byte, p.k.Size()), rand.New(rand.NewPCG(uint64(g), 5))
			}
			hammer(func(g, i int) {
				p := places[g]
				operand, old := randomElements(random[g], p.k, 1), make([]byte, p.k.Size())
				dst := window[p.at : p.at+len(old)]
				was := naive(c, p.k, mine[g], operand)
				accumulate(c, p.k, dst, operand, old)
				if !bytes.Equal(old, was) {
					t.Errorf("the %v at %d was % x, want % x", p.k, p.at, old, was)
				}
				if i%4 == 0 {
					value := randomElements(random[g], p.k, 1)
					compareAndSwap(p.k, dst, mine[g], value, old)
					if !bytes.Equal(old, mine[g]) {
						t.Errorf("the %v at %d was % x, want % x", p.k, p.at, old, mine[g])
					}
					copy(mine[g], value)
				}
			})
		})
	}
}

func TestCountersByCompareAndSwapAreExact(t *testing.T) {
	for k := ops.Int8; k <= ops.Uint64; k++ {
		window := alignedBytes(24)
		dst := window[8 : 8+k.Size()]
		hammer(func(g, i int) {
			now := make([]byte, k.Size())
			for {
				next := element(k, int(rawBits(now))+1)
				old := make([]byte, k.Size())
				compareAndSwap(k, dst, now, next, old)
				if bytes.Equal(old, now) {
					return
				}
				now = old
			}
		})
		want := alignedBytes(24)
		copy(want[8:], element(k, hammers*strokes))
		if !bytes.Equal(window, want) {
			t.Errorf("%v: % x, want % x", k, window, want)
		}
	}
}

// The goroutine that takes a byte from false to true has it alone.
func TestATestAndSetOfABoolIsALock(t *testing.T) {
	window := alignedBytes(8)
	counts := [8]int{}
	hammer(func(g, i int) {
		at := (g * i) % 8
		old := []byte{1}
		for ; old[0] != 0; runtime.Gosched() {
			if g%2 == 0 {
				accumulate(ops.CodeLOr, ops.Bool, window[at:at+1], []byte{1}, old)
			} else {
				compareAndSwap(ops.Bool, window[at:at+1], []byte{0}, []byte{1}, old)
			}
		}
		counts[at]++
		accumulate(ops.CodeReplace, ops.Bool, window[at:at+1], []byte{0}, nil)
	})
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != hammers*strokes {
		t.Errorf("%d strokes were counted, want %d", sum, hammers*strokes)
	}
}
