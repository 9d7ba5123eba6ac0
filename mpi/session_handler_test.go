package mpi_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// watcher is an error handler of sessions that counts.
func watcher(calls *atomic.Int32, of **mpi.Session) *mpi.Errhandler {
	return mpi.NewSessionErrhandler(func(s *mpi.Session, err error) error {
		if calls.Add(1); s != *of {
			return errors.New("the handler was given another session")
		}
		return fmt.Errorf("%w by %d: %w", errSeen, calls.Load(), err)
	})
}

func TestASessionsHandlerSeesItsErrorsOnce(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var calls atomic.Int32
		s := get(w.NewSession())
		if s.Errhandler() != mpi.ErrorsReturn {
			t.Error("a session does not begin with ErrorsReturn")
		}
		h := watcher(&calls, &s)
		ok(s.SetErrhandler(h))
		if s.Errhandler() != h {
			t.Error("the session has another handler")
		}
		g := get(s.Group(mpi.PsetWorld))
		wrong := mpi.CommOptions{Info: hint("mpi_assert_no_any_tag", "perhaps")}
		for what, fail := range map[string]func() error{
			"Group":                     func() error { return second(s.Group("x")) },
			"PsetInfo":                  func() error { return second(s.PsetInfo("x")) },
			"Comm":                      func() error { return second(s.Comm("x", "")) },
			"Comm with a long tag":      func() error { return second(s.Comm(mpi.PsetSelf, string(make([]byte, mpi.MaxStringTag+1)))) },
			"CallErrhandler":            func() error { return s.CallErrhandler(errors.New("of the program")) },
			"SetErrhandler":             func() error { return s.SetErrhandler(seer(&calls)) },
			"CommCreateFromGroup":       func() error { return second(mpi.CommCreateFromGroup(g, "", wrong)) },
			"IntercommCreateFromGroups": func() error { return second(mpi.IntercommCreateFromGroups(g, 0, g, 0, "", mpi.CommOptions{})) },
			"a communicator's call": func() error {
				d := get(mpi.CommCreateFromGroup(g, "", mpi.CommOptions{}))
				if d.Errhandler() != h {
					t.Error("a communicator of the session has another handler")
				}
				return mpi.Send(get(d.Dup()), none, 5, 0)
			},
		} {
			checkSeen(t, what, &calls, fail())
		}
		if err := s.CallErrhandler(nil); err != nil {
			t.Errorf("CallErrhandler without an error: %v", err)
		}
		var other atomic.Int32
		own := mpi.CommOptions{Errhandler: seer(&other)}
		d := get(mpi.CommCreateFromGroup(g, "own", own))
		checkSeen(t, "a communicator with a handler of its own", &other, mpi.Send(d, none, 5, 0))
		own.Info = wrong.Info
		checkSeen(t, "a creation with a handler of its own", &other, second(mpi.CommCreateFromGroup(g, "own", own)))
		quiet := get(mpi.CommCreateFromGroup(g, "quiet", mpi.CommOptions{Errhandler: mpi.ErrorsReturn}))
		want(t, "Send without a handler", mpi.Send(quiet, none, 5, 0), mpi.ErrRank)
		want(t, "a session's handler for the World's communicator", c.SetErrhandler(h), mpi.ErrErrhandler)
		want(t, "the same at a creation", second(mpi.CommCreateFromGroup(c.Group(), "", mpi.CommOptions{Errhandler: h})), mpi.ErrErrhandler)
		ok(s.SetErrhandler(nil))
		want(t, "Group without a handler", second(s.Group("x")), mpi.ErrArg)
		ok(s.SetErrhandler(h))
		ok(s.Finalize())
		want(t, "Group of a finalized session", second(s.Group("x")), mpi.ErrSession)
		if calls.Load() != 0 || other.Load() != 0 {
			t.Errorf("handlers were called %d and %d times more", calls.Load(), other.Load())
		}
	})
}

func TestASessionTellsItsThreadLevel(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		s := get(w.NewSession())
		if level, _ := get(s.Info()).Get("thread_level"); level != "MPI_THREAD_MULTIPLE" {
			t.Errorf("the thread level is %q", level)
		}
	})
}
