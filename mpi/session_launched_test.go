package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/mpi/cause"
)

func init() {
	for name, play := range map[string]func(ctx context.Context, n int) error{
		"session: again": playSessionsAgain, "session: and World": playSessionAndWorld, "session: run": playRunSessions,
		"session: too late": playSessionTooLate, "session: early exit": playEarlyExit, "session: deserter": playSessionDeserter,
		"session: alone": playSessionAlone, "session: killed": playSessionKilled, "session: fatal": playSessionFatal,
	} {
		programs[name] = func(n int) error {
			ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the test waited too long"))
			defer cancel()
			return attempt(func() { ok(play(ctx, n)) })
		}
	}
}

// joinSession makes a session and a communicator of all ranks.
func joinSession(ctx context.Context, tag string) (*mpi.Session, *mpi.Comm) {
	s := get(mpi.NewSession(ctx))
	c := get(mpi.CommCreateFromGroup(get(s.Group(mpi.PsetWorld)), tag, mpi.CommOptions{Context: ctx}))
	return s, c
}

// playSessionsAgain makes sessions again and again, one rank more often than others.
func playSessionsAgain(ctx context.Context, _ int) error {
	s, c := joinSession(ctx, "first")
	rank, size := c.Rank(), c.Size()
	ok(s.Finalize())
	before, files := runtime.NumGoroutine(), openFiles()
	for round := range 30 {
		s, c := joinSession(ctx, "org.example")
		if got := sum(c, round); got != round*size {
			return fmt.Errorf("round %d: %d", round, got)
		}
		if round%2 == 0 {
			ok(c.Free())
		}
		ok(s.Finalize())
		for range rank { // the others do not take part
			s := get(mpi.NewSession(ctx))
			self := get(s.Comm(mpi.PsetSelf, "self"))
			ok(self.Barrier())
			ok(s.Finalize())
		}
	}
	for start := mpi.Wtime(); runtime.NumGoroutine() > before && mpi.Wtime()-start < patience.Seconds(); runtime.Gosched() {
	}
	if n, f := runtime.NumGoroutine(), openFiles(); n > before || f > files {
		return fmt.Errorf("%d goroutines and %d files, %d and %d before", n, f, before, files)
	}
	fmt.Println("made again at", rank, "of", size)
	return nil
}

// playSessionAndWorld has sessions before, beside and after the World.
func playSessionAndWorld(ctx context.Context, _ int) error {
	first, c := joinSession(ctx, "before")
	w := get(mpi.Init(ctx))
	beside, d := joinSession(ctx, "beside")
	all := w.Comm().WithContext(ctx)
	for _, c := range []*mpi.Comm{c, d, all} {
		if sum(c, 1) != c.Size() {
			return errors.New("the ranks do not add up")
		}
	}
	ok(first.Finalize())
	ok(w.Finalize())
	if sum(d, 1) != d.Size() || all.Barrier() == nil {
		return errors.New("the wrong one has ended")
	}
	ok(beside.Finalize())
	after, e := joinSession(ctx, "after")
	if sum(e, 1) != e.Size() {
		return errors.New("the ranks do not add up")
	}
	if _, err := mpi.Init(ctx); !errors.Is(err, cause.ErrDiscovered) {
		return fmt.Errorf("a second Init: %w", err)
	}
	if err := checkUsed(mpi.Run(0, ring)); err != nil {
		return err
	}
	fmt.Println("made again at", e.Rank(), "of", e.Size())
	return after.Finalize()
}

func playRunSessions(_ context.Context, n int) error {
	for range 2 {
		err := mpi.RunSessions(n, func(ctx context.Context) error {
			s, c := joinSession(ctx, "run")
			more := get(mpi.NewSession(context.Background())) // of the same rank
			if sum(c, 1) != c.Size() {
				return errors.New("the ranks do not add up")
			}
			fmt.Println("made again at", c.Rank(), "of", c.Size())
			_ = more // left to RunSessions
			return s.Finalize()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func playSessionTooLate(ctx context.Context, _ int) error {
	w := get(mpi.Init(ctx))
	ok(w.Finalize())
	_, err := mpi.NewSession(ctx)
	if !errors.Is(err, mpi.ErrSession) || !errors.Is(err, cause.ErrDiscovered) || !strings.Contains(err.Error(), "before World.Finalize") {
		return fmt.Errorf("NewSession after the World: %w", err)
	}
	if _, err := w.NewSession(); !errors.Is(err, mpi.ErrSession) {
		return fmt.Errorf("World.NewSession after the World: %w", err)
	}
	return nil
}

// playEarlyExit has ranks exit at once behind their last calls, which others still
// need messages of.
func playEarlyExit(ctx context.Context, _ int) error {
	s := get(mpi.NewSession(ctx))
	g := get(s.Group(mpi.PsetWorld))
	c := get(mpi.CommCreateFromGroup(g, "exit", mpi.CommOptions{Context: ctx}))
	const n = 300
	if c.Rank() < c.Size()-1 {
		for i := range n {
			ok(mpi.Send(c, pattern(1000, i), c.Size()-1, i))
		}
		return s.Finalize()
	}
	for from := range c.Rank() {
		for i := range n {
			b := make([]byte, 1000)
			if get(mpi.Recv(c, b, from, n-1-i)); differs(b, n-1-i) >= 0 {
				return errors.New("a message came with other bytes")
			}
		}
	}
	fmt.Println("made again at", c.Rank(), "of", c.Size())
	return s.Finalize()
}

// playSessionDeserter is a rank that leaves a session open.
func playSessionDeserter(ctx context.Context, _ int) error {
	s, c := joinSession(ctx, "a")
	ok(s.Finalize())
	if c.Rank() == 1 {
		get(mpi.NewSession(ctx))
	}
	return nil
}

// playSessionAlone is a process without a launcher.
func playSessionAlone(ctx context.Context, _ int) error {
	s := get(mpi.NewSession(ctx))
	ok(s.Finalize())
	before, files := runtime.NumGoroutine(), openFiles()
	for range 20 {
		s, c := joinSession(ctx, "alone")
		more := get(mpi.NewSession(ctx))
		w := get(mpi.Init(ctx))
		other := get(mpi.Init(ctx)) // a world of one of its own
		if sum(c, 3) != 3 || sum(w.Comm(), 4) != 4 || sum(other.Comm(), 5) != 5 {
			return errors.New("a rank does not add up")
		}
		for _, end := range []func() error{w.Finalize, s.Finalize, other.Finalize, more.Finalize} {
			ok(end())
		}
		if !mpi.Initialized() || !mpi.Finalized() {
			return errors.New("a World is open")
		}
	}
	for start := mpi.Wtime(); runtime.NumGoroutine() > before && mpi.Wtime()-start < patience.Seconds(); runtime.Gosched() {
	}
	if n, f := runtime.NumGoroutine(), openFiles(); n > before || f > files {
		return fmt.Errorf("%d goroutines and %d files, %d and %d before", n, f, before, files)
	}
	fmt.Println("made again at 0 of 1")
	return nil
}

func playSessionKilled(_ context.Context, n int) error {
	return mpi.RunSessions(n, func(ctx context.Context) error {
		return attempt(func() {
			_, c := joinSession(ctx, "all")
			if c.Rank() == 0 {
				for r := 1; r < c.Size(); r++ { // until all have joined
					get(mpi.Recv(c, none, r, 2))
				}
				stop(errors.New("one has failed"))
			}
			ok(mpi.Send(c, none, 0, 2))
			if _, err := mpi.Recv(c, none, 0, 1); !errors.Is(err, mpi.ErrProcFailed) {
				stop(fmt.Errorf("Recv: %w", err))
			}
			fmt.Println("a survivor was told")
		})
	})
}

func playSessionFatal(ctx context.Context, _ int) error {
	s, c := joinSession(ctx, "all")
	if c.Rank() == 1 {
		ok(s.SetErrhandler(mpi.ErrorsAreFatal))
		s.Group("nobody")
	}
	_, err := mpi.Recv(c, none, 1, 1)
	return err
}

// checkAgain wants one line of each rank, rounds times.
func checkAgain(t *testing.T, out string, n, rounds int) {
	t.Helper()
	for rank := range n {
		if line := fmt.Sprintf("made again at %d of %d\n", rank, n); strings.Count(out, line) != rounds {
			t.Errorf("want %q, %d times:\n%s", line, rounds, out)
		}
	}
}

func TestLaunchedProcessesMakeSessionsAgain(t *testing.T) {
	for name, rounds := range map[string]int{"session: again": 1, "session: and World": 1, "session: run": 2} {
		for _, fabric := range []string{"shm", "tcp"} {
			t.Setenv("WEFT_FABRIC", fabric)
			for _, n := range []int{1, 3} {
				out, err := program(t, name, n, 0)
				if err != nil {
					t.Errorf("%s, %d: %v\n%s", name, n, err, out)
				}
				checkAgain(t, out, n, rounds)
			}
		}
	}
}

func TestSessionsUnderHydra(t *testing.T) {
	mpiexec := installed(t, "mpiexec.hydra")
	for name, rounds := range map[string]int{"session: again": 1, "session: and World": 1, "session: run": 2} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, mpiexec, "-n", "3", os.Args[0])
		cmd.Env, cmd.SysProcAttr = programEnv(name, 0), &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		checkAgain(t, string(out), 3, rounds)
	}
}

func TestASessionAfterTheWorldIsToldWhatToDo(t *testing.T) {
	if out, err := program(t, "session: too late", 2, 0); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestARankMayExitBehindItsLastFinalize(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		t.Setenv("WEFT_FABRIC", fabric)
		for range 3 {
			out, err := program(t, "session: early exit", 4, 0)
			if err != nil || !strings.Contains(out, "made again at 3 of 4\n") {
				t.Fatalf("%s: %v\n%s", fabric, err, out)
			}
		}
	}
}

func TestALaunchedRankThatKeepsASessionOpenHasNotLeft(t *testing.T) {
	out, err := program(t, "session: deserter", 2, 0)
	exit, is := errors.AsType[*launch.ExitError](err)
	if !is || exit.Rank != 1 || !errors.Is(err, launch.ErrNotFinalized) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSessionsOfAProcessWithoutALauncher(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = programEnv("session: alone", 0)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkAgain(t, string(out), 1, 1)
}

func TestALaunchedRankThatFailsInRunSessions(t *testing.T) {
	out, err := program(t, "session: killed", 3, 3)
	if err == nil || strings.Count(out, "a survivor was told\n") != 2 || !strings.Contains(out, "rank 0: act_test.go") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := program(t, "session: killed", 3, 2); err == nil || !bytes.Contains([]byte(out), []byte("the program asks for 2 ranks and the launcher has started 3")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFatalErrorOfASessionEndsTheJob(t *testing.T) {
	out, err := program(t, "session: fatal", 2, 0)
	abort, is := errors.AsType[*cause.AbortError](err)
	if !is || abort.Code != int(mpi.ErrArg) || abort.Rank != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}
