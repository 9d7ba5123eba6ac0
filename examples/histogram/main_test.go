package main

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/examplerun"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks what a job of n ranks has printed: the histogram.
func check(t *testing.T, out string, n int) {
	t.Helper()
	want := fmt.Sprintf("%d ranks counted %d numbers in %d bins: %v\n", n, n*draws, n*binsEach, alone(n))
	if out != want {
		t.Errorf("%d ranks print %q, want %q", n, out, want)
	}
}

func TestNumbersAreInAllBinsAndMoreInLowOnes(t *testing.T) {
	for n := 1; n <= 8; n++ {
		all, sum := alone(n), int64(0)
		for b, v := range all {
			if sum += v; v == 0 {
				t.Errorf("%d ranks: bin %d is empty", n, b)
			}
		}
		if sum != int64(n*draws) || all[0] <= all[len(all)-1] {
			t.Errorf("%d ranks: %v", n, all)
		}
	}
}

func TestGoroutinesCount(t *testing.T) { examplerun.Goroutines(t, 8, count, check) }

func TestProcessesCount(t *testing.T) { examplerun.Processes(t, 8, check) }
