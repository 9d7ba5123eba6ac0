package ulfm

import (
	"iter"
	"math/bits"
)

// Set is a set of ranks of a communicator, numbered from 0. A Set does not change: its
// methods return another one. The zero Set is empty.
type Set struct {
	low  uint64   // ranks below 64
	more []uint64 // the others; the last word is not 0
}

// All is the set of the ranks below n.
func All(n int) (s Set) {
	if n <= 64 {
		s.low = 1<<n - 1
		return s
	}
	s.low = ^uint64(0)
	s.more = make([]uint64, (n-1)/64)
	for i := range s.more {
		s.more[i] = ^uint64(0)
	}
	if n%64 != 0 {
		s.more[len(s.more)-1] = 1<<(n%64) - 1
	}
	return s
}

// OfWords is the set whose Words these are; words may have zeros at the end.
func OfWords(words []uint64) (s Set) {
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	if len(words) > 0 {
		s.low = words[0]
	}
	if len(words) > 1 {
		s.more = append([]uint64(nil), words[1:]...)
	}
	return s
}

// Words is the number of 64-bit words that hold the set.
func (s Set) Words() int {
	switch {
	case len(s.more) > 0:
		return 1 + len(s.more)
	case s.low != 0:
		return 1
	}
	return 0
}

// Word is a word of the set, rank 0 its lowest bit; 0 beyond Words.
func (s Set) Word(i int) uint64 {
	switch {
	case i == 0:
		return s.low
	case i <= len(s.more):
		return s.more[i-1]
	}
	return 0
}

// Has reports whether the rank is in the set.
func (s Set) Has(rank int) bool { return s.Word(rank/64)>>(rank%64)&1 != 0 }

// With is the set and the rank.
func (s Set) With(rank int) Set {
	if rank < 64 {
		s.low |= 1 << rank
		return s
	}
	more := make([]uint64, max(len(s.more), rank/64))
	copy(more, s.more)
	more[rank/64-1] |= 1 << (rank % 64)
	s.more = more
	return s
}

// Or is the union.
func (s Set) Or(t Set) Set {
	return s.join(t, max(len(s.more), len(t.more)), func(a, b uint64) uint64 { return a | b })
}

// And is the intersection.
func (s Set) And(t Set) Set {
	return s.join(t, min(len(s.more), len(t.more)), func(a, b uint64) uint64 { return a & b })
}

// Without is the set less that of t.
func (s Set) Without(t Set) Set {
	return s.join(t, len(s.more), func(a, b uint64) uint64 { return a &^ b })
}

func (s Set) join(t Set, n int, f func(a, b uint64) uint64) (u Set) {
	u.low = f(s.low, t.low)
	if n == 0 {
		return u
	}
	more := make([]uint64, n)
	for i := range more {
		more[i] = f(s.Word(i+1), t.Word(i+1))
	}
	for len(more) > 0 && more[len(more)-1] == 0 {
		more = more[:len(more)-1]
	}
	u.more = more
	return u
}

// Empty reports whether the set has no rank.
func (s Set) Empty() bool { return s.low == 0 && len(s.more) == 0 }

// Lowest is the lowest rank in the set, or -1.
func (s Set) Lowest() int {
	for rank := range s.Ranks() {
		return rank
	}
	return -1
}

// Ranks yields the ranks, in their order.
func (s Set) Ranks() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s.Words() {
			for w := s.Word(i); w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}
