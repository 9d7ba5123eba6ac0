package partitioned

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// naive is a bitmap as a map.
type naive map[int]bool

func (m naive) between(lo, hi int) (in []int) {
	for i := lo; i < hi; i++ {
		if m[i] {
			in = append(in, i)
		}
	}
	return in
}

// Every method of a bitmap does what the map does.
func TestABitmapIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 63, 64, 65, 128, 130, 200}).Draw(t, "n")
		m, set := newBitmap(n), naive{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			lo := rapid.IntRange(0, n-1).Draw(t, "lo")
			hi := rapid.IntRange(lo+1, n).Draw(t, "hi")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				m.add(lo)
				set[lo] = true
			case 1:
				if got := m.claim(lo); got != set[lo] {
					t.Fatalf("claim(%d) = %t", lo, got)
				}
				delete(set, lo)
			case 2:
				var fresh []int
				was := m.fill(lo, hi, func(word int, bits uint64) {
					for i := range 64 {
						if bits>>i&1 != 0 {
							fresh = append(fresh, 64*word+i)
						}
					}
				})
				before := set.between(lo, hi)
				if was < 0 != (len(before) == 0) || was >= 0 && was != before[0] {
					t.Fatalf("fill(%d, %d) = %d, in were %v", lo, hi, was, before)
				}
				for i := lo; i < hi; i++ {
					if slices.Contains(fresh, i) == set[i] {
						t.Fatalf("fill(%d, %d) added %v, in were %v", lo, hi, fresh, before)
					}
					set[i] = true
				}
				if len(fresh)+len(before) != hi-lo {
					t.Fatalf("fill(%d, %d) added %v, in were %v", lo, hi, fresh, before)
				}
			case 3:
				in := set.between(lo, hi)
				if got := m.any(lo, hi); got < 0 != (len(in) == 0) || got >= 0 && got != in[0] {
					t.Fatalf("any(%d, %d) = %d of %v", lo, hi, got, in)
				}
			case 4:
				if got := m.all(lo, hi); got != (len(set.between(lo, hi)) == hi-lo) {
					t.Fatalf("all(%d, %d) = %t of %v", lo, hi, got, set)
				}
			case 5:
				if m.has(lo) != set[lo] {
					t.Fatalf("has(%d) = %t", lo, m.has(lo))
				}
			case 6:
				var got []int
				end := -1
				m.take(func(first, count int) {
					if count < 1 || first <= end {
						t.Fatalf("take calls with %d from %d on, after %d", count, first, end)
					}
					for end = first; end < first+count; end++ {
						got = append(got, end)
					}
				})
				if want := set.between(0, n); !slices.Equal(got, want) {
					t.Fatalf("take found %v of %v", got, want)
				}
				clear(set)
			case 7:
				m.clear()
				clear(set)
			}
		}
	})
}

func TestAMaskHasTheBitsOfItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, lo, hi := rapid.IntRange(0, 3).Draw(t, "w"), rapid.IntRange(0, 256).Draw(t, "lo"), rapid.IntRange(0, 300).Draw(t, "hi")
		want := uint64(0)
		for i := range 64 {
			if n := 64*w + i; n >= lo && n < hi {
				want |= 1 << i
			}
		}
		if got := mask(w, lo, hi); got != want {
			t.Fatalf("mask(%d, %d, %d) = %#x, want %#x", w, lo, hi, got, want)
		}
	})
}

// Of goroutines that add to a bitmap and others that take out of it, each number
// goes to one.
func TestANumberOfABitmapIsTakenOnce(t *testing.T) {
	const n, rounds = 200, 300
	m := newBitmap(n)
	var taken [n]atomic.Int32
	for range rounds {
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				for i := g; i < n; i += 4 {
					m.add(i)
					if i%3 == 0 && m.claim(i) {
						taken[i].Add(1)
					}
				}
			})
		}
		for range 2 {
			all.Go(func() {
				m.take(func(first, count int) {
					for i := first; i < first+count; i++ {
						taken[i].Add(1)
					}
				})
			})
		}
		all.Wait()
		m.take(func(first, count int) {
			for i := first; i < first+count; i++ {
				taken[i].Add(1)
			}
		})
	}
	for i := range taken {
		if got := taken[i].Load(); got != rounds {
			t.Errorf("%d was added %d times and taken %d times", i, rounds, got)
		}
	}
}
