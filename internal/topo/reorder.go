package topo

import (
	"cmp"
	"math"
	"slices"
)

// Cost is the sum over the edges of their weight times the class of their distance, if order
// has the rank of each process; nil is the identity. The class is 0 in one process, 1 in the
// smallest part that processes share, and grows by 1 with each level at which they are apart.
// A level at which no more processes are apart than before, or all are, does not count.
func Cost(places []Place, edges []Edge, order []int) int {
	m := newMapping(places, edges)
	at := identity(len(places))
	if order == nil {
		order = identity(len(places))
	}
	for i, process := range m.sorted {
		at[order[process]] = i
	}
	return m.cost(at, len(m.levels))
}

// Reorder returns for each process its new rank, of 0 to len(places)-1, such that the Cost
// of the edges is low. The edges name ranks of these and have weights of 0 or more; ranks
// that none names are for the processes left over. If grid is not nil the edges are its.
//
// The first orders are blocks of the grid for each part, the processes by their places, parts
// that are grown along the edges, and the identity. Swaps improve each. The cheapest must
// cost less than the identity by 5 %, else Reorder returns the identity.
func Reorder(places []Place, edges []Edge, grid *Grid) []int {
	m, order := newMapping(places, edges), identity(len(places))
	same := make([]int, len(places)) // each process has its own rank
	for i, process := range m.sorted {
		same[process] = i
	}
	whole := m.cost(same, len(m.levels))
	if len(m.levels) == 0 || whole == 0 {
		return order
	}
	var starts [][]int
	if grid != nil {
		starts = m.blocks(*grid)
	}
	starts = append(starts, identity(len(places)), m.grown(), same)
	var best []int
	least := whole
	for _, at := range starts {
		m.improve(at, work/len(starts))
		if c := m.cost(at, len(m.levels)); c < least && (whole-c)*20 >= whole {
			best, least = at, c
		}
	}
	for rank, i := range best {
		order[m.sorted[i]] = rank
	}
	return order
}

// mapping is which processes and which ranks are to be brought together. Processes have the
// numbers that levels give them. An order is a slice of the process of each rank, called at.
type mapping struct {
	levels levels
	sorted []int
	near   [][]link // by rank
}

// link is the edges of both directions between two ranks.
type link struct{ to, weight int }

func newMapping(places []Place, edges []Edge) *mapping {
	m := &mapping{near: make([][]link, len(places))}
	m.levels, m.sorted = newLevels(places)
	most := math.MaxInt / 64 / (len(m.levels) + 2) / (len(edges) + 1) // so that no sum overflows
	both := make([]Edge, 0, 2*len(edges))
	for _, e := range edges {
		if w := min(e.Weight, most); w > 0 && e.From != e.To {
			both = append(both, Edge{e.From, e.To, w}, Edge{e.To, e.From, w})
		}
	}
	slices.SortFunc(both, func(a, b Edge) int { return cmp.Or(a.From-b.From, a.To-b.To) })
	for i, e := range both {
		links := m.near[e.From]
		if i == 0 || both[i-1].From != e.From || both[i-1].To != e.To {
			links = append(links, link{to: e.To})
		}
		links[len(links)-1].weight += e.Weight
		m.near[e.From] = links
	}
	return m
}

// cost is the Cost of an order, if only the first depth levels are looked at.
func (m *mapping) cost(at []int, depth int) (cost int) {
	for rank, links := range m.near {
		for _, l := range links {
			if l.to < rank {
				cost += l.weight * (depth + 1 - m.levels[:depth].apart(at[rank], at[l.to]))
			}
		}
	}
	return cost
}

// grown is the order in which each process in turn gets the rank that most weight links to
// those that are near it and have theirs. Of these it gets the one that was linked first, so
// that parts grow to all sides; else the one with least weight to ranks that are free, but
// ranks without such links come last.
func (m *mapping) grown() []int {
	n := len(m.near)
	at, free, pull, loose, since := make([]int, n), identity(n), make([]int, n), make([]int, n), make([]int, n)
	for r, links := range m.near {
		at[r] = -1
		for _, l := range links {
			loose[r] += l.weight
		}
	}
	for process := range at {
		if process > 0 && m.levels.apart(process-1, process) < len(m.levels) { // another part begins
			for _, r := range free {
				pull[r], since[r] = 0, 0
				for _, l := range m.near[r] {
					if at[l.to] >= 0 {
						pull[r] += l.weight * m.levels.apart(process, at[l.to])
					}
				}
			}
		}
		best := slices.MinFunc(free, func(a, b int) int {
			return cmp.Or(cmp.Compare(pull[b], pull[a]), since[a]-since[b], cmp.Compare(min(loose[b], 1), min(loose[a], 1)), cmp.Compare(loose[a], loose[b]))
		})
		free = slices.DeleteFunc(free, func(r int) bool { return r == best })
		at[best] = process
		for _, l := range m.near[best] {
			loose[l.to] -= l.weight
			pull[l.to] += l.weight * len(m.levels)
			since[l.to] = cmp.Or(since[l.to], process+1)
		}
	}
	return at
}

// work bounds how many links improve looks at in all orders together: about a second's.
const work = 1 << 25

// improve swaps the processes of ranks while that gains, but looks at no more than so many
// links. It tries for each rank all processes of the parts that its neighbours are in, and it
// is not.
func (m *mapping) improve(at []int, steps int) {
	rank, seen, search := make([]int, len(at)), make([]int, len(at)), 0
	for r, process := range at {
		rank[process] = r
	}
	for again := true; again; {
		again = false
		for a := range at {
			search++
			with, most := a, 0
			for _, l := range m.near[a] {
				level := m.levels.apart(at[a], at[l.to])
				if level == len(m.levels) {
					continue
				}
				part := m.levels[level][at[l.to]]
				if seen[part] == search {
					continue
				}
				seen[part] = search
				for _, b := range rank[part:m.levels.end(level, part)] {
					if steps -= len(m.near[a]) + len(m.near[b]); steps < 0 {
						return
					}
					if gain := m.gain(at, a, b) + m.gain(at, b, a); gain > most {
						with, most = b, gain
					}
				}
			}
			if most > 0 {
				at[a], at[with] = at[with], at[a]
				rank[at[a]], rank[at[with]] = a, with
				again = true
			}
		}
	}
}

// gain is what it gains to have a rank where another is, but for the links between them.
func (m *mapping) gain(at []int, a, b int) (gain int) {
	for _, l := range m.near[a] {
		if l.to != b {
			gain += l.weight * (m.levels.apart(at[b], at[l.to]) - m.levels.apart(at[a], at[l.to]))
		}
	}
	return gain
}
