package topo

import (
	"math"
	"slices"
)

// Dims fills the zeros of dims so that the product of all is n. The largest of those that
// it fills is as small as it can be, then the next largest, and so on; they come in falling
// order (MPI-4.0 §8.5.2). The slice that it returns is fresh. No dimensions hold one process.
//
// The error is a *DimsError: n below 1, a negative size, sizes that do not divide n.
func Dims(n int, dims []int) ([]int, error) {
	if n < 1 {
		return nil, &DimsError{n, slices.Clone(dims), -1}
	}
	free, rest := 0, n
	for i, d := range dims {
		if d < 0 || d > 0 && rest%d != 0 {
			return nil, &DimsError{n, slices.Clone(dims), i}
		} else if d == 0 {
			free++
		} else {
			rest /= d
		}
	}
	if free == 0 && rest > 1 {
		return nil, &DimsError{n, slices.Clone(dims), -1}
	}
	full := append([]int{}, dims...)
	split := splits{divisors(rest), map[[2]int]int{}}
	for i, d := range dims {
		if d == 0 {
			full[i] = split.largest(rest, free)
			rest /= full[i]
			free--
		}
	}
	return full, nil
}

// divisors are the divisors of n, rising.
func divisors(n int) (all []int) {
	for d := 1; d <= n/d; d++ {
		if n%d == 0 {
			all = append(all, d, n/d)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// splits finds how divisors of one number are split into factors.
type splits struct {
	divisors []int
	known    map[[2]int]int // by number and factors
}

// largest is the largest of k factors of n, where it is least. What it leaves of n splits
// into k-1 factors that are no larger.
func (s splits) largest(n, k int) int {
	if k == 1 || n == 1 {
		return n
	}
	key := [2]int{n, k}
	if f := s.known[key]; f > 0 {
		return f
	}
	for _, f := range s.divisors {
		enough := math.Pow(float64(f), float64(k)) > 0.99*float64(n) // the other side of rounding
		if enough && n%f == 0 && s.largest(n/f, k-1) <= f {
			s.known[key] = f
			return f
		}
	}
	return n // not reached: n is one of the divisors
}
