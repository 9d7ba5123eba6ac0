package topo

// Place is where a process is, the host first, then ever smaller parts of it. Two processes
// are in the same part if they have the same number there and at all levels before. A
// negative number, and one that is missing, is a part of its own.
type Place []int

// levels are the parts that processes are in, the largest first: by level and process the
// number of its part. A level stands there only if it has more parts than the one before,
// and a part of two processes: others tell none of them apart.
type levels [][]int

func newLevels(places []Place) (all levels) {
	depth := 0
	for _, p := range places {
		depth = max(depth, len(p))
	}
	part := make([]int, len(places)) // of the level before
	parts := 1
	for l := range depth {
		numbers := map[[2]int]int{}
		next := make([]int, len(places))
		count := 0
		for i, p := range places {
			next[i] = count
			if l < len(p) && p[l] >= 0 {
				key := [2]int{part[i], p[l]}
				if known, ok := numbers[key]; ok {
					next[i] = known
					continue
				}
				numbers[key] = count
			}
			count++
		}
		if count == len(places) {
			break
		}
		if count > parts {
			all = append(all, next)
		}
		part, parts = next, count
	}
	return all
}

// distance is the class of the way between two processes: 0 from one to itself, else one
// more than the number of levels at which they are apart.
func (all levels) distance(a, b int) int {
	if a == b {
		return 0
	}
	for l, part := range all {
		if part[a] != part[b] {
			return len(all) - l + 1
		}
	}
	return 1
}

// Cost is the sum over the edges of their weight times the class of their distance, if order
// has the rank of each process; nil is the identity. The class is 0 in one process, 1 in the
// smallest part that processes share, and grows by 1 with each level at which they are apart.
// A level that parts none of the processes, or all, does not count.
func Cost(places []Place, edges []Edge, order []int) int {
	all, at := newLevels(places), identity(len(places))
	for process, rank := range order {
		at[rank] = process
	}
	cost := 0
	for _, e := range edges {
		cost += e.Weight * all.distance(at[e.From], at[e.To])
	}
	return cost
}

func identity(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
