package partitioned

import (
	"math/bits"
	"sync/atomic"
)

// bitmap is a set of numbers that goroutines add to and take from at once.
type bitmap []atomic.Uint64

func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (m bitmap) clear() {
	for i := range m {
		m[i].Store(0)
	}
}

func (m bitmap) has(i int) bool { return m[i/64].Load()&(1<<(i%64)) != 0 }

func (m bitmap) add(i int) { m[i/64].Or(1 << (i % 64)) }

// claim takes i out and reports whether it was in.
func (m bitmap) claim(i int) bool {
	bit := uint64(1) << (i % 64)
	return m[i/64].And(^bit)&bit != 0
}

// mask returns the bits of word w that are of the numbers from lo to below hi.
func mask(w, lo, hi int) uint64 {
	lo, hi = max(lo-64*w, 0), min(hi-64*w, 64)
	if lo >= hi {
		return 0
	}
	return ^uint64(0) >> (64 - (hi - lo)) << lo
}

// fill adds the numbers from lo to below hi. It calls added with those that were
// not in, as words of bits, and returns one that was, or -1.
func (m bitmap) fill(lo, hi int, added func(word int, bits uint64)) (was int) {
	was = -1
	for w := lo / 64; w <= (hi-1)/64; w++ {
		want := mask(w, lo, hi)
		old := m[w].Or(want)
		if twice := old & want; twice != 0 && was < 0 {
			was = 64*w + bits.TrailingZeros64(twice)
		}
		if fresh := want &^ old; fresh != 0 {
			added(w, fresh)
		}
	}
	return was
}

// any returns one of the numbers from lo to below hi that are in, or -1.
func (m bitmap) any(lo, hi int) int {
	for w := lo / 64; w <= (hi-1)/64; w++ {
		if in := m[w].Load() & mask(w, lo, hi); in != 0 {
			return 64*w + bits.TrailingZeros64(in)
		}
	}
	return -1
}

// all reports whether the numbers from lo to below hi are in.
func (m bitmap) all(lo, hi int) bool {
	for w := lo / 64; w <= (hi-1)/64; w++ {
		if want := mask(w, lo, hi); m[w].Load()&want != want {
			return false
		}
	}
	return true
}

// take takes everything out and calls f with each run of numbers, from the lowest
// on.
func (m bitmap) take(f func(first, count int)) {
	first, count := 0, 0
	for w := range m {
		if m[w].Load() == 0 {
			continue
		}
		for in := m[w].Swap(0); in != 0; {
			at := bits.TrailingZeros64(in)
			n := bits.TrailingZeros64(^(in >> at))
			in &^= mask(0, at, at+n)
			if at += 64 * w; count > 0 && at == first+count {
				count += n
				continue
			}
			if count > 0 {
				f(first, count)
			}
			first, count = at, n
		}
	}
	if count > 0 {
		f(first, count)
	}
}
