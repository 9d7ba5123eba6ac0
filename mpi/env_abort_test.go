package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/mpi/cause"
)

// aborts are the ways in which rank 1 ends a job with the code 6. None returns.
var aborts = map[string]func(w *mpi.World, c *mpi.Comm){
	"Abort": func(w *mpi.World, c *mpi.Comm) { w.Abort(6) },
	"a goroutine": func(w *mpi.World, c *mpi.Comm) {
		go w.Abort(6)
		mpi.Recv(c, make([]byte, 1), 0, 99)
	},
	"a callback": func(w *mpi.World, c *mpi.Comm) {
		r := get(mpi.Isend(c, none, mpi.ProcNull, 0))
		ok(mpi.OnComplete(&r, func(mpi.Status, error) { w.Abort(6) }))
		mpi.Recv(c, make([]byte, 1), 0, 99)
	},
	"ErrorsAreFatal": func(w *mpi.World, c *mpi.Comm) {
		ok(c.SetErrhandler(mpi.ErrorsAreFatal))
		mpi.Send(c, none, 99, 0) // ErrRank is 6
	},
	"ErrorsAbort for a request": func(w *mpi.World, c *mpi.Comm) {
		r := get(mpi.Irecv(c, make([]byte, 1), 1, 5))
		ok(mpi.Send(c, make([]byte, 2), 1, 5))
		ok(w.Comm().SetErrhandler(mpi.NewErrhandler(func(*mpi.Comm, error) error {
			ok(c.SetErrhandler(mpi.ErrorsAbort))
			return mpi.Send(c, none, 99, 0)
		})))
		mpi.Wait(&r)
	},
	"ErrorsAreFatal in a callback": func(w *mpi.World, c *mpi.Comm) {
		ok(c.SetErrhandler(mpi.ErrorsAreFatal))
		ctx, cancel := context.WithCancel(context.Background())
		r := get(mpi.Irecv(c.WithContext(ctx), make([]byte, 1), 1, 5))
		ok(mpi.OnComplete(&r, func(_ mpi.Status, err error) {
			if !errors.Is(err, mpi.ErrCanceled) {
				panic(err)
			}
		}))
		cancel()
		mpi.Recv(c, make([]byte, 1), 0, 99)
	},
	"a negative code": func(w *mpi.World, c *mpi.Comm) { w.Abort(-1) },
}

// What ranks are blocked in fails at once, and so does every later call.
func TestAbortEndsRanksThatAreGoroutines(t *testing.T) {
	blocked := []func(c *mpi.Comm) error{
		func(c *mpi.Comm) error { return second(mpi.Recv(c, make([]byte, 1), mpi.AnySource, 1)) },
		nil, // rank 1 aborts
		func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm) error {
			r, err := mpi.Irecv(c, make([]byte, 1), 0, 2)
			if err != nil {
				return err
			}
			return mpi.Waitall([]mpi.Request{{}, r}, make([]mpi.Status, 2))
		},
		func(c *mpi.Comm) error { return mpi.Ssend(c, none, 0, 3) },
	}
	for _, fabric := range []string{"mem", "shm", "tcp"} {
		for way, abort := range ordered(aborts) {
			t.Run(fabric+"/"+way, func(t *testing.T) {
				deferred, code := false, 6
				switch way {
				case "a negative code":
					code = 255
				case "ErrorsAreFatal in a callback":
					code = 1 // ErrCanceled is no exit code
				}
				err := runAlone(t, func(w *mpi.World) error {
					c := w.Comm()
					if c.Rank() == 1 {
						defer func() { deferred = true }()
						abort(w, c)
						return errors.New("Abort has returned")
					}
					err := blocked[c.Rank()](c)
					abort, is := errors.AsType[*mpi.AbortError](err)
					if !is || abort.Rank != 1 || abort.Code != code {
						t.Errorf("rank %d: %v", c.Rank(), err)
					}
					want(t, fmt.Sprintf("Send of rank %d", c.Rank()), mpi.Send(c, none, 0, 0), mpi.ErrProcAborted)
					want(t, "Finalize", w.Finalize(), mpi.ErrProcAborted)
					return err
				}, mpi.WithFabric(fabric))
				abort, is := errors.AsType[*mpi.AbortError](err)
				if !is || abort.Rank != 1 || abort.Code != code || launch.ExitCode(err) != code || !errors.Is(err, mpi.ErrProcAborted) || !deferred {
					t.Errorf("Run: %v (deferred functions have run: %t)", err, deferred)
				}
				if err != nil && strings.Contains(err.Error(), "Abort has returned") && !strings.Contains(way, "callback") && way != "a goroutine" {
					t.Errorf("Run: %v", err)
				}
			})
		}
	}
}

// runAlone is Run of five ranks that are goroutines, which must end.
func runAlone(t *testing.T, f func(*mpi.World) error, opts ...mpi.Option) error {
	done := make(chan error, 1)
	go func() { done <- mpi.Run(5, f, append(opts, mpi.WithLogger(slog.New(slog.DiscardHandler)))...) }()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatal("the job did not end")
		return nil
	}
}

// Of several aborts the first counts, and errors that have another cause are told
// too.
func TestTheFirstAbortCounts(t *testing.T) {
	other := errors.New("of another kind")
	err := runAlone(t, func(w *mpi.World) error {
		if w.Comm().Rank() == 4 {
			mpi.Recv(w.Comm(), make([]byte, 1), 0, 0)
			return other
		}
		w.Abort(w.Comm().Rank() + 10)
		return nil
	})
	abort, is := errors.AsType[*mpi.AbortError](err)
	if !is || abort.Code != abort.Rank+10 || strings.Count(err.Error(), "aborted") != 1 || !errors.Is(err, other) {
		t.Errorf("Run: %v", err)
	}
}

// playAborts is what the ranks of a launched job do until rank 1 ends it.
func playAborts(way string) func(n int) error {
	return func(n int) error {
		return mpi.Run(n, func(w *mpi.World) error {
			if w.Comm().Rank() == 1 {
				aborts[way](w, w.Comm())
				return errors.New("Abort has returned")
			}
			return second(mpi.Recv(w.Comm(), make([]byte, 1), mpi.AnySource, 1))
		})
	}
}

func init() {
	for way := range aborts {
		programs["abort: "+way] = playAborts(way)
	}
}

// A handler that ends the job says why.
func TestAFatalErrorEndsALaunchedJob(t *testing.T) {
	for way := range ordered(aborts) {
		if way == "a negative code" || way == "ErrorsAreFatal in a callback" {
			continue
		}
		l := launch.Launch{N: 3, Path: os.Args[0], Env: programEnv("abort: "+way, 0), KeepGoing: true}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := l.Run(ctx)
		cancel()
		abort, is := errors.AsType[*cause.AbortError](err)
		if !is || abort.Rank != 1 || abort.Code != 6 || strings.HasPrefix(way, "Errors") != strings.Contains(abort.Why, "mpi.Send: rank 99") {
			t.Errorf("%s: the job ended with %v", way, err)
		}
	}
}

// Hydra exits with the code. What the rank has printed last may be lost.
func TestAbortUnderHydra(t *testing.T) {
	mpiexec := installed(t, "mpiexec.hydra")
	for _, way := range []string{"Abort", "ErrorsAreFatal"} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		cmd := exec.CommandContext(ctx, mpiexec, "-n", "3", os.Args[0])
		cmd.Env = programEnv("abort: "+way, 0)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		cancel()
		exit, is := errors.AsType[*exec.ExitError](err)
		if !is || exit.ExitCode() != 6 {
			t.Errorf("%s: %v\n%s", way, err, out)
		}
	}
}

// Slurm ends all ranks of the step.
func TestAbortUnderSlurm(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join("..", "scripts", "slurm"), "srun", "-N2", fmt.Sprint("-n", 4), "--mpi=pmi2", os.Args[0])
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
	cmd.Env = programEnv("abort: Abort", 0)
	out, err := cmd.CombinedOutput()
	exit, is := errors.AsType[*exec.ExitError](err)
	if is && exit.ExitCode() == 77 {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("WEFT_CI=1 says that Slurm must run: %s", out)
		}
		t.Skipf("%s", out)
	}
	if !is || !strings.Contains(string(out), "rank 1 ends the job with the exit code 6") {
		t.Errorf("%v\n%s", err, out)
	}
}
