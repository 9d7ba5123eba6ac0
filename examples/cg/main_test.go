package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// result is what a job prints.
type result struct {
	rows, columns, height, width, steps int
	residual, error                     float64
}

const line = "%d x %d ranks solved %d x %d unknowns in %d steps: residual %e, error %e\n"

// read reads what a job of n ranks has printed of size x size unknowns, and checks that
// these are the solution.
func read(t *testing.T, out string, n, size int) (r result) {
	t.Helper()
	_, err := fmt.Sscanf(out, line, &r.rows, &r.columns, &r.height, &r.width, &r.steps, &r.residual, &r.error)
	if err != nil || strings.Count(out, "\n") != 1 || r.rows*r.columns != n || r.height != size || r.width != size {
		t.Fatalf("%d ranks print %q: %v", n, out, err)
	}
	if !(r.residual <= tolerance && r.error <= tolerance) {
		t.Errorf("%d ranks leave a residual of %v and an error of %v", n, r.residual, r.error)
	}
	return r
}

// goroutines runs a job of n of them, and returns what it has printed.
func goroutines(n, size, most int) (string, error) {
	var out bytes.Buffer
	err := mpi.Run(n, func(w *mpi.World) error { return solve(w.Comm(), size, most, &out) })
	return out.String(), err
}

// checkAlike returns a check of jobs: each takes the steps of one rank, or one more or less,
// and comes as near to the solution.
func checkAlike(t *testing.T, size int) func(t *testing.T, out string, n int) {
	out, err := goroutines(1, size, 10*size)
	if err != nil {
		t.Fatal(err)
	}
	alone := read(t, out, 1, size)
	return func(t *testing.T, out string, n int) {
		r := read(t, out, n, size)
		if d := r.steps - alone.steps; d < -1 || d > 1 {
			t.Errorf("%d ranks take %d steps, one takes %d", n, r.steps, alone.steps)
		}
		if d := math.Abs(r.error - alone.error); d > tolerance/100 {
			t.Errorf("%d ranks have an error of %v, one has %v", n, r.error, alone.error)
		}
	}
}

func TestGoroutinesSolve(t *testing.T) {
	rank := func(c *mpi.Comm, out io.Writer) error { return solve(c, 37, 370, out) }
	examplerun.Goroutines(t, 9, rank, checkAlike(t, 37))
}

func TestProcessesSolve(t *testing.T) { examplerun.Processes(t, 6, checkAlike(t, 100)) }

// The fewest unknowns that there can be: a rank has one, or a row of them.
func TestSmallBlocks(t *testing.T) {
	for n := 1; n <= 6; n++ {
		dims, err := mpi.DimsCreate(n, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		out, err := goroutines(n, dims[0], 100)
		if err != nil {
			t.Fatal(err)
		}
		read(t, out, n, dims[0])
		if _, err := goroutines(n, dims[0]-1, 100); err == nil || !strings.Contains(err.Error(), "too few") {
			t.Errorf("%d ranks and %d x %d unknowns: %v", n, dims[0]-1, dims[0]-1, err)
		}
	}
}

func TestItGivesUp(t *testing.T) {
	for _, most := range []int{-1, 0, 5} {
		if out, err := goroutines(2, 20, most); err == nil || out != "" || !strings.Contains(err.Error(), "still") {
			t.Errorf("of %d steps at most it prints %q and returns %v", most, out, err)
		}
	}
}
