package mpi_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// separate makes a window with separate memory.
func separate(c *mpi.Comm, n int) mpi.Window[int64] {
	return get(mpi.WinAllocate[int64](c, n, mpi.WinOptions{Model: mpi.WinSeparate}))
}

// below is the end of what reports call the line that many lines below the caller's.
func below(lines int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf(" at %s:%d", file, line+lines)
}

// wantConflict stops unless err is a conflict of two accesses with their lines, in either
// order.
func wantConflict(err error, a, b string) *mpi.ConflictError {
	var e *mpi.ConflictError
	if !errors.As(err, &e) || !errors.Is(err, mpi.ErrRMAConflict) {
		stop(fmt.Errorf("%v, want a conflict", err))
	}
	if e.First.Line > e.Second.Line {
		a, b = max(a, b), min(a, b)
	}
	if !strings.HasSuffix(e.First.Line, a) || !strings.HasSuffix(e.Second.Line, b) {
		stop(fmt.Errorf("%v, want the lines %q and %q", err, a, b))
	}
	return e
}

// free frees a window on which conflicts may wait to be told.
func free(w *mpi.Win) {
	if err := w.Free(); err != nil {
		wantClass(err, mpi.ErrRMAConflict)
	}
}

// Two ranks put to one element in one epoch: the target learns of it at the fence, with
// the lines of both.
func TestPutsThatConflictAreReportedWithTheirLines(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			w := separate(c, 4)
			var calls atomic.Int32
			ok(w.SetErrhandler(winSeer(&calls)))
			ok(w.Fence())
			first, second := below(3), below(5)
			switch c.Rank() {
			case 1:
				ok(w.Put([]int64{1, 2}, 0, 1))
			case 2:
				ok(w.Put([]int64{3}, 0, 2))
			}
			err := w.Fence(mpi.NoSucceed)
			if c.Rank() == 0 {
				e := wantConflict(err, first, second)
				if e.Target != 0 || e.At != 16 || e.Bytes != 8 || e.First.Rank+e.Second.Rank != 3 || e.First.Call != "Put" || e.Second.Call != "Put" {
					stop(fmt.Errorf("%+v", e))
				}
				for _, word := range []string{first, second, "a Fence between them"} {
					if !strings.Contains(err.Error(), word) {
						stop(fmt.Errorf("%v does not say %q", err, word))
					}
				}
				if calls.Load() != 1 || !errors.Is(err, errSeen) {
					stop(fmt.Errorf("the handler was called %d times", calls.Load()))
				}
			}
			ok(c.Barrier())
			free(w.Win)
		})
	})
}

// A rank that reads what another one has stored and not published gets what was there
// before, and both learn why.
func TestAStoreThatIsNotPublishedIsReported(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			w, me := separate(c, 2), c.Rank()
			stored, read := below(2), below(8)
			if me == 0 {
				ok(w.Epoch(mpi.LockExclusive, 0, func() error { w.Local()[0] = 1; return nil }))
				w.Local()[1] = 7
			}
			ok(c.Barrier())
			got := make([]int64, 2)
			if me == 1 {
				err := w.Epoch(mpi.LockShared, 0, func() error { return w.Get(got, 0, 0) })
				e := wantConflict(err, stored, read)
				if i := slices.IndexFunc([]mpi.WinAccess{e.First, e.Second}, func(a mpi.WinAccess) bool { return a.Call == "store since Unlock" }); i < 0 {
					stop(err)
				}
				if !slices.Equal(got, []int64{1, 0}) {
					stop(fmt.Errorf("%v has come", got))
				}
			}
			ok(c.Barrier())
			if me == 0 {
				ok(w.Lock(mpi.LockExclusive, 0))
				wantConflict(w.Unlock(0), stored, read)
			}
			ok(c.Barrier())
			if me == 1 {
				ok(w.Epoch(mpi.LockShared, 0, func() error { return w.Get(got, 0, 0) }))
				if !slices.Equal(got, []int64{1, 7}) {
					stop(fmt.Errorf("%v has come behind the Unlock", got))
				}
			}
			ok(c.Barrier())
			ok(w.Free())
		})
	})
}

// What others have put comes to the rank's own copy in the calls that say so.
func TestAnUpdateIsSeenBehindASynchronization(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			w, me := separate(c, 1), c.Rank()
			ok(w.LockAll())
			ok(c.Barrier()) // LockAll may update the copy too
			if me == 1 {
				ok(w.Put([]int64{5}, 0, 0))
				ok(w.Flush(0))
			}
			ok(c.Barrier())
			if me == 0 {
				before := w.Local()[0]
				ok(w.Sync())
				if after := w.Local()[0]; before != 0 || after != 5 {
					stop(fmt.Errorf("the element was %d before Sync and %d behind it", before, after))
				}
			}
			ok(w.UnlockAll())
			ok(w.Free())
		})
	})
}

// The hint accumulate_ops is a promise that is checked.
func TestOperatorsThatBreakTheirHintAreReported(t *testing.T) {
	for _, c := range []struct {
		ops    string
		one    *mpi.Op
		broken bool
	}{{"", mpi.Prod, false}, {"same_op_no_op", mpi.Prod, true}, {"same_op_no_op", mpi.NoOp, false}, {"same_op", mpi.NoOp, true}, {"same_op", mpi.Sum, false}} {
		act(t, "mem", 2, func(_ *mpi.World, k *mpi.Comm) {
			o := mpi.WinOptions{Model: mpi.WinSeparate}
			if c.ops != "" {
				o.Info = hint("accumulate_ops", c.ops)
			}
			w := get(mpi.WinAllocate[int64](k, 1, o))
			ok(w.Fence())
			result := []int64{0}
			if k.Rank() == 0 {
				ok(w.Accumulate(mpi.Sum, []int64{1}, 0, 0))
			} else {
				ok(w.GetAccumulate(c.one, []int64{1}, result, 0, 0))
			}
			if err := w.Fence(mpi.NoSucceed); k.Rank() == 0 {
				if broken := errors.Is(err, mpi.ErrRMAConflict); broken != c.broken || err != nil && !broken {
					stop(fmt.Errorf("%q with %v: %v", c.ops, c.one, err))
				}
			}
			ok(k.Barrier())
			free(w.Win)
		})
	}
}

// Which windows have separate memory: as WinOptions says, else as the World.
func TestWindowsAreSeparateAsAsked(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, asked := range []bool{false, true} {
			var opts []mpi.Option
			usual := mpi.WinUnified
			if asked {
				opts, usual = []mpi.Option{mpi.WithWindowChecks()}, mpi.WinSeparate
			}
			act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
				for _, m := range []mpi.WinModel{0, mpi.WinUnified, mpi.WinSeparate} {
					want := m
					if m == 0 {
						want = usual
					}
					o := mpi.WinOptions{Model: m}
					w := get(mpi.WinAllocate[int32](c, 2, o))
					for _, w := range []*mpi.Win{w.Win, get(mpi.WinCreate(c, make([]byte, 3), o)).Win, get(mpi.WinCreateDynamic(c, o))} {
						if w.Model() != want || strings.Contains(w.Explain(), "separate memory") != (want == mpi.WinSeparate) {
							stop(fmt.Errorf("asked %v: %v of model %v: %s", m, w.Flavor(), w.Model(), w.Explain()))
						}
						if w.Flavor() != mpi.FlavorAllocate {
							ok(w.Free())
						}
					}
					if _, err := w.Shared(1 - c.Rank()); want == mpi.WinSeparate {
						wantClass(err, mpi.ErrRMAShared)
					}
					if own := get(w.Shared(c.Rank())); &own[0] != &w.Local()[0] {
						stop(errors.New("Shared of the own rank is not Local"))
					}
					ok(w.Free())
				}
				wantClass(second(mpi.WinAllocate[int32](c, 2, mpi.WinOptions{Model: 7})), mpi.ErrArg)
				wantClass(second(mpi.WinAllocateShared[int32](c, 2, mpi.WinOptions{Model: mpi.WinSeparate})), mpi.ErrArg)
				one := mpi.WinOptions{Model: mpi.WinUnified}
				if c.Rank() == 1 {
					one.Model = mpi.WinSeparate
				}
				wantClass(second(mpi.WinAllocate[int32](c, 2, one)), mpi.ErrNotSame)
				if fabric == "mem" || fabric == "shm" {
					w := get(mpi.WinAllocateShared[int32](c, 2, mpi.WinOptions{}))
					if w.Model() != mpi.WinUnified {
						stop(errors.New("a shared window is separate"))
					}
					ok(w.Free())
				}
			}, opts...)
		}
	})
}

// WEFT_CHECK asks from outside for either kind of checks, or both.
func TestTheEnvironmentTurnsWindowChecksOn(t *testing.T) {
	for value, model := range map[string]mpi.WinModel{"win": mpi.WinSeparate, "coll,win": mpi.WinSeparate, "coll": mpi.WinUnified, "": mpi.WinUnified} {
		t.Setenv("WEFT_CHECK", value)
		if err := mpi.Run(2, func(w *mpi.World) error {
			x, err := mpi.WinAllocate[byte](w.Comm(), 1, mpi.WinOptions{})
			if err != nil || x.Model() != model {
				return fmt.Errorf("with %q: model %v, %w", os.Getenv("WEFT_CHECK"), x.Model(), err)
			}
			return x.Free()
		}); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("WEFT_CHECK", "win,all")
	var wrong *mpi.EnvError
	if err := mpi.Run(2, func(*mpi.World) error { return nil }); !errors.As(err, &wrong) || wrong.Remedy == "" {
		t.Errorf("%v", err)
	}
}
