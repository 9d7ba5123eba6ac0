package topo

import "slices"

// Place is where a process is, the host first, then ever smaller parts of it. Two processes
// are in the same part if they have the same number there and at all levels before. A
// negative number, and one that is missing, is a part of its own.
type Place []int

// shared is the number of levels that two places have in common.
func shared(a, b Place) int {
	for l := range min(len(a), len(b)) {
		if a[l] != b[l] || a[l] < 0 {
			return l
		}
	}
	return min(len(a), len(b))
}

// levels are the parts that processes are in, the largest first. The processes are sorted by
// their places, and a part is named by its first. A level stands there only if it has more
// parts than the one before, and a part of two processes: others tell none of them apart.
type levels [][]int

// newLevels returns with the levels which process is the first by its place, and so on.
func newLevels(places []Place) (all levels, sorted []int) {
	depth := 0
	for _, p := range places {
		depth = max(depth, len(p))
	}
	sorted = identity(len(places))
	slices.SortStableFunc(sorted, func(a, b int) int { return slices.Compare(places[a], places[b]) })
	for l, parts := 0, 1; l < depth; l++ {
		level, count := make([]int, len(places)), 0
		for i := range level {
			if i > 0 && shared(places[sorted[i-1]], places[sorted[i]]) > l {
				level[i] = level[i-1]
			} else {
				level[i] = i
				count++
			}
		}
		if count > parts && count < len(places) {
			all, parts = append(all, level), count
		}
	}
	return all, sorted
}

// apart is the first level at which two processes are in different parts, or their number.
func (all levels) apart(a, b int) int {
	for l, level := range all {
		if level[a] != level[b] {
			return l
		}
	}
	return len(all)
}

// end is the process after the last one of a part.
func (all levels) end(level, part int) int {
	end := part + 1
	for end < len(all[level]) && all[level][end] == part {
		end++
	}
	return end
}

func identity(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
