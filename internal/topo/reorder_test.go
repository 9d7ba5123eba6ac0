package topo

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// roundRobin are processes that are dealt out to hosts.
func roundRobin(hosts, n int) (places []Place) {
	for i := range n {
		places = append(places, Place{i % hosts})
	}
	return places
}

func mesh(dims ...int) *Grid { return &Grid{dims, make([]bool, len(dims))} }

// optimum is the least Cost of all orders. Processes in the same place get rising ranks.
func optimum(places []Place, edges []Edge) int {
	order, used, best := make([]int, len(places)), make([]bool, len(places)), math.MaxInt
	var put func(process int)
	put = func(process int) {
		if process == len(places) {
			best = min(best, Cost(places, edges, order))
			return
		}
		first := 0
		for q := range process {
			if slices.Equal(places[q], places[process]) {
				first = order[q] + 1
			}
		}
		for r := first; r < len(places); r++ {
			if !used[r] {
				used[r], order[process] = true, r
				put(process + 1)
				used[r] = false
			}
		}
	}
	put(0)
	return best
}

func TestReorderAgainstAllOrders(t *testing.T) {
	sockets := []Place{{1, 0}, {0, 0}, {1, 1}, {0, 1}, {1, 0}, {0, 0}, {1, 1}, {0, 1}}
	unbound := []Place{{0, -1, -1}, {1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {0, -1, -1}, {1, -1, -1}}
	ring, torus := &Grid{[]int{8}, []bool{true}}, &Grid{[]int{4, 2}, []bool{true, true}}
	for i, c := range []struct {
		places []Place
		grid   *Grid
		same   bool // the identity is the best, or nearly
	}{
		{roundRobin(2, 8), mesh(4, 2), false},
		{roundRobin(2, 8), mesh(2, 4), false},
		{roundRobin(2, 8), mesh(2, 2, 2), true},
		{roundRobin(2, 8), mesh(8), false},
		{roundRobin(2, 8), ring, false},
		{roundRobin(2, 8), torus, false},
		{roundRobin(4, 8), mesh(4, 2), false},
		{roundRobin(4, 8), ring, false},
		{roundRobin(3, 8), mesh(4, 2), false}, // of three, three and two
		{roundRobin(3, 8), mesh(2, 3), false}, // and two are left over
		{roundRobin(2, 7), mesh(2, 3), false}, // one is
		{roundRobin(5, 6), mesh(3, 2), false}, // hosts with one rank
		{roundRobin(8, 8), mesh(4, 2), true},  // and nothing else
		{roundRobin(1, 8), mesh(4, 2), true},  // one host
		{roundRobin(2, 8), mesh(), true},      // one position
		{roundRobin(2, 8), mesh(1, 1, 1), true},
		{unbound, mesh(4, 2), false},
		{sockets, mesh(4, 2), false},
		{sockets, ring, false},
		{[]Place{{0}, {1, 2}, {0, 5}, nil, {0, 5}, {1, 2}, {-1}, {-1}}, mesh(4, 2), false},
	} {
		edges := c.grid.Edges()
		order := Reorder(c.places, edges, c.grid)
		if got, want := Cost(c.places, edges, order), optimum(c.places, edges); !c.same && got != want {
			t.Errorf("%d: %v costs %d, the best order %d", i, order, got, want)
		}
		if c.same && !slices.Equal(order, identity(len(order))) {
			t.Errorf("%d: %v, and it gains less than 5 %%", i, order)
		}
	}
}

func TestCostByHand(t *testing.T) {
	places := []Place{{0, 7, 1}, {0, 7, 1}, {0, 7, 2}, {1, 7, 1}, {1, 7, -1}, {1, 7, -1}} // the second level parts nothing
	for _, c := range []struct {
		edge Edge
		want int
	}{
		{Edge{0, 1, 5}, 5}, {Edge{2, 1, 5}, 10}, {Edge{0, 3, 5}, 15}, {Edge{4, 5, 5}, 10}, {Edge{3, 4, 1}, 2}, {Edge{3, 3, 5}, 0}, {Edge{0, 3, 0}, 0},
	} {
		if got := Cost(places, []Edge{c.edge}, nil); got != c.want {
			t.Errorf("%v costs %d, want %d", c.edge, got, c.want)
		}
	}
	if got := Cost(places, []Edge{{0, 1, 1}, {1, 0, 1}, {0, 1, 1}}, []int{1, 2, 3, 0, 4, 5}); got != 9 {
		t.Errorf("three edges between two hosts cost %d", got)
	}
}

func TestReorderIsAPermutationThatNeverCostsMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 24).Draw(t, "n")
		level := rapid.IntRange(-1, 3)
		places := make([]Place, n)
		for i := range places {
			places[i] = rapid.SliceOfN(level, rapid.IntRange(0, 1).Draw(t, "least"), 3).Draw(t, "place")
		}
		var edges []Edge
		var grid *Grid
		if g := drawGrid(t); g.Size() <= n && rapid.Bool().Draw(t, "grid") {
			edges, grid = g.Edges(), &g
		} else if n > 0 {
			rank, weight := rapid.IntRange(0, n-1), rapid.SampledFrom([]int{0, 1, 2, 100, math.MaxInt})
			for range rapid.IntRange(0, 3*n).Draw(t, "edges") {
				edges = append(edges, Edge{rank.Draw(t, "from"), rank.Draw(t, "to"), weight.Draw(t, "weight")})
			}
		}
		order := Reorder(places, edges, grid)
		sorted := slices.Sorted(slices.Values(order))
		if !slices.Equal(sorted, identity(n)) {
			t.Fatalf("%v is no permutation", order)
		}
		was, is := Cost(places, edges, nil), Cost(places, edges, order)
		if is < 0 || !slices.Equal(order, identity(n)) && (was-is)*20 < was {
			t.Fatalf("%v costs %d, the identity %d", order, is, was)
		}
		edges = rapid.Permutation(edges).Draw(t, "shuffled")
		if again := Reorder(places, edges, grid); !slices.Equal(again, order) {
			t.Fatalf("%v, and with the edges in another order %v", order, again)
		}
	})
}

// Cubes on equal hosts come out as blocks, and nearly so if a host is odd. Without the grid,
// and with its ranks shuffled, parts that grow are as good.
func TestReorderOfCubes(t *testing.T) {
	const alone8, alone16 = 3 * 2 * 7 * 64, 3 * 2 * 15 * 256 // the edges
	odd, deep := roundRobin(8, 512), roundRobin(8, 512)
	odd[8] = Place{8}
	for i := range deep {
		deep[i] = Place{i % 8, i / 8 % 8, i / 8 % 8, i}
	}
	for i, c := range []struct {
		places []Place
		side   int
		grid   bool
		most   int // Cost
	}{
		{roundRobin(64, 4096), 16, true, alone16 + 3*2*3*256},
		{roundRobin(2, 512), 8, true, alone8 + 2*64},
		{roundRobin(8, 512), 8, true, alone8 + 3*2*64},
		{deep, 8, true, alone8 + 3*2*64 + 3*2*3*64},
		{odd, 8, true, alone8 + 3*2*64 + 12},
		{roundRobin(8, 512), 8, false, alone8 + 3*2*64},
	} {
		g := mesh(c.side, c.side, c.side)
		edges := g.Edges()
		if !c.grid {
			for j, e := range edges {
				edges[j].From, edges[j].To = e.From*237%512, e.To*237%512
			}
			g = nil
		}
		if got := Cost(c.places, edges, Reorder(c.places, edges, g)); got > c.most {
			t.Errorf("%d: it costs %d, want at most %d", i, got, c.most)
		}
	}
}
