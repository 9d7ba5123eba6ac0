package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// alone computes the whole board by one rank, without blocks, and counts the cells alive.
func alone(g grid, generation int) (page string, cells int) {
	rows, columns := g.rows*height, g.columns*width
	now, next := make([]bool, rows*columns), make([]bool, rows*columns)
	for i := range now {
		row, column := i/columns, i%columns
		now[i] = g.first(row/height*g.columns + column/width)[inner(row%height*width+column%width)] == alive
	}
	for range generation {
		for i := range now {
			n := 0
			for around := range 9 {
				row, column := (i/columns+around/3+rows-1)%rows, (i%columns+around%3+columns-1)%columns
				if now[row*columns+column] && around != 4 {
					n++
				}
			}
			next[i] = n == 3 || n == 2 && now[i]
		}
		now, next = next, now
	}
	for i, on := range now {
		page += string(".#"[map[bool]int{true: 1}[on]])
		if (i+1)%columns == 0 {
			page += "\n"
		}
	}
	return page, strings.Count(page, "#")
}

// check checks the board that a job of n ranks has printed.
func check(t *testing.T, out string, n int) {
	t.Helper()
	g := gridOf(n)
	page, cells := alone(g, generations)
	if want := fmt.Sprintf("%sgeneration %d by %d x %d ranks: %d alive\n", page, generations, g.rows, g.columns, cells); out != want || cells == 0 {
		t.Errorf("printed\n%s, want\n%s", out, want)
	}
}

func TestGridsHaveAllRanks(t *testing.T) {
	for n, want := range map[int]grid{1: {1, 1}, 2: {1, 2}, 4: {2, 2}, 6: {2, 3}, 7: {1, 7}, 12: {3, 4}, 16: {4, 4}} {
		if g := gridOf(n); g != want {
			t.Errorf("%d ranks are %v, want %v", n, g, want)
		}
	}
}

func TestShowPrintsEachGeneration(t *testing.T) {
	var out bytes.Buffer
	if err := mpi.Run(2, func(w *mpi.World) error { return live(w.Comm(), true, &out) }); err != nil {
		t.Fatal(err)
	}
	rest := out.String()
	for i := range generations + 1 {
		page, cells := alone(gridOf(2), i)
		var found bool
		if rest, found = strings.CutPrefix(rest, fmt.Sprintf("%sgeneration %d by 1 x 2 ranks: %d alive\n", page, i, cells)); !found {
			t.Fatalf("generation %d is not printed:\n%s", i, rest)
		}
	}
}

func TestGoroutinesLive(t *testing.T) {
	examplerun.Goroutines(t, 9, func(c *mpi.Comm, out io.Writer) error { return live(c, false, out) }, check)
}

func TestProcessesLive(t *testing.T) { examplerun.Processes(t, 7, check) }
