package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks what a job of n ranks has printed: every item of every rank, in the
// order of ranks, from the number on that the items before it make. It returns how many
// each rank has.
func check(t *testing.T, out string, n int) (counts []int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != n+1 {
		t.Fatalf("%d lines:\n%s", len(lines), out)
	}
	next := 0
	for rank, line := range lines[:n] {
		var r, count, first int
		head, list, _ := strings.Cut(line, ": [")
		if _, err := fmt.Sscanf(head, "rank %d: %d items from number %d on", &r, &count, &first); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		var want []string
		for i := range count {
			want = append(want, fmt.Sprint(item(rank, i)))
		}
		if r != rank || first != next || list != strings.Join(want, " ")+"]" {
			t.Errorf("rank %d, whose items have the numbers from %d on: %s", rank, next, line)
		}
		counts = append(counts, count)
		next += count
	}
	if want := fmt.Sprintf("%d items", next); lines[n] != want {
		t.Errorf("the last line is %q, want %q", lines[n], want)
	}
	return counts
}

func TestGoroutinesNumberTheirItems(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for _, mine := range []func(rank int) int{
			func(rank int) int { return rank * rank % 5 },
			func(rank int) int { return 0 },
			func(rank int) int { return 1000 - 100*rank },
		} {
			var out bytes.Buffer
			var want []int
			for rank := range n {
				want = append(want, mine(rank))
			}
			if err := mpi.Run(n, func(w *mpi.World) error { return number(w.Comm(), mine(w.Comm().Rank()), &out) }); err != nil {
				t.Fatal(err)
			}
			if got := check(t, out.String(), n); !slices.Equal(got, want) {
				t.Errorf("the ranks have %v items, want %v", got, want)
			}
		}
	}
}

func TestProcessesNumberTheirItems(t *testing.T) {
	examplerun.Processes(t, 8, func(t *testing.T, out string, n int) { check(t, out, n) })
}
