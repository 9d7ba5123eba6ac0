package topo

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestGraphsAreChecked(t *testing.T) {
	for _, c := range []struct {
		graph      Graph
		n          int
		node, edge int
		ok         bool
	}{
		{Graph{}, 0, 0, 0, true},
		{Graph{}, 3, 0, 0, true},
		{Graph{[]int{0, 0}, nil}, 2, 0, 0, true},
		{Graph{[]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0, 2}}, 4, 0, 0, true}, // the standard's
		{Graph{[]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0, 2}}, 3, -1, -1, false},
		{Graph{[]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0}}, 4, -1, -1, false},
		{Graph{nil, []int{0}}, 4, -1, -1, false},
		{Graph{[]int{2, 1}, []int{1}}, 4, 1, -1, false},
		{Graph{[]int{-1, 1}, []int{1}}, 4, 0, -1, false},
		{Graph{[]int{math.MaxInt, math.MinInt}, []int{1}}, 4, 1, -1, false},
		{Graph{[]int{1, 3}, []int{1, 0, 2}}, 4, -1, 2, false},
		{Graph{[]int{1, 3}, []int{1, -3, 0}}, 4, -1, 1, false},
	} {
		err := c.graph.Check(c.n)
		var wrong *GraphError
		if c.ok != (err == nil) || !c.ok && (!errors.As(err, &wrong) || wrong.Node != c.node || wrong.Edge != c.edge || wrong.Error() == "") {
			t.Errorf("%v of %d: %v", c.graph, c.n, err)
		}
	}
}

func TestNeighborsOfGraphs(t *testing.T) {
	g := Graph{[]int{2, 2, 3, 6}, []int{1, 3, 2, 0, 0, 2}}
	var list []Edge
	for rank, want := range [][]int{{1, 3}, {}, {2}, {0, 0, 2}} {
		near := g.Neighbors(rank)
		if !slices.Equal(near, want) || cap(near) != len(near) {
			t.Errorf("the neighbours of %d are %v, want %v", rank, near, want)
		}
		for _, to := range near {
			list = append(list, Edge{rank, to, 1})
		}
	}
	if g.Size() != 4 || !slices.Equal(g.List(), list) {
		t.Errorf("%d nodes, %v", g.Size(), g.List())
	}
}

func TestTheFirstAsymmetricEdge(t *testing.T) {
	for _, c := range []struct {
		graph    Graph
		from, to int
		ok       bool
	}{
		{Graph{}, 0, 0, false},
		{Graph{[]int{2, 3, 4, 6}, []int{1, 3, 0, 3, 0, 2}}, 0, 0, false},
		{Graph{[]int{1, 1}, []int{0}}, 0, 0, false},            // a self edge is its own other direction
		{Graph{[]int{2, 3}, []int{1, 1, 0}}, 0, 1, true},       // two there, one back
		{Graph{[]int{2, 4}, []int{1, 1, 0, 0}}, 0, 0, false},   // two each
		{Graph{[]int{1, 2, 3}, []int{0, 2, 2}}, 1, 2, true},    // none back
		{Graph{[]int{1, 3, 4}, []int{1, 0, 2, 0}}, 1, 2, true}, // a ring's odd one
	} {
		if from, to, ok := c.graph.Asymmetric(); from != c.from || to != c.to || ok != c.ok {
			t.Errorf("%v: %d to %d, %v", c.graph, from, to, ok)
		}
	}
}
