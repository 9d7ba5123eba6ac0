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
const asRank = "WEFT_TEST_QUEUE"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

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

func TestGoroutinesWork(t *testing.T) {
	for n := 1; n <= 8; n++ {
		var out bytes.Buffer
		if err := mpi.Run(n, func(w *mpi.World) error { return work(w.Comm(), &out) }); err != nil {
			t.Fatal(err)
		}
		check(t, out.String(), n)
	}
}

func TestProcessesWork(t *testing.T) {
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
