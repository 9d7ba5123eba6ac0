package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/mpi/cause"
)

// survivals are what four ranks do over and over until rank 2 dies; none of them
// may wait for what cannot come any more.
var survivals = map[string]func(c *mpi.Comm) error{
	"survive: barrier":         func(c *mpi.Comm) error { return c.Barrier() },
	"survive: dup":             func(c *mpi.Comm) error { _, err := c.Dup(); return err },
	"survive: ring of long":    func(c *mpi.Comm) error { return passRound(c, 1<<20) },
	"survive: ring of short":   func(c *mpi.Comm) error { return passRound(c, 8) },
	"survive: nothing further": func(c *mpi.Comm) error { return nil },
}

func passRound(c *mpi.Comm, n int) error {
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	_, err := mpi.Sendrecv(c, make([]byte, n), right, 0, make([]byte, n), left, 0)
	return err
}

// playSurvivor is a rank of a job that goes on without rank 2. A rank that is
// told of the death goes to Finalize, which is told too.
func playSurvivor(w *mpi.World, c *mpi.Comm, round func(*mpi.Comm) error) error {
	for i := range 100 {
		if i == 50 && c.Rank() == 2 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		if err := round(c); errors.Is(err, mpi.ErrProcFailed) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := w.Finalize(); !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("Finalize without rank 2: %w", err)
	}
	fmt.Println("survived")
	return nil
}

func TestADeathHangsNoSurvivor(t *testing.T) {
	for role := range survivals {
		t.Run(role, func(t *testing.T) {
			for range 3 {
				var out, stderr bytes.Buffer
				l := launch.Launch{N: 4, Path: os.Args[0], Env: append(os.Environ(), roleVar+"="+role), KeepGoing: true, Stdout: &out, Stderr: &stderr}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				err := l.Run(ctx)
				cancel()
				exit, ok := errors.AsType[*launch.ExitError](err)
				if !ok || exit.Rank != 2 || exit.Signal != syscall.SIGKILL || strings.Count(out.String(), "survived") != 3 {
					t.Fatalf("%v\n%s%s", err, out.String(), stderr.String())
				}
			}
		})
	}
}

// Abort ends ranks that are blocked, with its code.
func TestAbortEndsTheJob(t *testing.T) {
	l := launch.Launch{N: 3, Path: os.Args[0], Env: append(os.Environ(), roleVar+"=abort"), KeepGoing: true}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := l.Run(ctx)
	abort, ok := errors.AsType[*cause.AbortError](err)
	if !ok || abort.Rank != 1 || abort.Code != 42 {
		t.Fatalf("the job ended with %v", err)
	}
}

func playAbort(c *mpi.Comm, w *mpi.World) error {
	if c.Rank() == 1 {
		w.Abort(42)
	}
	_, err := mpi.Recv(c, []byte{0}, (c.Rank()+2)%3, 0)
	return err
}
