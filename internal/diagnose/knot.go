package diagnose

import (
	"maps"
	"slices"
)

// node is a rank in the graph of who waits for whom: its goroutines that are blocked. A
// rank without any can make calls, as far as anybody knows.
type node []blocked

// blocked is a goroutine that goes on once need of its operations have completed.
type blocked struct {
	need int
	ops  []op
}

// op is an operation; it has to wait for all of its parts.
type op []part

// part can't complete before the ranks of needs have made calls, with any one of them.
// Without needs it may complete by itself.
type part struct {
	needs []int
	any   bool
}

// held reports whether the part can't complete before one of the ranks of in goes on.
func (p part) held(in map[int]bool) bool {
	if len(p.needs) == 0 {
		return false
	}
	outside := func(r int) bool { return !in[r] }
	if p.any {
		return !slices.ContainsFunc(p.needs, outside)
	}
	return slices.ContainsFunc(p.needs, func(r int) bool { return in[r] })
}

func (o op) held(in map[int]bool) bool {
	return slices.ContainsFunc(o, func(p part) bool { return p.held(in) })
}

func (b blocked) held(in map[int]bool) bool {
	can := 0
	for _, o := range b.ops {
		if !o.held(in) {
			can++
		}
	}
	return can < b.need
}

func (n node) held(in map[int]bool) bool {
	return len(n) > 0 && !slices.ContainsFunc(n, func(b blocked) bool { return !b.held(in) })
}

// stuck returns the ranks that can't go on any more: the greatest set of ranks each of
// which is held by ranks of the set. Ranks are taken out until only such ranks are left.
func stuck(nodes map[int]node) map[int]bool {
	in := map[int]bool{}
	for r := range nodes {
		in[r] = true
	}
	for changed := true; changed; {
		changed = false
		for r := range in {
			if !nodes[r].held(in) {
				delete(in, r)
				changed = true
			}
		}
	}
	return in
}

// waitsFor lists the ranks of in that hold n.
func (n node) waitsFor(in map[int]bool) (ranks []int) {
	for _, b := range n {
		for _, o := range b.ops {
			for _, p := range o {
				if p.held(in) {
					for _, r := range p.needs {
						if in[r] {
							ranks = append(ranks, r)
						}
					}
				}
			}
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// knots returns the sets of stuck ranks that wait for one another and for nobody outside:
// each is a deadlock by itself. The other stuck ranks wait for a knot. They are the
// strongly connected components that no edge leaves, found by Tarjan's algorithm.
func knots(nodes map[int]node, in map[int]bool) (all [][]int) {
	t := tarjan{nodes: nodes, in: in, number: map[int]int{}, low: map[int]int{}, on: map[int]bool{}, of: map[int]int{}}
	for _, r := range slices.Sorted(maps.Keys(in)) {
		if t.number[r] == 0 {
			t.visit(r)
		}
	}
	for _, ranks := range t.components {
		leaves := func(r int) bool {
			return slices.ContainsFunc(nodes[r].waitsFor(in), func(to int) bool { return t.of[to] != t.of[r] })
		}
		if !slices.ContainsFunc(ranks, leaves) {
			slices.Sort(ranks)
			all = append(all, ranks)
		}
	}
	slices.SortFunc(all, slices.Compare)
	return all
}

type tarjan struct {
	nodes       map[int]node
	in          map[int]bool
	number, low map[int]int
	stack       []int
	on          map[int]bool
	components  [][]int
	of          map[int]int // the component of a rank
}

func (t *tarjan) visit(r int) {
	t.number[r] = len(t.number) + 1
	t.low[r] = t.number[r]
	t.stack, t.on[r] = append(t.stack, r), true
	for _, to := range t.nodes[r].waitsFor(t.in) {
		switch {
		case t.number[to] == 0:
			t.visit(to)
			t.low[r] = min(t.low[r], t.low[to])
		case t.on[to]:
			t.low[r] = min(t.low[r], t.number[to])
		}
	}
	if t.low[r] != t.number[r] {
		return
	}
	at := slices.Index(t.stack, r)
	c := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, x := range c {
		t.on[x] = false
		t.of[x] = len(t.components)
	}
	t.components = append(t.components, c)
}
