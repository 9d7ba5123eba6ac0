package mpi_test

import (
	"maps"
	"math"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func init() {
	maps.Copy(failures, topologyFailures)
	objectless["DimsCreate"] = func(*mpi.Group) error { return second(mpi.DimsCreate(7, 2, 0)) }
}

// topologyFailures makes each call about a topology fail.
var topologyFailures = map[string]func(v victim) error{
	"Comm.Topology":           func(v victim) error { return second(v.freed.Topology()) },
	"Comm.CartCreate":         func(v victim) error { return second(v.c.CartCreate(mpi.CartOptions{Dims: []int{2}})) },
	"Comm.Cart":               func(v victim) error { return second(v.c.Cart()) },
	"Comm.CartRank":           func(v victim) error { return second(v.c.CartRank(0)) },
	"Comm.CartRank, outside":  func(v victim) error { return second(v.row().CartRank(1)) },
	"Comm.CartCoords":         func(v victim) error { return second(v.row().CartCoords(1)) },
	"Comm.CartShift":          func(v victim) error { _, _, err := v.row().CartShift(1, 1); return err },
	"Comm.CartSub":            func(v victim) error { return second(v.row().CartSub()) },
	"Comm.CartMap":            func(v victim) error { return second(v.c.CartMap(mpi.CartOptions{Dims: []int{2}})) },
	"Comm.GraphCreate":        func(v victim) error { return second(v.c.GraphCreate(mpi.GraphOptions{Index: []int{1}})) },
	"Comm.Graph":              func(v victim) error { _, _, err := v.row().Graph(); return err },
	"Comm.GraphNeighbors":     func(v victim) error { return second(v.c.GraphNeighbors(0)) },
	"Comm.GraphMap":           func(v victim) error { return second(v.c.GraphMap(mpi.GraphOptions{Index: []int{1}})) },
	"Comm.DistGraphAdjacent":  func(v victim) error { return second(v.c.DistGraphAdjacent(mpi.DistGraph{Dests: []int{0}})) },
	"Comm.DistGraphCreate":    func(v victim) error { return second(v.freed.DistGraphCreate(mpi.DistGraphEdges{})) },
	"Comm.DistGraphNeighbors": func(v victim) error { return second(v.c.DistGraphNeighbors()) },
}

// row is a grid of the victim's.
func (v victim) row() *mpi.Comm { return get(v.c.CartCreate(mpi.CartOptions{Dims: []int{1}})) }

// badTopologies are creations with arguments that are wrong on four ranks.
var badTopologies = map[string]struct {
	class mpi.Class
	words string
	call  func(c *mpi.Comm, reorder bool) (*mpi.Comm, error)
}{
	"dims that do not divide": {mpi.ErrDims, "", cartOf(nil, 3, 0)},
	"negative dims":           {mpi.ErrDims, "-2", cartOf(nil, -2, 0)},
	"negative dims, none 0":   {mpi.ErrDims, "-2", cartOf(nil, -2, -2)},
	"too many":                {mpi.ErrDims, "4", cartOf(nil, 3, 2)},
	"far too many":            {mpi.ErrDims, "4", cartOf(nil, math.MaxInt, math.MaxInt, 2)},
	"another Periodic":        {mpi.ErrDims, "periodic", cartOf([]bool{true}, 2, 2)},
	"too many nodes":          {mpi.ErrArg, "5", graphOf([]int{0, 0, 0, 0, 0})},
	"index that falls":        {mpi.ErrArg, "fall", graphOf([]int{2, 1}, 1, 0)},
	"negative index":          {mpi.ErrArg, "-1", graphOf([]int{-1, 0})},
	"few edges":               {mpi.ErrArg, "1 edges", graphOf([]int{1, 2}, 1)},
	"no such neighbor":        {mpi.ErrArg, "2", graphOf([]int{1, 2}, 1, 2)},
	"no such source":          {mpi.ErrRank, "Sources[1] 4", adjacent(mpi.DistGraph{Sources: []int{0, 4}})},
	"ProcNull":                {mpi.ErrRank, "ProcNull", adjacent(mpi.DistGraph{Dests: []int{mpi.ProcNull}})},
	"one weight too few":      {mpi.ErrArg, "1 DestWeights for 2", adjacent(mpi.DistGraph{Dests: []int{0, 1}, DestWeights: []int{1}})},
	"weights on one side":     {mpi.ErrArg, "0 SourceWeights for 1", adjacent(mpi.DistGraph{Sources: []int{1}, DestWeights: []int{}})},
	"negative weight":         {mpi.ErrArg, "-1", adjacent(mpi.DistGraph{Sources: []int{1}, SourceWeights: []int{-1}})},
	"half an edge to oneself": {mpi.ErrArg, "oneself", adjacent(mpi.DistGraph{Sources: []int{1}})},
	"its other half":          {mpi.ErrArg, "oneself", adjacent(mpi.DistGraph{Dests: []int{1}})},
	"a bad hint":              {mpi.ErrInfoValue, "", adjacent(mpi.DistGraph{Info: hint("mpi_assert_no_any_tag", "perhaps")})},
	"Degrees":                 {mpi.ErrArg, "1 Degrees for 2 Sources", edgesOf(mpi.DistGraphEdges{Sources: []int{0, 1}, Degrees: []int{1}, Dests: []int{0}})},
	"a negative one":          {mpi.ErrArg, "Degrees[0] is -1", edgesOf(mpi.DistGraphEdges{Sources: []int{0}, Degrees: []int{-1}})},
	"a large one":             {mpi.ErrArg, "1 Dests left", edgesOf(mpi.DistGraphEdges{Sources: []int{0, 1}, Degrees: []int{1, math.MaxInt}, Dests: []int{0, 0}})},
	"Dests over":              {mpi.ErrArg, "2 Dests", edgesOf(mpi.DistGraphEdges{Sources: []int{0}, Degrees: []int{1}, Dests: []int{0, 0}})},
	"no such Dest":            {mpi.ErrRank, "Dests[0] -1", edgesOf(mpi.DistGraphEdges{Sources: []int{0}, Degrees: []int{1}, Dests: []int{-1}})},
	"no such Source":          {mpi.ErrRank, "Sources[0] 9", edgesOf(mpi.DistGraphEdges{Sources: []int{9}, Degrees: []int{0}})},
	"Weights":                 {mpi.ErrArg, "0 Weights for 1", edgesOf(mpi.DistGraphEdges{Sources: []int{0}, Degrees: []int{1}, Dests: []int{0}, Weights: []int{}})},
	"a bad hint, general":     {mpi.ErrInfoValue, "", edgesOf(mpi.DistGraphEdges{Info: hint("mpi_assert_no_any_tag", "perhaps")})},
}

type topologyCall = func(c *mpi.Comm, reorder bool) (*mpi.Comm, error)

func cartOf(periodic []bool, dims ...int) topologyCall {
	return func(c *mpi.Comm, reorder bool) (*mpi.Comm, error) {
		return c.CartCreate(mpi.CartOptions{Dims: dims, Periodic: periodic, Reorder: reorder})
	}
}

func graphOf(index []int, edges ...int) topologyCall {
	return func(c *mpi.Comm, reorder bool) (*mpi.Comm, error) {
		return c.GraphCreate(mpi.GraphOptions{Index: index, Edges: edges, Reorder: reorder})
	}
}

func adjacent(g mpi.DistGraph) topologyCall {
	return func(c *mpi.Comm, reorder bool) (*mpi.Comm, error) {
		g := g
		g.Reorder = reorder
		return c.DistGraphAdjacent(g)
	}
}

func edgesOf(g mpi.DistGraphEdges) topologyCall {
	return func(c *mpi.Comm, reorder bool) (*mpi.Comm, error) {
		g := g
		g.Reorder = reorder
		return c.DistGraphCreate(g)
	}
}

// A mistake at one rank fails the call at all, with that rank's class, and the
// communicator remains usable.
func TestBadTopologiesFailAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			fine := adjacent(mpi.DistGraph{})
			for what, tc := range ordered(badTopologies) {
				for _, reorder := range []bool{false, true} {
					call := fine
					if c.Rank() == 1 || reorder {
						call = tc.call
					}
					got, err := call(c, reorder)
					if want(t, what, err, tc.class); got != nil {
						t.Errorf("%s: it returns a communicator", what)
					}
					if c.Rank() == 1 {
						wantWords(t, what, err, tc.class, tc.words)
					}
				}
			}
			hasRanks(t, w, get(fine(c, true)), []int{0, 1, 2, 3})
		})
	})
}

// Arguments that all ranks have to give alike, and do not.
func TestRanksThatGiveDifferentTopologies(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			odd := c.Rank() == 2
			for what, two := range ordered(map[string][2]topologyCall{
				"dims":     {cartOf(nil, 2, 2), cartOf(nil, 4, 1)},
				"periodic": {cartOf(nil, 4), cartOf([]bool{true}, 4)},
				"calls":    {cartOf(nil, 2), graphOf([]int{1, 2}, 1, 0)},
				"index":    {graphOf([]int{1, 2}, 1, 0), graphOf([]int{0, 2}, 1, 0)},
				"edges":    {graphOf([]int{1, 2}, 1, 0), graphOf([]int{1, 2}, 1, 1)},
				"weights":  {adjacent(mpi.DistGraph{}), adjacent(mpi.DistGraph{SourceWeights: []int{}})},
				"Weights":  {edgesOf(mpi.DistGraphEdges{}), edgesOf(mpi.DistGraphEdges{Weights: []int{}})},
				"reorder":  {cartOf(nil, 4), func(c *mpi.Comm, _ bool) (*mpi.Comm, error) { return cartOf(nil, 4)(c, true) }},
			}) {
				call := two[0]
				if odd {
					call = two[1]
				}
				_, err := call(c, false)
				wantWords(t, what, err, mpi.ErrNotSame, "different arguments", "all make this one, with the same")
			}
			cart := get(c.CartCreate(mpi.CartOptions{Dims: []int{2, 2}}))
			_, err := cart.CartSub(odd, true)
			wantWords(t, "keep", err, mpi.ErrNotSame, "CartSub", "the same keep")
			keep := []bool{true, true}
			if odd {
				keep = keep[:1]
			}
			_, err = cart.CartSub(keep...)
			want(t, "a short keep", err, mpi.ErrDims)
			hasRanks(t, w, cart, []int{0, 1, 2, 3})
		})
	})
}

func TestQueriesOfTopologiesRefuseWhatThereIsNot(t *testing.T) {
	act(t, "mem", 4, func(w *mpi.World, c *mpi.Comm) {
		cart := get(c.CartCreate(mpi.CartOptions{Dims: []int{2, 2}, Periodic: []bool{true, false}}))
		_, err := cart.CartRank(5, 2)
		wantWords(t, "CartRank", err, mpi.ErrArg, "coordinate 1 is 2")
		_, err = cart.CartRank(1)
		wantWords(t, "CartRank", err, mpi.ErrArg, "1 coordinates", "2 dimensions")
		for _, rank := range []int{-1, 4, mpi.ProcNull, math.MinInt} {
			_, err = cart.CartCoords(rank)
			want(t, "CartCoords", err, mpi.ErrRank)
			_, err = get(c.GraphCreate(mpi.GraphOptions{Index: []int{0, 0, 0, 0}})).GraphNeighbors(rank)
			want(t, "GraphNeighbors", err, mpi.ErrRank)
		}
		for _, dim := range []int{-1, 2, math.MaxInt} {
			source, dest, err := cart.CartShift(dim, 1)
			if wantWords(t, "CartShift", err, mpi.ErrDims, "has 2"); source != mpi.ProcNull || dest != mpi.ProcNull {
				t.Errorf("it shifts from %d to %d", source, dest)
			}
		}
		dims, err := mpi.DimsCreate(12, 0, 2, 0)
		if ok(err); len(dims) != 3 || dims[0] != 3 || dims[1] != 2 || dims[2] != 2 {
			t.Errorf("12 are %v", dims)
		}
		s := pair{3, 1}.connect(w, c)
		for what, call := range ordered(badTopologies) {
			_, err := call.call(s.x, false)
			wantWords(t, what+" between groups", err, mpi.ErrComm, "Merge")
		}
		_, err = s.x.CartMap(mpi.CartOptions{Dims: []int{1}})
		want(t, "CartMap between groups", err, mpi.ErrComm)
		_, err = s.x.CartSub()
		want(t, "CartSub between groups", err, mpi.ErrComm)
		_, err = s.x.Cart()
		want(t, "Cart between groups", err, mpi.ErrTopology)
	})
}
