package topo

import (
	"errors"
	"math"
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

func drawGrid(t *rapid.T) Grid {
	var g Grid
	for range rapid.IntRange(0, 4).Draw(t, "dims") {
		g.Dims = append(g.Dims, rapid.IntRange(1, 5).Draw(t, "size"))
		g.Periodic = append(g.Periodic, rapid.Bool().Draw(t, "periodic"))
	}
	return g
}

func TestCoordinatesAndRanksAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		var before []int
		for rank := range g.Size() {
			coords := g.Coords(rank)
			if back, err := g.Rank(coords); err != nil || back != rank {
				t.Fatalf("rank %d of %v is at %v, where there is %d, %v", rank, g, coords, back, err)
			}
			if rank > 0 && slices.Compare(before, coords) >= 0 {
				t.Fatalf("rank %d of %v is at %v, the one before at %v", rank, g, coords, before)
			}
			before = coords
		}
	})
}

// displaced is Shift by Rank: by coordinates that are moved, in steps that do not overflow.
func displaced(g Grid, rank, dim, disp int) int {
	coords := g.Coords(rank)
	if g.Periodic[dim] {
		disp %= g.Dims[dim]
	} else if disp > g.Dims[dim] || disp < -g.Dims[dim] {
		return None
	}
	coords[dim] += disp
	to, err := g.Rank(coords)
	if err != nil {
		return None
	}
	return to
}

func TestShiftsMoveOneCoordinateAndCommute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		if len(g.Dims) == 0 {
			return
		}
		dim, other := rapid.IntRange(0, len(g.Dims)-1).Draw(t, "dim"), rapid.IntRange(0, len(g.Dims)-1).Draw(t, "other")
		disp := rapid.OneOf(rapid.IntRange(-7, 7), rapid.Int(), rapid.SampledFrom([]int{math.MinInt, math.MinInt + 1, math.MaxInt})).Draw(t, "disp")
		dest := func(rank, dim, disp int) int {
			if rank == None {
				return None
			}
			_, to := g.Shift(rank, dim, disp)
			return to
		}
		for rank := range g.Size() {
			source, to := g.Shift(rank, dim, disp)
			if want := displaced(g, rank, dim, disp); to != want {
				t.Fatalf("rank %d of %v by %d in dimension %d is %d, want %d", rank, g, disp, dim, to, want)
			}
			if source != None && dest(source, dim, disp) != rank {
				t.Fatalf("rank %d of %v gets from %d by %d, which sends to %d", rank, g, source, disp, dest(source, dim, disp))
			}
			if to != None {
				if back, _ := g.Shift(to, dim, disp); back != rank {
					t.Fatalf("rank %d of %v sends to %d by %d, which gets from %d", rank, g, to, disp, back)
				}
			}
			if other != dim && dest(dest(rank, dim, disp), other, 1) != dest(dest(rank, other, 1), dim, disp) {
				t.Fatalf("shifts of rank %d of %v in dimensions %d and %d do not commute", rank, g, dim, other)
			}
		}
	})
}

func TestNeighborsByHand(t *testing.T) {
	for _, c := range []struct {
		grid Grid
		rank int
		want []int
	}{
		{Grid{}, 0, []int{}},
		{Grid{[]int{1}, []bool{false}}, 0, []int{None, None}},
		{Grid{[]int{1}, []bool{true}}, 0, []int{0, 0}},
		{Grid{[]int{2}, []bool{false}}, 1, []int{0, None}},
		{Grid{[]int{2}, []bool{true}}, 0, []int{1, 1}},
		{Grid{[]int{3}, []bool{true}}, 0, []int{2, 1}},
		{Grid{[]int{2, 3}, []bool{true, false}}, 3, []int{0, 0, None, 4}},
		{Grid{[]int{3, 1, 2}, []bool{false, true, true}}, 5, []int{3, None, 5, 5, 4, 4}},
	} {
		if got := c.grid.Neighbors(c.rank); !slices.Equal(got, c.want) {
			t.Errorf("the neighbours of %d in %v are %v, want %v", c.rank, c.grid, got, c.want)
		}
	}
	want := []Edge{{0, 1, 1}, {1, 0, 1}, {0, 0, 1}, {1, 1, 1}}
	got := Grid{[]int{2, 1}, []bool{false, true}}.Edges()
	if len(got) != 6 || got[0] != want[0] || got[1] != want[2] || got[2] != want[2] || got[3] != want[1] || got[5] != want[3] {
		t.Errorf("the edges are %v", got)
	}
}

func TestSubgridsPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		keep := rapid.SliceOfN(rapid.Bool(), len(g.Dims), len(g.Dims)).Draw(t, "keep")
		seen := map[[2]int]bool{}
		for rank := range g.Size() {
			sub, color, key := g.Sub(rank, keep)
			if color < 0 || color >= g.Size()/sub.Size() || key < 0 || key >= sub.Size() || seen[[2]int{color, key}] {
				t.Fatalf("rank %d of %v, of which %v are kept, is %d in subgrid %d", rank, g, keep, key, color)
			}
			seen[[2]int{color, key}] = true
			var coords []int
			for i, c := range g.Coords(rank) {
				if keep[i] {
					coords = append(coords, c)
				}
			}
			if !slices.Equal(coords, append([]int(nil), sub.Coords(key)...)) {
				t.Fatalf("rank %d of %v is at %v, in its subgrid at %v", rank, g, coords, sub.Coords(key))
			}
		}
	})
}

func TestGridsAreChecked(t *testing.T) {
	for _, c := range []struct {
		grid Grid
		n    int
		item int
		ok   bool
	}{
		{Grid{}, 1, 0, true},
		{Grid{}, 0, -1, false},
		{Grid{[]int{2, 3}, []bool{true, false}}, 6, 0, true},
		{Grid{[]int{2, 3}, []bool{true, false}}, 7, 0, true},
		{Grid{[]int{2, 3}, []bool{true, false}}, 5, -1, false},
		{Grid{[]int{2, 3}, []bool{true}}, 6, -1, false},
		{Grid{[]int{2, 0}, []bool{true, true}}, 6, 1, false},
		{Grid{[]int{-2, -3}, []bool{true, true}}, 6, 0, false},
		{Grid{[]int{1 << 32, 1 << 32}, []bool{true, true}}, 6, -1, false},
		{Grid{[]int{math.MaxInt, 2}, []bool{true, true}}, math.MaxInt, -1, false},
	} {
		err := c.grid.Check(c.n)
		var wrong *GridError
		if c.ok != (err == nil) || !c.ok && (!errors.As(err, &wrong) || wrong.Item != c.item || wrong.Error() == "") {
			t.Errorf("%v of %d: %v", c.grid, c.n, err)
		}
	}
	g := Grid{[]int{2, 3}, []bool{true, false}}
	for _, c := range []struct {
		coords []int
		want   CoordError
	}{
		{nil, CoordError{-1, 0, 2}}, {[]int{0, 0, 0}, CoordError{-1, 3, 2}}, {[]int{9, 3}, CoordError{1, 3, 3}}, {[]int{0, math.MinInt}, CoordError{1, math.MinInt, 3}},
	} {
		var wrong *CoordError
		if _, err := g.Rank(c.coords); !errors.As(err, &wrong) || *wrong != c.want || wrong.Error() == "" {
			t.Errorf("%v: %v, want %v", c.coords, err, c.want)
		}
	}
	if rank, err := g.Rank([]int{math.MinInt, 1}); err != nil || rank != 1 {
		t.Errorf("a coordinate that wraps: %d, %v", rank, err)
	}
}
