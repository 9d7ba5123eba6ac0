package main

import (
	"fmt"
	"math"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks the line that a job of n ranks has printed, and the value in it.
func check(t *testing.T, out string, n int) {
	t.Helper()
	g := gridOf(n)
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
		g := gridOf(n)
		if g.rows*g.columns != n || g.rows > g.columns {
			t.Errorf("%d ranks are %d x %d", n, g.rows, g.columns)
		}
		owners := make([]int, g.height*g.width)
		for rank := range n {
			b := g.block(rank)
			for i := range b.height * b.width {
				owners[(b.top+i/b.width)*g.width+b.left+i%b.width]++
			}
			if right := g.neighbour(rank, 0, 1); right >= 0 && (g.block(right).left != b.left+b.width || g.block(right).height != b.height) {
				t.Errorf("of %d ranks, %d is to the right of %d, with %+v beside %+v", n, right, rank, g.block(right), b)
			}
			if below := g.neighbour(rank, 1, 0); below >= 0 && (g.block(below).top != b.top+b.height || g.block(below).width != b.width) {
				t.Errorf("of %d ranks, %d is below %d, with %+v under %+v", n, below, rank, g.block(below), b)
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
	g := gridOf(6)
	all := block{0, 0, g.height, g.width}.plate()
	if compare(all, g) == nil {
		t.Error("a plate before the first step is taken for the result")
	}
}

func TestGoroutinesSpreadHeat(t *testing.T) { examplerun.Goroutines(t, 9, spread, check) }

func TestProcessesSpreadHeat(t *testing.T) { examplerun.Processes(t, 7, check) }
