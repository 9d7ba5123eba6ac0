package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/testkit/examplerun"
	"github.com/weft-mpi/weft/mpi"
)

func TestMain(m *testing.M) { examplerun.Main(m, main) }

// check checks what a job of n ranks has printed.
func check(t *testing.T, out string, n int) {
	t.Helper()
	want := "1 ranks have solved it\n"
	if n > 1 {
		want = fmt.Sprintf("round %d: %d of %d ranks go on\n%d ranks have solved it\n", last, n-1, n, n-1)
	}
	if out != want {
		t.Errorf("%d ranks have printed:\n%swant:\n%s", n, out, want)
	}
}

// output is what several goroutines print.
type output struct {
	mu sync.Mutex
	bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.Write(b)
}

func TestGoroutinesSurvive(t *testing.T) {
	for n := 1; n <= 5; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var out output
			err := mpi.Run(n, func(w *mpi.World) error { return survive(w.Comm(), &out) })
			if dies := err != nil && strings.Contains(err.Error(), "this rank dies"); dies != (n > 1) {
				t.Errorf("the job has ended with %v", err)
			}
			check(t, out.String(), n)
		})
	}
}

func TestProcessesSurvive(t *testing.T) {
	for n := 1; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			out, err := examplerun.Launch(t, launch.Launch{N: n, KeepGoing: true})
			exit, killed := errors.AsType[*launch.ExitError](err)
			if killed = killed && exit.Rank == victim && exit.Signal == syscall.SIGKILL; killed != (n > 1) {
				t.Errorf("the job has ended with %v", err)
			}
			check(t, out, n)
		})
	}
}
