package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The example of MPI-4.0 §8.5.3, with an edge twice and one to oneself.
func TestGraphsHaveNodes(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			allNear(w)
			near := [][]int{{1, 3}, {0}, {3, 2, 2}, {0, 2}}
			for _, reorder := range []bool{false, true} {
				o := mpi.GraphOptions{Index: []int{2, 3, 6, 8}, Edges: slices.Concat(near...), Reorder: reorder}
				g := get(c.GraphCreate(o))
				hasRanks(t, w, g, []int{0, 1, 2, 3})
				if g == nil {
					continue
				}
				index, edges, err := g.Graph()
				ok(err)
				if !slices.Equal(index, o.Index) || !slices.Equal(edges, o.Edges) || get(g.Topology()) != mpi.TopologyGraph || !slices.Equal(g.Neighbors(), near[g.Rank()]) {
					t.Errorf("rank %d has %v %v and the neighbors %v", g.Rank(), index, edges, g.Neighbors())
				}
				for r := range near {
					if got := get(g.GraphNeighbors(r)); !slices.Equal(got, near[r]) {
						t.Errorf("the neighbors of %d are %v, want %v", r, got, near[r])
					}
				}
			}
			if none := get(c.GraphCreate(mpi.GraphOptions{})); none != nil {
				t.Error("a graph without nodes has a communicator")
			}
		})
	})
}

// given is an edge, and the rank that gives it.
type given struct{ by, from, to, weight int }

// randomEdges are edges among n ranks, some of them twice and some from a rank to itself.
func randomEdges(n int, seed uint64) (edges []given) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range rng.IntN(4 * n) {
		e := given{rng.IntN(n), rng.IntN(n), rng.IntN(n), rng.IntN(5)}
		edges = append(edges, e)
		if rng.IntN(4) == 0 {
			edges = append(edges, e)
		}
	}
	slices.SortStableFunc(edges, func(a, b given) int { return a.by - b.by })
	return edges
}

// neighborsIn is what a rank has of a graph.
func neighborsIn(edges []given, rank int, weighted bool) (g mpi.DistGraph) {
	if weighted {
		g.SourceWeights, g.DestWeights = []int{}, []int{}
	}
	for _, e := range edges {
		if e.to == rank {
			g.Sources = append(g.Sources, e.from)
			if weighted {
				g.SourceWeights = append(g.SourceWeights, e.weight)
			}
		}
		if e.from == rank {
			g.Dests = append(g.Dests, e.to)
			if weighted {
				g.DestWeights = append(g.DestWeights, e.weight)
			}
		}
	}
	return g
}

// by is what a rank gives of a graph.
func by(edges []given, rank int, weighted bool) (g mpi.DistGraphEdges) {
	if weighted {
		g.Weights = []int{}
	}
	for _, e := range edges {
		if e.by != rank {
			continue
		}
		if n := len(g.Sources); n > 0 && g.Sources[n-1] == e.from {
			g.Degrees[n-1]++
		} else {
			g.Sources, g.Degrees = append(g.Sources, e.from), append(g.Degrees, 1)
		}
		if g.Dests = append(g.Dests, e.to); weighted {
			g.Weights = append(g.Weights, e.weight)
		}
	}
	return g
}

// isDistGraph checks what a rank knows of a graph: its own edges.
func isDistGraph(t *testing.T, c *mpi.Comm, edges []given, weighted bool) {
	t.Helper()
	got, want := get(c.DistGraphNeighbors()), neighborsIn(edges, c.Rank(), weighted)
	if fmt.Sprint(got) != fmt.Sprint(want) || (got.SourceWeights != nil && got.DestWeights != nil) != weighted || !slices.Equal(c.Neighbors(), want.Dests) || get(c.Topology()) != mpi.TopologyDistGraph {
		t.Errorf("rank %d has %+v, want %+v, in %v", c.Rank(), got, want, edges)
	}
}

// Both ends of every edge have it, whoever has given it, and in one order.
func TestRandomDistributedGraphs(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			allNear(w)
			for seed := range uint64(20) {
				edges, weighted, reorder := randomEdges(4, seed), seed&1 == 1, seed&2 == 2
				mine := neighborsIn(edges, c.Rank(), weighted)
				mine.Reorder = reorder
				part := by(edges, c.Rank(), weighted)
				part.Reorder, part.Info = reorder, hint("mpi_assert_no_any_tag", "true")
				a, b := get(c.DistGraphAdjacent(mine)), get(c.DistGraphCreate(part))
				isDistGraph(t, a, edges, weighted)
				isDistGraph(t, b, edges, weighted)
				hasRanks(t, w, a, []int{0, 1, 2, 3})
				hasRanks(t, w, b, []int{0, 1, 2, 3})
				if v, _ := get(b.Info()).Get("mpi_assert_no_any_tag"); v != "true" {
					t.Errorf("the hint is %q", v)
				}
				ok(a.Free())
				ok(b.Free())
			}
		})
	})
}
