package mpi_test

import (
	"errors"
	"fmt"
	"go/ast"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// winSeer is an error handler of windows that counts.
func winSeer(calls *atomic.Int32) *mpi.Errhandler {
	return mpi.NewWinErrhandler(func(w *mpi.Win, err error) error {
		calls.Add(1)
		if w == nil {
			return errors.New("the handler was given no window")
		}
		return fmt.Errorf("%w by %d: %w", errSeen, calls.Load(), err)
	})
}

// exposed are windows of one rank whose handler is a winSeer.
type exposed struct {
	mpi.Window[int64]
	dynamic *mpi.Win
	kv      *mpi.WinKeyval[int]
}

// winFailures makes each exported call that belongs to a window fail.
var winFailures = map[string]func(v exposed) error{
	"Attach":         func(v exposed) error { return second(mpi.Attach(v.Win, none)) },
	"Detach":         func(v exposed) error { return mpi.Detach(v.dynamic, none) },
	"Put":            func(v exposed) error { return mpi.Put(v.Win, none, 0, 0) },
	"Put far away":   func(v exposed) error { return mpi.Put(v.Win, none, 0, 99) },
	"Get":            func(v exposed) error { return mpi.Get(v.Win, none, 3, 0) },
	"Accumulate":     func(v exposed) error { return mpi.Accumulate(v.Win, nil, none, 0, 0) },
	"GetAccumulate":  func(v exposed) error { return mpi.GetAccumulate(v.Win, mpi.Sum, none, nil, 0, 0) },
	"FetchAndOp":     func(v exposed) error { return mpi.FetchAndOp[byte](v.Win, mpi.Sum, nil, nil, 0, 0) },
	"CompareAndSwap": func(v exposed) error { var f float64; return mpi.CompareAndSwap(v.Win, &f, &f, &f, 0, 0) },
	"Rput":           func(v exposed) error { return second(mpi.Rput(v.Win, none, 0, 0)) },
	"Rget":           func(v exposed) error { return second(mpi.Rget(v.Win, none, 0, -1)) },
	"Raccumulate":    func(v exposed) error { return second(mpi.Raccumulate(v.Win, mpi.BAnd, []float64{1}, 0, 0)) },
	"RgetAccumulate": func(v exposed) error { return second(mpi.RgetAccumulate(v.Win, nil, none, none, 0, 0)) },

	"Window.Put":               func(v exposed) error { return v.Window.Put(nil, 7, 0) },
	"Window.Get":               func(v exposed) error { return v.Window.Get(make([]int64, 1), 0, 0) },
	"Window.Accumulate":        func(v exposed) error { return v.Window.Accumulate(mpi.NoOp, []int64{1}, 0, 0) },
	"Window.GetAccumulate":     func(v exposed) error { return v.Window.GetAccumulate(mpi.Sum, nil, nil, 7, 0) },
	"Window.FetchAndOp":        func(v exposed) error { return v.Window.FetchAndOp(mpi.Sum, nil, nil, 0, 0) },
	"Window.CompareAndSwap":    func(v exposed) error { return v.Window.CompareAndSwap(nil, nil, nil, 0, 0) },
	"Window.FetchAndOpNow":     func(v exposed) error { return second(v.Window.FetchAndOpNow(mpi.Sum, 1, 0, 0)) },
	"Window.CompareAndSwapNow": func(v exposed) error { return second(v.Window.CompareAndSwapNow(2, 1, 0, 99)) },
	"Window.Shared":            func(v exposed) error { return second(v.Window.Shared(7)) },

	"Win.Fence":         func(v exposed) error { return v.Fence(mpi.NoCheck) },
	"Win.Post":          func(v exposed) error { return v.Post(nil) },
	"Win.Start":         func(v exposed) error { return v.Start(nil) },
	"Win.Complete":      func(v exposed) error { return v.Complete() },
	"Win.Wait":          func(v exposed) error { return v.Wait() },
	"Win.Test":          func(v exposed) error { return second(v.Test()) },
	"Win.Lock":          func(v exposed) error { return v.Lock(0, 0) },
	"Win.Unlock":        func(v exposed) error { return v.Unlock(0) },
	"Win.LockAll":       func(v exposed) error { ok(v.SetInfo(hint("no_locks", "true"))); return v.LockAll() },
	"Win.UnlockAll":     func(v exposed) error { return v.UnlockAll() },
	"Win.Flush":         func(v exposed) error { return v.Flush(0) },
	"Win.FlushLocal":    func(v exposed) error { return v.FlushLocal(9) },
	"Win.FlushAll":      func(v exposed) error { return v.FlushAll() },
	"Win.FlushLocalAll": func(v exposed) error { return v.FlushLocalAll() },
	"Win.Sync":          func(v exposed) error { return v.Sync() },
	"Win.Epoch":         func(v exposed) error { return v.Epoch(mpi.LockShared, 0, nil) },
	"Win.Free":          func(v exposed) error { ok(v.dynamic.Free()); return v.dynamic.Free() },
	"Win.Free, by an attribute": func(v exposed) error {
		ok(mpi.NewWinKeyval(func(*mpi.Win, int) error { return errors.New("it stays") }).Set(v.Win, 1))
		return v.Free()
	},
	"Win.Flush of what is not attached": func(v exposed) error {
		ok(v.dynamic.LockAll())
		ok(mpi.Put(v.dynamic, none, 0, 64))
		return v.dynamic.Flush(0)
	},
	"Win.SetErrhandler": func(v exposed) error {
		return v.SetErrhandler(mpi.NewErrhandler(func(*mpi.Comm, error) error { return nil }))
	},
	"Win.CallErrhandler": func(v exposed) error { return v.CallErrhandler(errors.New("of the program")) },
	"Win.SetName":        func(v exposed) error { return v.SetName(strings.Repeat("x", mpi.MaxObjectName+1)) },
	"Win.SetInfo":        func(v exposed) error { return v.SetInfo(hint("accumulate_ops", "all")) },
	"Win.Info":           func(v exposed) error { ok(v.dynamic.Free()); return second(v.dynamic.Info()) },

	"WinKeyval.Get":    func(v exposed) error { var no *mpi.WinKeyval[int]; _, _, err := no.Get(v.Win); return err },
	"WinKeyval.Set":    func(v exposed) error { ok(v.kv.Free()); return v.kv.Set(v.Win, 1) },
	"WinKeyval.Delete": func(v exposed) error { var no *mpi.WinKeyval[int]; return no.Delete(v.Win) },
}

func TestEveryErrorOfAWindowsCallsPassesItsHandlerOnce(t *testing.T) {
	missing := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.Decls {
			if d, is := d.(*ast.FuncDecl); is && d.Name.IsExported() {
				if name, does := about(d, map[string]bool{"Win": true, "Window": true}); does {
					missing[name] = true
				}
			}
		}
	}
	for name := range winFailures {
		name, _, _ = strings.Cut(name, " ")
		delete(missing, strings.TrimSuffix(name, ","))
	}
	for name := range missing {
		t.Errorf("no failure of %s is tried", name)
	}
	act(t, "mem", 1, func(_ *mpi.World, c *mpi.Comm) {
		ok(c.SetErrhandler(mpi.NewErrhandler(func(_ *mpi.Comm, err error) error {
			t.Errorf("the communicator's handler sees: %v", err)
			return err
		})))
		for name, fail := range ordered(winFailures) {
			var calls atomic.Int32
			h := winSeer(&calls)
			v := exposed{get(mpi.WinAllocate[int64](c, 4, mpi.WinOptions{})), get(mpi.WinCreateDynamic(c, mpi.WinOptions{})), mpi.NewWinKeyval[int](nil)}
			if v.Errhandler() != mpi.ErrorsReturn {
				t.Error("a window has a handler from the beginning")
			}
			ok(v.SetErrhandler(h))
			ok(v.dynamic.SetErrhandler(h))
			if v.Errhandler() != h {
				t.Error("the window has another handler")
			}
			checkSeen(t, name, &calls, fail(v))
		}
	})
}

// The handler of a request is its window's, also when the window has been freed.
func TestARequestOfAWindowHasItsHandler(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			var calls atomic.Int32
			w := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			ok(w.SetErrhandler(winSeer(&calls)))
			for _, late := range []bool{false, true} {
				ok(w.Lock(mpi.LockShared, 1-c.Rank()))
				r := get(mpi.Rget(w, make([]byte, 8), 1-c.Rank(), 4096))
				ok(w.Unlock(1 - c.Rank()))
				if late {
					ok(w.Free())
				}
				err := second(mpi.Wait(&r))
				checkSeen(t, "Wait", &calls, err)
				if !errors.Is(err, mpi.ErrRMARange) {
					t.Errorf("Wait: %v", err)
				}
			}
		})
	})
}

// Each object takes the handlers that are made for it, and the predefined ones.
func TestHandlersAreForOneKindOfObject(t *testing.T) {
	act(t, "mem", 1, func(world *mpi.World, c *mpi.Comm) {
		w := get(mpi.WinAllocate[byte](c, 1, mpi.WinOptions{}))
		s := get(world.NewSession())
		ofComm := mpi.NewErrhandler(func(_ *mpi.Comm, err error) error { return err })
		ofWin := mpi.NewWinErrhandler(func(_ *mpi.Win, err error) error { return err })
		ofSession := mpi.NewSessionErrhandler(func(_ *mpi.Session, err error) error { return err })
		for what, err := range map[string]error{
			"a communicator's for a window":     w.SetErrhandler(ofComm),
			"a session's for a window":          w.SetErrhandler(ofSession),
			"a window's for a communicator":     c.SetErrhandler(ofWin),
			"a window's for a session":          s.SetErrhandler(ofWin),
			"a window's for a new communicator": second(mpi.CommCreateFromGroup(c.Group(), "", mpi.CommOptions{Errhandler: ofWin})),
		} {
			want(t, what, err, mpi.ErrErrhandler)
		}
		for _, h := range []*mpi.Errhandler{nil, mpi.ErrorsReturn, mpi.NewWinErrhandler(nil)} {
			ok(w.SetErrhandler(ofWin))
			ok(w.SetErrhandler(h))
			if w.Errhandler() != mpi.ErrorsReturn {
				t.Error("the window has kept its handler")
			}
		}
		ok(w.SetErrhandler(mpi.NewWinErrhandler(func(*mpi.Win, error) error { return nil })))
		want(t, "Flush with a handler that returns nil", w.Flush(0), mpi.ErrRMASync)
		ok(s.Finalize())
	})
}
