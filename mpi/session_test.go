package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// sum adds v over a communicator, which shows that its ranks are in touch.
func sum(c *mpi.Comm, v int) int {
	out := []int{0}
	ok(mpi.Allreduce(c, mpi.Sum, []int{v}, out))
	return out[0]
}

// within gives a communicator of a session the context of the test.
func within(c *mpi.Comm) mpi.CommOptions { return mpi.CommOptions{Context: c.Context()} }

// of makes a communicator of the ranks of a group, with the tag of all.
func of(g *mpi.Group, c *mpi.Comm, tag string) *mpi.Comm {
	return get(mpi.CommCreateFromGroup(g, tag, within(c)))
}

func TestPsetsPartTheJobByHosts(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					s := get(w.NewSession())
					sets := get(s.Psets())
					if len(sets) < 3 || sets[0] != mpi.PsetWorld || sets[1] != mpi.PsetSelf {
						t.Fatalf("the sets are %q", sets)
					}
					hosts := make([]int, n) // that a rank is on
					for _, name := range sets {
						g := get(s.Group(name))
						info := get(s.PsetInfo(name))
						if size, _ := info.Get("mpi_size"); size != fmt.Sprint(g.Size()) || info.Len() != 1 {
							t.Errorf("%s has %d ranks, and tells of %v", name, g.Size(), info)
						}
						if !strings.HasPrefix(name, "weft://host/") || strings.Contains(name, "%") && os.Getenv("WEFT_NODE") == "" {
							continue
						}
						for _, rank := range g.All() {
							hosts[rank]++
						}
					}
					if slices.Min(hosts) != 1 || slices.Max(hosts) != 1 {
						t.Errorf("the ranks are on %v hosts each", hosts)
					}
					if all, self := get(s.Group(mpi.PsetWorld)), get(s.Group(mpi.PsetSelf)); all.Size() != n || all.Rank() != c.Rank() || self.Size() != 1 || self.Rank() != 0 {
						t.Errorf("rank %d is %d of %d, and %d of %d", c.Rank(), all.Rank(), all.Size(), self.Rank(), self.Size())
					}
					ok(s.Finalize())
				})
			})
		}
	})
}

func TestCommunicatorsOfProcessSets(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 3} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					s := get(w.NewSession())
					for _, name := range get(s.Psets()) {
						g := get(s.Group(name))
						if g.Rank() == mpi.Undefined {
							continue
						}
						for range 2 { // the same tag again, once the first is made
							d := get(s.Comm(name, "test"))
							if d.Rank() != g.Rank() || sum(d, 1) != g.Size() {
								t.Errorf("%s: rank %d of %d", name, d.Rank(), d.Size())
							}
							ok(d.Free())
						}
					}
					ok(s.Finalize())
					ok(c.Barrier())
				})
			})
		}
	})
}

// Two libraries of one program know nothing of each other: their tags may be the same.
func TestSessionsWithOneTagDoNotMix(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			before := mpi.Reserved(w)
			var joins []func()
			for lib, ranks := range [][]int{{0, 1, 2}, {1, 2, 3}, {3, 0}, {2, 1}} { // all at once, in groups that overlap
				if !slices.Contains(ranks, c.Rank()) {
					continue
				}
				joins = append(joins, aside(func() {
					s := get(w.NewSession())
					g := get(get(s.Group(mpi.PsetWorld)).Incl(ranks...))
					d := of(g, c, "org.example")
					for range 20 {
						if got := sum(d, lib+1); got != len(ranks)*(lib+1) || d.Size() != len(ranks) {
							t.Errorf("library %d: %d of %d ranks", lib, got, d.Size())
						}
					}
					ok(s.Finalize())
				}))
			}
			for _, join := range joins {
				join()
			}
			ok(c.Barrier())
			if n := mpi.Reserved(w); n != before {
				t.Errorf("%d context ids are reserved, %d before", n, before)
			}
		})
	})
}

// The World and the sessions of a rank end in any order.
func TestWorldAndSessionsEndInAnyOrder(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, order := range [][]int{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}} { // 0 is the World
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				comms, ends := []*mpi.Comm{c}, []func() error{w.Finalize}
				for i := range 2 {
					s := get(w.NewSession())
					comms = append(comms, of(get(s.Group(mpi.PsetWorld)), c, fmt.Sprint(i)))
					ends = append(ends, s.Finalize)
				}
				for k, end := range order {
					for i, d := range comms {
						if ended := slices.Contains(order[:k], i); ended {
							want(t, fmt.Sprintf("Send on %d of %v after %d", i, order, k), mpi.Send(d, none, mpi.ProcNull, 0), mpi.ErrComm)
							want(t, "Free", d.Free(), mpi.ErrComm)
							want(t, "a second end", ends[i](), map[bool]mpi.Class{true: mpi.ErrComm, false: mpi.ErrSession}[i == 0])
						} else if sum(d, 1) != 2 {
							t.Errorf("communicator %d of %v does not work after %d", i, order, k)
						}
					}
					ok(ends[end]())
				}
			})
		}
	})
}

func TestCyclesOfSessionsLeaveNothing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			before, known := mpi.Reserved(w), mpi.Known(w)
			for round := range 30 {
				s := get(w.NewSession())
				d := of(get(s.Group(mpi.PsetWorld)), c, "again")
				if round%2 == 0 { // what has a handler is kept for requests
					ok(d.SetErrhandler(mpi.NewErrhandler(func(_ *mpi.Comm, err error) error { return err })))
				}
				if round%3 == 0 {
					ok(d.Barrier())
					ok(d.Free())
				}
				ok(s.Finalize())
			}
			ok(c.Barrier())
			if n, k := mpi.Reserved(w), mpi.Known(w); n != before || k != known {
				t.Errorf("%d context ids are reserved and %d communicators known, %d and %d before", n, k, before, known)
			}
		})
	})
}

// What a session has under way ends with it, and nothing of another one.
func TestFinalizeOfASessionEndsWhatWaits(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			s := get(w.NewSession())
			d := of(get(s.Group(mpi.PsetWorld)), c, "")
			stays := get(mpi.Irecv(c, make([]byte, 1), 1-c.Rank(), 5))
			for range 3 { // the last one by flags, where there are any
				ok(d.Barrier())
			}
			if c.Rank() == 0 { // the other does nothing of all this
				barrier := aside(func() {
					if d.Barrier() == nil {
						stop(errors.New("one rank was in a barrier alone"))
					}
				})
				rs := []mpi.Request{get(mpi.Irecv(d, make([]byte, 1), 1, 5)), get(mpi.Irecv(d, make([]byte, 1), mpi.AnySource, 6)), get(d.Ibarrier())}
				all := get(s.Group(mpi.PsetWorld))
				alone := aside(func() {
					if _, err := mpi.CommCreateFromGroup(all, "alone", within(c)); err == nil {
						stop(errors.New("a communicator was made by one rank"))
					}
				})
				ok(s.Finalize())
				for i := range rs {
					want(t, fmt.Sprint("operation ", i), second(mpi.Wait(&rs[i])), mpi.ErrComm)
				}
				alone()
				barrier()
			}
			ok(mpi.Send(c, none, 1-c.Rank(), 5))
			get(mpi.Wait(&stays))
			ok(c.Barrier())
		})
	})
}

func TestAFinalizedSessionIsRefused(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		s := get(w.NewSession())
		g := get(s.Group(mpi.PsetWorld))
		d := of(g, c, "d")
		ok(s.Finalize())
		var null *mpi.Session
		for what, s := range map[string]*mpi.Session{"finalized": s, "nil": null, "zero": {}} {
			for call, err := range map[string]error{
				"Psets": second(s.Psets()), "PsetInfo": second(s.PsetInfo(mpi.PsetWorld)), "Group": second(s.Group(mpi.PsetSelf)),
				"Comm": second(s.Comm(mpi.PsetSelf, "x")), "Info": second(s.Info()), "SetErrhandler": s.SetErrhandler(nil),
				"CallErrhandler": s.CallErrhandler(errors.New("x")), "Finalize": s.Finalize(),
			} {
				want(t, what+": "+call, err, mpi.ErrSession)
			}
		}
		want(t, "CommCreateFromGroup", second(mpi.CommCreateFromGroup(g, "e", mpi.CommOptions{})), mpi.ErrSession)
		want(t, "CreateGroup", second(d.CreateGroup(g, 0)), mpi.ErrComm)
		want(t, "Dup", second(d.Dup()), mpi.ErrComm)
		if err := d.Barrier(); err == nil || !strings.Contains(err.Error(), "the session of the communicator has been finalized") {
			t.Errorf("Barrier: %v", err)
		}
		if g.Size() != 1 || g.Rank() != 0 || d.Size() != 1 {
			t.Error("its group can't be asked any more")
		}
		ok(w.Finalize())
		want(t, "NewSession of no rank", second(mpi.NewSession(t.Context())), mpi.ErrSession)
		want(t, "NewSession after the World", second(w.NewSession()), mpi.ErrSession)
	})
}

func TestAWrongProcessSetNamesTheNearest(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		s := get(w.NewSession())
		host := get(s.Psets())[2]
		for name, near := range map[string]string{
			"mpi://world": mpi.PsetWorld, "MPI://SELF": mpi.PsetSelf, "mpi:/WORLD": mpi.PsetWorld, "mpi://SLEF": mpi.PsetSelf, "self": mpi.PsetSelf,
			host + "x": host, strings.ToUpper(host): host, "": mpi.PsetSelf, host[:len("weft://host/")]: host, strings.Repeat("w", 1<<20): "",
		} {
			_, err := s.Group(name)
			want(t, fmt.Sprintf("Group(%.40q)", name), err, mpi.ErrArg)
			if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("the nearest is %q", near)) && len(name) < 100 && name != "" && len(host) > 20 {
				t.Errorf("Group(%q): %v, want %q", name, err, near)
			}
			want(t, "PsetInfo", second(s.PsetInfo(name)), mpi.ErrArg)
			want(t, "Comm", second(s.Comm(name, "tag")), mpi.ErrArg)
		}
	})
}

// Groups of two sessions, or of a session and the World, are kept apart, as MPI has it.
func TestGroupsOfTwoSessionsDoNotMix(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		a, b := get(w.NewSession()), get(w.NewSession())
		ga, gb := get(a.Group(mpi.PsetWorld)), get(b.Group(mpi.PsetWorld))
		for name, call := range together {
			want(t, name+" of two sessions", call(ga, gb), mpi.ErrGroup)
			want(t, name+" of a session and the World", call(ga, c.Group()), mpi.ErrGroup)
			want(t, name+" of one session", call(ga, get(ga.Union(mpi.GroupEmpty))), 0)
		}
		want(t, "Create", second(c.Create(ga)), mpi.ErrGroup)
		want(t, "CreateGroup", second(c.CreateGroup(ga, 0)), mpi.ErrGroup)
		d, e := of(ga, c, ""), of(gb, c, "")
		want(t, "Create on another session's", second(d.Create(e.Group())), mpi.ErrGroup)
		want(t, "Compare", second(d.Compare(e)), mpi.ErrComm)
		get(d.CreateGroup(ga, 0))
		if how := get(d.Compare(of(get(mpi.GroupEmpty.Union(ga)), c, "again"))); how != mpi.Congruent {
			t.Errorf("two of one session are %v", how)
		}
	})
}

// A rank that is a goroutine finds its sessions by its context, and makes them again.
func TestSessionsAreMadeAgain(t *testing.T) {
	for _, fabric := range []string{"mem", "shm", "tcp"} {
		before, files := runtime.NumGoroutine(), openFiles()
		for range 3 {
			err := mpi.RunSessions(3, func(ctx context.Context) error {
				return attempt(func() {
					limited, cancel := context.WithTimeout(ctx, patience)
					defer cancel()
					for round := range 20 {
						s, more := get(mpi.NewSession(limited)), get(mpi.NewSession(limited, mpi.WithFabric(fabric)))
						for _, s := range []*mpi.Session{s, more} {
							d := get(mpi.CommCreateFromGroup(get(s.Group(mpi.PsetWorld)), fmt.Sprint(s == more), mpi.CommOptions{Context: limited}))
							if sum(d, round) != 3*round {
								stop(errors.New("the ranks do not add up"))
							}
						}
						want(t, "another fabric", second(mpi.NewSession(limited, mpi.WithFabric("verbs"))), mpi.ErrArg)
						ok(more.Finalize())
						if round < 19 {
							ok(s.Finalize()) // the last one is left to RunSessions
						}
					}
				})
			}, mpi.WithFabric(fabric), mpi.WithLogger(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatalf("%s: %v", fabric, err)
			}
		}
		left := func() bool { return runtime.NumGoroutine() > before || openFiles() > files+4 }
		for start := time.Now(); left() && time.Since(start) < patience; runtime.Gosched() { // what ends is on its way
		}
		if left() {
			t.Errorf("%s: %d goroutines and %d files, %d and %d before", fabric, runtime.NumGoroutine(), openFiles(), before, files)
		}
	}
}

func TestRunSessionsTellsOfFailures(t *testing.T) {
	broken := errors.New("one has failed")
	var kept atomic.Pointer[context.Context]
	err := mpi.RunSessions(3, func(ctx context.Context) error {
		kept.Store(&ctx)
		return attempt(func() {
			s := get(mpi.NewSession(ctx))
			c := get(s.Comm(mpi.PsetWorld, "all"))
			if c.Rank() == 1 {
				stop(broken)
			}
			_, err := mpi.Recv(c, none, 1, 0)
			want(t, "Recv", err, mpi.ErrProcFailed)
		})
	})
	if !errors.Is(err, broken) || strings.Count(err.Error(), "rank ") < 1 || strings.Contains(err.Error(), "rank 0: ") {
		t.Errorf("RunSessions: %v", err)
	}
	want(t, "NewSession afterwards", second(mpi.NewSession(*kept.Load())), mpi.ErrSession)
	want(t, "without a function", mpi.RunSessions(1, nil), mpi.ErrArg)
	want(t, "of too many", mpi.RunSessions(1<<20, func(context.Context) error { return nil }), mpi.ErrArg)
}

func TestAnAbortEndsSessions(t *testing.T) {
	err := mpi.RunSessions(2, func(ctx context.Context) error {
		return attempt(func() {
			s := get(mpi.NewSession(ctx))
			c := get(s.Comm(mpi.PsetWorld, "all"))
			if c.Rank() == 1 {
				ok(s.SetErrhandler(mpi.ErrorsAreFatal))
				s.Group("nobody") // does not return
				t.Error("a fatal error returns")
			}
			want(t, "Recv", second(mpi.Recv(c, none, 1, 0)), mpi.ErrProcAborted)
			want(t, "Group", second(s.Group(mpi.PsetSelf)), mpi.ErrProcAborted)
			want(t, "NewSession", second(mpi.NewSession(ctx)), mpi.ErrProcAborted)
		})
	})
	var abort *mpi.AbortError
	if !errors.As(err, &abort) || abort.Rank != 1 || abort.Code != int(mpi.ErrArg) {
		t.Errorf("RunSessions: %v", err)
	}
}
