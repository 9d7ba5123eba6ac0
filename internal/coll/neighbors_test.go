package coll

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// edges are the messages of a topology: of each rank the slots that they leave from, and of
// each the slot that it has to come to.
type edge struct{ from, slot, to, arrives int }

// A grid's message from a slot of a dimension comes to that of the other direction, however
// small and periodic the dimension is.
func TestNeighborsOfGrids(t *testing.T) {
	for _, dims := range [][]int{{}, {1}, {2}, {3}, {1, 1}, {2, 2}, {1, 2}, {3, 2}, {2, 1, 2}, {4, 3}} {
		for periods := range 1 << len(dims) {
			var edges []edge
			near := grid(dims, periods)
			for rank, n := range near {
				for slot, to := range n.Dests {
					if to >= 0 {
						edges = append(edges, edge{rank, slot, to, slot ^ 1})
					}
				}
			}
			neighborhood(t, fmt.Sprintf("%v, periods %b", dims, periods), near, edges)
		}
	}
}

// grid has the neighbors of all ranks of a grid.
func grid(dims []int, periods int) (all []*Neighbors) {
	size := 1
	for _, n := range dims {
		size *= n
	}
	for rank := range size {
		n := &Neighbors{Crossed: true}
		for d, stride := 0, size; d < len(dims); d++ {
			stride /= dims[d]
			at := rank / stride % dims[d]
			for _, next := range []int{at - 1, at + 1} {
				peer := -3
				if next >= 0 && next < dims[d] || periods>>d&1 == 1 {
					peer = rank + ((next+dims[d])%dims[d]-at)*stride
				}
				n.Sources = append(n.Sources, peer)
			}
		}
		n.Dests = n.Sources
		all = append(all, n)
	}
	return all
}

// Of a graph's repeated edges, also from a rank to itself, the k-th that leaves is the k-th
// that arrives.
func TestNeighborsOfGraphs(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		near := make([]*Neighbors, 1+r.IntN(5))
		for i := range near {
			near[i] = &Neighbors{}
		}
		var edges []edge
		for range r.IntN(20) {
			from, to := r.IntN(len(near)), r.IntN(len(near))
			a, b := near[from], near[to]
			edges = append(edges, edge{from, len(a.Dests), to, len(b.Sources)})
			a.Dests, b.Sources = append(a.Dests, to), append(b.Sources, from)
		}
		neighborhood(t, fmt.Sprint("seed ", seed), near, edges)
	}
}

// neighborhood runs the plans of all ranks and checks that each edge's block has arrived,
// and nothing else.
func neighborhood(t *testing.T, name string, near []*Neighbors, edges []edge) {
	t.Helper()
	const most = 3 // elements of a block
	for _, call := range []Call{NeighborAllgather, NeighborAllgatherv, NeighborAlltoall, NeighborAlltoallv} {
		shapes, ins, outs := make([]*Shape, len(near)), make([][]term, len(near)), make([][]term, len(near))
		width := 1
		for _, n := range near {
			width = max(width, len(n.Dests))
		}
		terms := newTerms(len(near), most*width)
		length := func(from, slot int) int {
			switch call {
			case NeighborAllgatherv:
				return 1 + from%most
			case NeighborAlltoallv:
				return (from + slot) % (most + 1)
			}
			return 2
		}
		gathers := call == NeighborAllgather || call == NeighborAllgatherv
		for rank, n := range near {
			s := &Shape{Rank: rank, Size: len(near), Bytes: 8, Near: n, Count: 2, RecvCount: 2}
			if gathers {
				s.Count = length(rank, 0)
				ins[rank] = blank(s.Count)
			} else {
				ins[rank] = blank(most * len(n.Dests))
			}
			fill(ins[rank], terms, rank, 0)
			outs[rank] = blank(most * len(n.Sources))
			if call == NeighborAlltoallv {
				for slot := range n.Dests {
					s.Counts, s.Displs = append(s.Counts, length(rank, slot)), append(s.Displs, most*slot)
				}
			}
			if call == NeighborAllgatherv || call == NeighborAlltoallv {
				s.RecvCounts, s.RecvDispls = make([]int, len(n.Sources)), make([]int, len(n.Sources))
			}
			shapes[rank] = s
		}
		for _, e := range edges {
			if s := shapes[e.to]; s.RecvCounts != nil {
				s.RecvCounts[e.arrives], s.RecvDispls[e.arrives] = length(e.from, e.slot), most*(len(near[e.to].Sources)-1-e.arrives)
			}
		}
		m := newMachine(shapes, len(near), terms)
		for i, r := range m.ranks {
			r.plan = Make(call, shapes[i])
			r.mem = [4][]term{In: ins[i], Out: outs[i]}
		}
		if err := m.run(); err != nil {
			t.Fatalf("%s: %v: %v", name, call, err)
		}
		for _, e := range edges {
			s, first := shapes[e.to], 0
			at, leaves := blocks{Out, 2, s.RecvCounts, s.RecvDispls}.at(e.arrives), length(e.from, e.slot)
			if !gathers {
				first = blocks{In, 2, shapes[e.from].Counts, shapes[e.from].Displs}.at(e.slot).At
			}
			for k := range leaves {
				if got, want := outs[e.to][at.At+k], terms.leaf(e.from, first+k); got != want {
					t.Fatalf("%s: %v: edge %+v, element %d: %s, want %s", name, call, e, k, terms.text(got), terms.text(want))
				}
				outs[e.to][at.At+k] = undefined
			}
		}
		for rank, out := range outs {
			for i, got := range out {
				if got != undefined {
					t.Fatalf("%s: %v: rank %d has %s at %d, where nothing arrives", name, call, rank, terms.text(got), i)
				}
			}
		}
	}
}
