package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/mpi"
)

// asRank makes the test binary the program.
const asRank = "WEFT_TEST_HISTOGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

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

func TestGoroutinesCount(t *testing.T) {
	for n := 1; n <= 8; n++ {
		var out bytes.Buffer
		if err := mpi.Run(n, func(w *mpi.World) error { return count(w.Comm(), &out) }); err != nil {
			t.Fatal(err)
		}
		check(t, out.String(), n)
	}
}

func TestProcessesCount(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 8; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var out bytes.Buffer
			l := boot.Launch{N: n, Path: exe, Env: append(os.Environ(), asRank+"=1"), Stdout: &out, Stderr: os.Stderr}
			if err := l.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			check(t, out.String(), n)
		})
	}
}
