package counters

import (
	"math/bits"
	"testing"
)

// bound is the greatest value that bucket i counts.
func bound(i int) uint64 {
	if i == 0 {
		return 0
	}
	return 1 << (i - 1)
}

// Each value is in the bucket whose bounds it lies between, the bound itself in the
// lower one.
func TestBucketsEndAtPowersOfTwo(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 4, 5, 8, 9, 1 << 20, 1<<20 + 1, 1<<62 - 1, 1 << 62} {
		i := bucket(n)
		if n > bound(i) || i > 0 && n <= bound(i-1) {
			t.Errorf("%d is in bucket %d, above %d and up to %d", n, i, bound(max(i-1, 0)), bound(i))
		}
	}
	var a, b Histogram
	for n := range uint64(100) {
		if got := a.Add(n); got != a.Buckets[bucket(n)] {
			t.Errorf("Add(%d) is %d", n, got)
		}
		b.Add(n)
	}
	a.Join(&b)
	if a.Count() != 200 || a.Sum != 99*100 || a.Buckets[bits.Len(99)+1] != 2*(99-64) {
		t.Errorf("two histograms of 0 to 99 are %+v", a)
	}
}
