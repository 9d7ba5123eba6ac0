package mpi_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	state "github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/mpi/cause"
)

// socketsHere lists the ranks of this process that listen, by their jobs.
func socketsHere(t *testing.T) map[string][]peek.Name {
	t.Helper()
	names, err := peek.List()
	if err != nil {
		t.Fatal(err)
	}
	here := map[string][]peek.Name{}
	for _, r := range asked(t, names, "hello") {
		if r.PID == os.Getpid() {
			here[r.Name.Job] = append(here[r.Name.Job], r.Name)
		}
	}
	return here
}

func asked(t *testing.T, names []peek.Name, question string) []peek.Result {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return peek.Ask(ctx, names, question)
}

// replied asks until no rank says that the owner of its loop is busy, which also one
// whose machine is does.
func replied(t *testing.T, names []peek.Name, question string) []peek.Result {
	for end := time.Now().Add(patience); ; {
		rs := asked(t, names, question)
		if !slices.ContainsFunc(rs, func(r peek.Result) bool { return r.Busy > 0 }) || time.Now().After(end) {
			return rs
		}
	}
}

// runningAside runs f on n ranks that are goroutines, and the test's ask beside them, between
// ready and the end of f's ranks: they end when the channel they are given is closed.
func runningAside(t *testing.T, n int, f func(w *mpi.World, ready func(), over <-chan struct{}) error, ask func(), opts ...mpi.Option) {
	t.Helper()
	over, done := make(chan struct{}), make(chan error, 1)
	var ready sync.WaitGroup
	ready.Add(n)
	go func() {
		done <- mpi.Run(n, func(w *mpi.World) error { return f(w, ready.Done, over) }, opts...)
	}()
	ready.Wait()
	func() {
		defer close(over)
		ask()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func idle(_ *mpi.World, ready func(), over <-chan struct{}) error {
	ready()
	<-over
	return nil
}

func TestEachRankOfSeveralWorldsListens(t *testing.T) {
	before := len(socketsHere(t))
	runningAside(t, 3, idle, func() {
		runningAside(t, 2, idle, func() {
			var sizes []int
			for _, names := range socketsHere(t) {
				sizes = append(sizes, len(names))
				for i, r := range replied(t, names, "snapshot") {
					var s mpi.Snapshot
					if err := r.Unmarshal(&s); err != nil || len(s.Families) == 0 || r.Size != len(names) || r.Rank != i || r.Fabric != "mem" || len(r.Local) != r.Size {
						t.Errorf("%v, %+v", err, r.Reply)
					}
				}
				for _, question := range []string{"pending", "settled"} {
					for i, r := range replied(t, names, question) {
						var s state.Rank
						if err := r.Unmarshal(&s); err != nil || s.Rank != i || len(s.Waits) != 0 || !s.Threaded || len(s.Comms) < 1 || s.Comms[0].Name != "MPI_COMM_WORLD" {
							t.Errorf("%s: %v, %+v", question, err, s)
						}
					}
				}
				var stacks string
				if r := asked(t, names[:1], "stacks")[0]; r.Unmarshal(&stacks) != nil || !strings.Contains(stacks, "mpi_test.idle(") {
					t.Errorf("%v, %.200s", r.Err, stacks)
				}
			}
			if slices.Sort(sizes); !slices.Equal(sizes, []int{2, 3}) {
				t.Errorf("jobs of %v ranks listen", sizes)
			}
		})
	})
	if after := socketsHere(t); len(after) != before {
		t.Errorf("%v listen behind the end of their worlds", after)
	}
}

func TestWithoutPeekNobodyListens(t *testing.T) {
	nobody := func() {
		if names := socketsHere(t); len(names) != 0 {
			t.Errorf("%v listen", names)
		}
	}
	runningAside(t, 2, idle, nobody, mpi.WithoutPeek())
	t.Setenv("WEFT_PEEK", "0")
	runningAside(t, 2, idle, nobody)
	t.Setenv("WEFT_PEEK", "no")
	var env *cause.EnvError
	if err := mpi.Run(1, func(*mpi.World) error { return nil }); !errors.As(err, &env) || env.Var != "WEFT_PEEK" {
		t.Error(err)
	}
	t.Setenv("WEFT_PEEK", "1")
	runningAside(t, 2, idle, func() {
		if len(socketsHere(t)) != 1 {
			t.Error("nobody listens")
		}
	})
}

// Questions may come at any time, also while the rank leaves its job, and change nothing.
func TestQuestionsDoNotDisturbRanks(t *testing.T) {
	over := make(chan struct{})
	var asking sync.WaitGroup
	for _, question := range []string{"pending", "settled", "snapshot", "hello"} {
		asking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				for _, names := range socketsHere(t) {
					asked(t, names, question)
				}
			}
		})
	}
	for range 5 {
		act(t, "mem", 4, func(w *mpi.World, c *mpi.Comm) {
			left, right := (c.Rank()+3)%4, (c.Rank()+1)%4
			win, err := mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})
			ok(err)
			for i := range 200 {
				out, in := []int{i*4 + c.Rank()}, []int{0}
				_, err := mpi.Sendrecv(c, out, right, i, in, left, i)
				ok(err)
				sum := []int{0}
				ok(mpi.Allreduce(c, mpi.Sum, in, sum))
				r, err := mpi.Iallreduce(c, mpi.Sum, in, out)
				ok(err)
				_, err = mpi.Wait(&r)
				ok(err)
				ok(win.Lock(mpi.LockExclusive, 0))
				ok(win.Unlock(0))
				ok(c.Barrier())
				if want := 16*i + 6; in[0] != i*4+left || sum[0] != want || out[0] != want {
					t.Errorf("rank %d has got %v, %v and %v in round %d", c.Rank(), in, sum, out, i)
				}
			}
			ok(win.Free())
		})
	}
	close(over)
	asking.Wait()
}

func TestARankInFinalizeReplies(t *testing.T) {
	runningAside(t, 2, func(w *mpi.World, ready func(), over <-chan struct{}) error {
		ready()
		if w.Comm().Rank() == 0 {
			return w.Finalize()
		}
		<-over
		return nil
	}, func() {
		for _, names := range socketsHere(t) {
			for {
				var s state.Rank
				if err := replied(t, names[:1], "pending")[0].Unmarshal(&s); err != nil {
					t.Fatal(err)
				}
				if len(s.Waits) > 0 {
					if w := s.Waits[0]; w.Kind != state.Collective || w.Call != state.Last || w.Number != 1 || w.Goroutine != 1 || !slices.Equal(w.Needs, []int{1}) {
						t.Errorf("%+v", s)
					}
					break
				}
			}
		}
	})
}

// A reply does not wait for the owner of the loop, and says since when it is not there.
func TestABusyOwnerIsTold(t *testing.T) {
	free := make(chan struct{})
	runningAside(t, 1, func(w *mpi.World, ready func(), over <-chan struct{}) error {
		mpi.Own(w, func() {
			ready()
			<-free
		})
		<-over
		return nil
	}, func() {
		for _, names := range socketsHere(t) {
			for _, question := range []string{"pending", "snapshot"} {
				first, second := asked(t, names, question)[0], asked(t, names, question)[0]
				if first.Err != nil || first.Busy < 0.05 || second.Busy < first.Busy+0.05 {
					t.Errorf("%s: %v, busy for %v, then %v", question, first.Err, first.Busy, second.Busy)
				}
			}
			var stacks string
			if r := asked(t, names, "stacks")[0]; r.Unmarshal(&stacks) != nil || !strings.Contains(stacks, "Own") {
				t.Errorf("%v", r.Err)
			}
			// The look of the collective calls waits too, so the next question is told of it.
			for r := asked(t, names, "settled")[0]; r.Busy == 0; r = asked(t, names, "settled")[0] {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			close(free)
			for {
				r := asked(t, names, "pending")[0]
				if r.Busy == 0 {
					if err := r.Unmarshal(new(state.Rank)); err != nil {
						t.Error(err)
					}
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
	})
}
