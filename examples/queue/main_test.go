package main

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks what a job of n ranks has printed.
func check(t *testing.T, out string, n int) {
	t.Helper()
	sum := int64(0)
	for i := range items {
		sum += steps(i)
	}
	if want := fmt.Sprintf("%d ranks did %d items once each, in %d steps\n", n, items, sum); out != want {
		t.Errorf("%d ranks print %q, want %q", n, out, want)
	}
}

func TestTheWorkOfAnItemIsItsSteps(t *testing.T) {
	for item, want := range []int64{0, 1, 7, 2, 5, 8, 16} {
		if got := steps(item); got != want {
			t.Errorf("item %d takes %d steps, want %d", item, got, want)
		}
	}
}

func TestGoroutinesWork(t *testing.T) { examplerun.Goroutines(t, 8, work, check) }

func TestProcessesWork(t *testing.T) { examplerun.Processes(t, 8, check) }
