package topo

// Graph is a general topology (MPI-4.0 §8.5.3): Index of a node is how many neighbours it
// and those before it have, Edges are the neighbours of all.
type Graph struct{ Index, Edges []int }

// Edge is data that goes from one rank to another.
type Edge struct{ From, To, Weight int }

// Check says whether g is a graph for which n processes are enough. The error is a
// *GraphError.
func (g Graph) Check(n int) error {
	if len(g.Index) > n {
		return &GraphError{n, g, -1, -1}
	}
	last := 0
	for node, index := range g.Index {
		if index < last {
			return &GraphError{n, g, node, -1}
		}
		last = index
	}
	if len(g.Edges) != last {
		return &GraphError{n, g, -1, -1}
	}
	for i, to := range g.Edges {
		if to < 0 || to >= len(g.Index) {
			return &GraphError{n, g, -1, i}
		}
	}
	return nil
}

// Size is the number of nodes.
func (g Graph) Size() int { return len(g.Index) }

// Neighbors are the nodes to which those of a rank lead, a part of Edges.
func (g Graph) Neighbors(rank int) []int {
	first, end := 0, g.Index[rank]
	if rank > 0 {
		first = g.Index[rank-1]
	}
	return g.Edges[first:end:end]
}

// Asymmetric finds the first edge that does not come as often in the other direction.
func (g Graph) Asymmetric() (from, to int, ok bool) {
	count := map[[2]int]int{}
	for _, e := range g.List() {
		count[[2]int{e.From, e.To}]++
	}
	for _, e := range g.List() {
		if count[[2]int{e.From, e.To}] != count[[2]int{e.To, e.From}] {
			return e.From, e.To, true
		}
	}
	return 0, 0, false
}

// List is the edges, of weight 1.
func (g Graph) List() []Edge {
	edges := make([]Edge, 0, len(g.Edges))
	for rank := range g.Index {
		for _, to := range g.Neighbors(rank) {
			edges = append(edges, Edge{rank, to, 1})
		}
	}
	return edges
}
