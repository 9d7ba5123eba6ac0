package counters

import "math/bits"

// Buckets counts values by their magnitude: Buckets[0] those that are 0,
// Buckets[i] those above 2^(i-2) and up to 2^(i-1), so 1, 2, 3 to 4, 5 to 8 and so
// on. The bounds are powers of two because the lengths of messages are. The owner
// adds to it with plain stores.
type Buckets [64]uint64

// HistogramSecond is a second in a histogram of seconds, a little more than as many
// nanoseconds: so its bounds are powers of two of a second.
const HistogramSecond = 1 << 30

// Histogram is Buckets and the sum of the values.
type Histogram struct {
	Sum     uint64
	Buckets Buckets
}

// Add counts a value, which is at most 2^62, and returns how many of its bucket
// there are.
func (h *Histogram) Add(n uint64) uint64 {
	h.Sum += n
	b := &h.Buckets[bucket(n)]
	*b++
	return *b
}

// bucket is the bits of 2n-1: of 0 they are 64, which is cut to 0.
func bucket(n uint64) int { return bits.Len64(2*n-1) & 63 }

// Count is the number of values.
func (h *Histogram) Count() (n uint64) {
	for _, b := range h.Buckets {
		n += b
	}
	return n
}

// Join adds the counts of another one.
func (h *Histogram) Join(o *Histogram) {
	h.Sum += o.Sum
	for i, b := range o.Buckets {
		h.Buckets[i] += b
	}
}
