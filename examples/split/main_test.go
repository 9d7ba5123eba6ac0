package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks what a job of n ranks has printed: the product, in the lines of each
// row of its grid.
func check(t *testing.T, out string, n int) {
	t.Helper()
	rows, columns := shape(n)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != rows+1 {
		t.Fatalf("%d lines for %d rows:\n%s", len(lines), rows, out)
	}
	first := 0
	for r, text := range lines[:rows] {
		var want []int
		for i := range height(r) {
			sum := 0
			for j := range columns * width {
				sum += matrix(first+i, j) * vector(j)
			}
			want = append(want, sum)
		}
		if want := fmt.Sprintf("row %d of the grid: lines from %d on: %v", r, first, want); text != want {
			t.Errorf("row %d is %q, want %q", r, text, want)
		}
		first += height(r)
	}
	if want := fmt.Sprintf("%d x %d ranks multiplied %d x %d numbers", rows, columns, first, columns*width); lines[rows] != want {
		t.Errorf("the last line is %q, want %q", lines[rows], want)
	}
}

func TestAGridHasItsRanksInRowsAndColumns(t *testing.T) {
	for n, want := range map[int][2]int{1: {1, 1}, 2: {1, 2}, 3: {1, 3}, 4: {2, 2}, 6: {2, 3}, 7: {1, 7}, 8: {2, 4}, 9: {3, 3}, 12: {3, 4}} {
		if rows, columns := shape(n); [2]int{rows, columns} != want {
			t.Errorf("%d ranks are %d x %d, want %v", n, rows, columns, want)
		}
	}
}

func TestGoroutinesMultiply(t *testing.T) { examplerun.Goroutines(t, 9, multiply, check) }

func TestProcessesMultiply(t *testing.T) { examplerun.Processes(t, 8, check) }
