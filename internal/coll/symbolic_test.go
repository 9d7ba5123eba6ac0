package coll

import (
	"flag"
	"slices"
	"testing"
)

var (
	full = flag.Bool("full", false, "run the large trials of the symbolic machine too")
	most = flag.Int("most", 128, "run trials of so many ranks in a group at most")
)

// Where a trial moves more elements than this, one with fewer per rank stands for it.
const large = 30_000

// Every algorithm of every call, at every rank, does what MPI says, within a group.
func TestSymbolicRunsWithinAGroup(t *testing.T) {
	var sizes []int
	for p := 1; p <= 64; p++ {
		sizes = append(sizes, p)
	}
	sizes = append(sizes, 100, 127, 128)
	each(t, func(t *testing.T, call Call, alg *Algorithm) (n int) {
		for _, p := range sizes {
			if p > *most || p > 32 && testing.Short() {
				break
			}
			counts := []int{0, 1, p - 1, p, p + 1}
			n += try(t, trial{call: call, alg: alg, sizes: [2]int{p}}, counts, rootsOf(p))
		}
		return n
	})
}

// So it does between two groups.
func TestSymbolicRunsBetweenGroups(t *testing.T) {
	sizes := [][2]int{{1, 17}, {17, 1}, {16, 16}, {20, 7}, {5, 33}}
	for p := 1; p <= 6; p++ {
		for q := 1; q <= 6; q++ {
			sizes = append(sizes, [2]int{p, q})
		}
	}
	each(t, func(t *testing.T, call Call, alg *Algorithm) (n int) {
		for _, s := range sizes {
			n += try(t, trial{call: call, alg: alg, sizes: s}, []int{0, 1, 2, 7}, rootsOf(s[0]+s[1]))
		}
		return n
	})
}

// each runs f for the algorithms of all calls, one after another for each call.
func each(t *testing.T, f func(t *testing.T, call Call, alg *Algorithm) int) {
	for call := Barrier; call <= LastCall; call++ {
		t.Run(call.String(), func(t *testing.T) {
			t.Parallel()
			for _, alg := range Algorithms(call) {
				if n := f(t, call, alg); n > 0 {
					t.Logf("%s: %d runs", alg.Name, n)
				}
			}
		})
	}
}

// try runs a trial with each of the counts and roots, and the flags that the call
// has.
func try(t *testing.T, c trial, counts, roots []int) (n int) {
	t.Helper()
	places, orders, between := []int{nowhere}, []bool{true}, c.sizes[1] > 0
	if !between && c.call != Barrier && c.call != Bcast {
		places = append(places, everywhere)
		if c.call == Scan || c.call == Exscan {
			places = append(places, somewhere)
		}
	}
	if c.call.reduces() {
		orders = append(orders, false)
	}
	if !c.call.oneIn() && !c.call.oneOut() {
		roots = []int{0}
	}
	if c.call == Barrier {
		counts = []int{0}
	}
	for _, c.root = range roots {
		for k, count := range counts {
			if c.count = count; count < 0 || slices.Contains(counts[:k], count) || c.size() > large && !*full {
				continue
			}
			for _, c.inPlace = range places {
				for _, c.commutes = range orders {
					if !c.alg.Fits(c.places()[0].shape) {
						continue
					}
					for _, c.gaps = range []bool{false, true} {
						if c.gaps && (c.sizes[0] > 17 || c.call == Barrier) {
							break
						}
						if err := c.run(); err != nil {
							t.Fatalf("%v: %v", c, err)
						}
						n++
					}
				}
			}
		}
	}
	return n
}

// size is about how many elements the ranks have and get.
func (c trial) size() int {
	ranks := c.sizes[0] + c.sizes[1]
	switch c.call {
	case Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw, ReduceScatterBlock, ReduceScatter:
		return ranks * ranks * c.count
	}
	return ranks * c.count
}

// rootsOf are all ranks, or some of many.
func rootsOf(p int) (roots []int) {
	if p > 16 {
		return []int{0, 1, p / 2, p - 1}
	}
	for r := range p {
		roots = append(roots, r)
	}
	return roots
}
