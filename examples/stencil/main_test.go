package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// gridOn is the grid of n ranks.
func gridOn(t *testing.T, n int) grid {
	t.Helper()
	dims, err := mpi.DimsCreate(n, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return gridOf(dims)
}

// check checks the line that a job of n ranks has printed, and the value in it.
func check(t *testing.T, out string, n int) {
	t.Helper()
	g := gridOn(t, n)
	whole := block{0, 0, g.height, g.width}
	now := whole.plate()
	for range steps {
		next := whole.plate()
		for row := 1; row <= g.height; row++ {
			for column := 1; column <= g.width; column++ {
				i := row*(g.width+2) + column
				next[i] = (now[i-g.width-2] + now[i-1] + now[i+1] + now[i+g.width+2]) / 4
			}
		}
		now = next
	}
	middle := now[(g.height/2+1)*(g.width+2)+g.width/2+1]
	if middle == 0 || math.IsNaN(middle) {
		t.Fatalf("no heat has come to the middle of %+v", g)
	}
	if want := fmt.Sprintf("%d x %d ranks computed %d x %d cells in %d steps: %.6f in the middle\n", g.rows, g.columns, g.height, g.width, steps, middle); out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestBlocksCoverThePlate(t *testing.T) {
	for n := 1; n <= 40; n++ {
		g := gridOn(t, n)
		if g.rows*g.columns != n || g.rows > g.columns {
			t.Errorf("%d ranks are %d x %d", n, g.rows, g.columns)
		}
		owners := make([]int, g.height*g.width)
		for i := range n {
			column, row := i/g.rows, i%g.rows
			b := g.block([]int{column, row})
			for i := range b.height * b.width {
				owners[(b.top+i/b.width)*g.width+b.left+i%b.width]++
			}
			if right := g.block([]int{column + 1, row}); column+1 < g.columns && (right.left != b.left+b.width || right.height != b.height) {
				t.Errorf("of %d ranks, %+v is to the right of %+v", n, right, b)
			}
			if below := g.block([]int{column, row + 1}); row+1 < g.rows && (below.top != b.top+b.height || below.width != b.width) {
				t.Errorf("of %d ranks, %+v is below %+v", n, below, b)
			}
		}
		for i, o := range owners {
			if o != 1 {
				t.Fatalf("%d of %d ranks have cell %d", o, n, i)
			}
		}
	}
}

// A wrong value anywhere is found.
func TestADifferenceIsFound(t *testing.T) {
	g := gridOn(t, 6)
	all := block{0, 0, g.height, g.width}.plate()
	if compare(all, g) == nil {
		t.Error("a plate before the first step is taken for the result")
	}
}

func TestGoroutinesSpreadHeat(t *testing.T) { examplerun.Goroutines(t, 9, spread, check) }

func TestProcessesSpreadHeat(t *testing.T) { examplerun.Processes(t, 7, check) }
