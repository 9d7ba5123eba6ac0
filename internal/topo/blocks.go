package topo

import (
	"cmp"
	"math"
	"slices"
)

// blocks are orders in which each part has a block of the grid, and its own parts have blocks
// of that. One is made for each size of the largest parts, after the first part of that size;
// parts of other sizes get in it what comes next along the blocks.
func (m *mapping) blocks(g Grid) (orders [][]int) {
	tried := map[int]bool{}
	for first := 0; first < len(m.near) && len(tried) < 4; first = m.levels.end(0, first) {
		n := m.levels.end(0, first) - first
		if tried[n] {
			continue
		}
		tried[n] = true
		shapes := [][]int{g.Dims}
		at := m.along(g, shapes)
		for l := range m.levels {
			var best []int
			least := math.MaxInt
			for _, shape := range boxes(m.levels.end(l, first)-first, shapes[len(shapes)-1]) {
				order := m.along(g, append(shapes, shape))
				if c := m.cost(order, l+1); c < least {
					at, least, best = order, c, shape
				}
			}
			if best != nil {
				shapes = append(shapes, best)
			}
		}
		orders = append(orders, at)
	}
	return orders
}

// along gives the ranks of a grid processes in turn: block by block of the second shape, each
// by blocks of the next; the first is the grid's own. Ranks beyond the grid come last.
func (m *mapping) along(g Grid, shapes [][]int) []int {
	inner := append(slices.Clone(shapes[1:]), slices.Repeat([]int{1}, len(g.Dims)))
	ranks, turn := identity(len(m.near)), make([]int, len(m.near))
	for rank := range turn {
		if rank >= g.Size() {
			turn[rank] = math.MaxInt
			continue
		}
		coords := g.Coords(rank)
		for i, shape := range inner {
			for d, b := range shape {
				turn[rank] = turn[rank]*((shapes[i][d]+b-1)/b) + coords[d]/b
				coords[d] %= b
			}
		}
	}
	slices.SortStableFunc(ranks, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	at := make([]int, len(ranks))
	for process, rank := range ranks {
		at[rank] = process
	}
	return at
}

// boxes are shapes of n positions that fit in a box: the few of least surface in it.
func boxes(n int, box []int) [][]int {
	all := [][]int{{}}
	for i, d := range box {
		var next [][]int
		for _, shape := range all {
			left := n
			for _, b := range shape {
				left /= b
			}
			for b := 1; b <= d; b++ {
				if left%b == 0 && (i < len(box)-1 || left == b) {
					next = append(next, append(slices.Clone(shape), b))
				}
			}
		}
		all = next
	}
	surface := func(shape []int) (sum int) {
		for i, b := range shape {
			if b < box[i] {
				sum += n / b
			}
		}
		return sum
	}
	slices.SortStableFunc(all, func(a, b []int) int { return surface(a) - surface(b) })
	return all[:min(len(all), 16)]
}
