package mpi_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// end is how a callback was told that an operation ended.
type end struct {
	st  mpi.Status
	err error
}

// ends collects what callbacks are told, and sees that they are called one at
// a time.
type ends struct {
	t      *testing.T
	came   chan end
	inside atomic.Bool
}

func newEnds(t *testing.T) *ends { return &ends{t: t, came: make(chan end, 10_000)} }

func (e *ends) call(st mpi.Status, err error) {
	if e.inside.Swap(true) {
		e.t.Error("two callbacks at a time")
	}
	e.came <- end{st, err}
	e.inside.Store(false)
}

// next waits for a callback without being in the library.
func (e *ends) next() end {
	select {
	case got := <-e.came:
		return got
	case <-e.t.Context().Done():
		panic("the test has ended")
	}
}

// none checks that nothing more has come.
func (e *ends) none() {
	e.t.Helper()
	if n := len(e.came); n > 0 {
		e.t.Errorf("%d callbacks too many, with %+v", n, <-e.came)
	}
}

func TestADetachedOperationCallsBackOnce(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				told := newEnds(t)
				in, short := make([]byte, n), make([]byte, max(n-1, 0))
				if c.Rank() == 0 {
					for _, way := range []func(*mpi.Comm, []byte, int, int) (mpi.Request, error){mpi.Isend[byte], mpi.Issend[byte]} {
						r := begin(way(c, pattern(n, 1), 1, 1))
						ok(mpi.OnComplete(r, told.call))
						if !r.Null() {
							t.Error("OnComplete leaves the handle")
						}
						if got := told.next(); got != (end{st: mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}}) {
							t.Errorf("a send of %d bytes: %+v", n, got)
						}
					}
				} else {
					r := begin(mpi.Irecv(c, in, 0, 1))
					ok(mpi.OnComplete(r, told.call))
					if got := told.next(); got != (end{st: mpi.Status{Source: 0, Tag: 1, Bytes: uint64(n)}}) || differs(in, 1) >= 0 {
						t.Errorf("a receive of %d bytes: %+v", n, got)
					}
					ok(mpi.OnComplete(begin(mpi.Irecv(c, short, 0, 1)), told.call))
					got := told.next()
					if n > 0 {
						want(t, "a receive that is too short", got.err, mpi.ErrTruncate)
					}
					if got.st.Bytes != uint64(n) || differs(short, 1) >= 0 {
						t.Errorf("a receive of %d bytes into less: %+v", n, got)
					}
				}
				ok(c.Barrier())
				told.none()
			})
		}
	})
}

// Without the progress thread operations end in the application's calls; the
// callback is made elsewhere all the same.
func TestDetachedOperationsWithoutProgressThread(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				told := newEnds(t)
				in := make([]byte, n)
				ok(mpi.OnComplete(begin(mpi.Irecv(c, in, 1-c.Rank(), 1)), told.call))
				ok(mpi.OnComplete(begin(mpi.Isend(c, pattern(n, 1), 1-c.Rank(), 1)), told.call))
				ok(c.Barrier())
				for len(told.came) < 2 {
					_, _, err := mpi.Iprobe(c, 1-c.Rank(), 9)
					ok(err)
				}
				ok(c.Barrier())
				for range 2 {
					ok(told.next().err)
				}
				if differs(in, 1) >= 0 {
					t.Errorf("other bytes of %d", n)
				}
			}, mpi.WithoutProgressThread())
		}
	})
}

// A persistent receive that its callback starts again needs nobody else.
func TestACallbackStartsThePersistentRequestAgain(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const many = 200
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 0 {
				for i := range many {
					ok(mpi.Send(c, pattern(sizes[i%len(sizes)], i), 1, i))
				}
				get(mpi.Recv(c, make([]byte, 1), 1, 1))
				return
			}
			told := newEnds(t)
			in := make([]byte, long)
			r := begin(mpi.RecvInit(c, in, 0, mpi.AnyTag))
			ok(mpi.Start(r))
			var again func(st mpi.Status, err error)
			i := 0
			again = func(st mpi.Status, err error) {
				if st.Tag != i || st.Bytes != uint64(sizes[i%len(sizes)]) || differs(in[:st.Bytes], i) >= 0 {
					t.Errorf("message %d: %+v", i, st)
				}
				if i++; i == many || err != nil {
					told.call(st, err)
					return
				}
				if err := errors.Join(mpi.Start(r), mpi.OnComplete(r, again)); err != nil {
					told.call(st, err)
				}
			}
			ok(mpi.OnComplete(r, again))
			if got := told.next(); got.err != nil || r.Null() {
				t.Errorf("the last callback: %+v", got)
			}
			ok(mpi.RequestFree(r))
			told.none()
			ok(mpi.Send(c, []byte{1}, 0, 1))
		})
	})
}

func TestACallbackStartsAndTestsOperations(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 0 {
					ok(mpi.Send(c, pattern(n, 1), 1, 1))
					in := make([]byte, n)
					if get(mpi.Recv(c, in, 1, 2)); differs(in, 1) >= 0 {
						t.Errorf("%d bytes came back changed", n)
					}
					return
				}
				told := newEnds(t)
				b := make([]byte, n)
				ok(mpi.OnComplete(begin(mpi.Irecv(c, b, 0, 1)), func(st mpi.Status, err error) {
					r, e := mpi.Isend(c, b, 0, 2)
					ended := false
					if err = errors.Join(err, e); err == nil {
						ended, _, err = mpi.Test(&r)
					}
					if err == nil && !ended {
						_, _, err = mpi.Iprobe(c, 0, 3)
						err = errors.Join(err, mpi.OnComplete(&r, told.call))
					}
					if ended || err != nil {
						told.call(st, err)
					}
				}))
				if got := told.next(); got.err != nil {
					t.Errorf("the answer of %d bytes: %v", n, got.err)
				}
			})
		}
	})
}

func TestManyGoroutinesDetach(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		const goroutines, rounds = 16, 25
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			told := newEnds(t)
			var joins []func()
			for g := range goroutines {
				joins = append(joins, aside(func() {
					for i := range rounds {
						n := sizes[(g+i)%len(sizes)]
						ok(mpi.OnComplete(begin(mpi.Irecv(c, make([]byte, n), 1-c.Rank(), g)), told.call))
						ok(mpi.OnComplete(begin(mpi.Isend(c, pattern(n, 1), 1-c.Rank(), g)), told.call))
					}
				}))
			}
			for _, join := range joins {
				join()
			}
			for range 2 * goroutines * rounds {
				if got := told.next(); got.err != nil || got.st.Source != 1-c.Rank() && got.st.Source != mpi.AnySource {
					t.Errorf("a callback with %+v", got)
				}
			}
			ok(c.Barrier())
			told.none()
		})
	})
}

// A goroutine that keeps the engine busy does not keep callbacks from being
// made.
func TestCallbacksAreMadeWhileOthersPoll(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		var over atomic.Bool
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			const many = 20
			var called atomic.Int64
			if c.Rank() == 0 {
				join := aside(func() {
					for i := range many {
						ok(mpi.OnComplete(begin(mpi.Irecv(c, make([]byte, 1), 0, 5)), func(mpi.Status, error) { called.Add(1) }))
						ok(mpi.Send(c, []byte{1}, 0, 5))
						for called.Load() <= int64(i) {
							ok(t.Context().Err())
							runtime.Gosched()
						}
					}
					over.Store(true)
				})
				defer join()
			}
			for last := false; !last; {
				last = c.Rank() == 0 && over.Load()
				round := []bool{last}
				get(mpi.SendrecvReplace(c, round, 1-c.Rank(), 3, 1-c.Rank(), 3))
				last = last || round[0]
			}
		}, opts...)
	})
}

// What is refused has no callback.
func TestOnCompleteRefusesWhatNobodyHasStarted(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			told := newEnds(t)
			want(t, "OnComplete of a null request", mpi.OnComplete(new(mpi.Request), told.call), mpi.ErrRequest)
			p := begin(mpi.RecvInit(c, make([]byte, 1), 0, 1))
			want(t, "OnComplete of an inactive request", mpi.OnComplete(p, told.call), mpi.ErrRequest)
			ok(mpi.RequestFree(p))
			r := begin(mpi.Irecv(c, make([]byte, 1), 0, 1))
			a, b := *r, *r
			want(t, "OnComplete without a function", mpi.OnComplete(r, nil), mpi.ErrArg)
			ok(mpi.OnComplete(r, told.call))
			want(t, "OnComplete of a detached request", mpi.OnComplete(&a, told.call), mpi.ErrRequest)
			_, err := mpi.Wait(&b)
			want(t, "Wait for a detached request", err, mpi.ErrRequest)
			ok(mpi.Send(c, []byte{1}, 0, 1))
			told.next()
			ok(c.Barrier())
			told.none()
		})
	})
}

// However a detached operation ends, its callback is told.
func TestACallbackIsToldOfEveryEnd(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		t.Run("alone", func(t *testing.T) {
			act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
				told := newEnds(t)
				ctx, cancel := context.WithCancel(t.Context())
				ok(mpi.OnComplete(begin(mpi.Irecv(c.WithContext(ctx), make([]byte, 1), 0, 1)), told.call))
				cancel()
				want(t, "the end of the context", told.next().err, mpi.ErrCanceled)

				r := begin(mpi.Irecv(c, make([]byte, 1), 0, 1))
				copied := *r
				ok(mpi.OnComplete(r, told.call))
				ok(mpi.Cancel(&copied))
				if got := told.next(); !got.st.Cancelled || got.err != nil {
					t.Errorf("after Cancel: %+v", got)
				}

				ok(mpi.Send(c, make([]byte, 3), 0, 1))
				r = begin(mpi.Irecv(c, make([]byte, 1), 0, 1)) // has ended
				ok(mpi.OnComplete(r, told.call))
				want(t, "a receive that had ended", told.next().err, mpi.ErrTruncate)
				told.none()
			})
		})

		told := newEnds(t)
		waits := newSignal()
		err := try(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				if c.Rank() == 1 {
					waits.take()
					stop(errors.New("this rank dies"))
				}
				ok(mpi.OnComplete(begin(mpi.Irecv(c, make([]byte, 1), 1, 1)), told.call))
				waits.give()
				want(t, "the death of the sender", told.next().err, mpi.ErrProcFailed)
			})
		})
		if err == nil {
			t.Error("Run does not tell of the rank that has died")
		}
	})
}

// Finalize ends what is under way; by the time it returns every callback has
// been called.
func TestFinalizeCallsBackWhateverIsDetached(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const many = 50
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			told := newEnds(t)
			ended := func(err error) {
				t.Helper()
				class := mpi.ErrComm
				if errors.Is(err, mpi.ErrProcFailed) {
					class = mpi.ErrProcFailed // the other rank was gone first
				}
				want(t, "a detached receive after Finalize", err, class)
			}
			for i := range many {
				r := begin(mpi.Irecv(c, make([]byte, 1), 1-c.Rank(), 1))
				if i%2 == 0 {
					r = begin(mpi.RecvInit(c, make([]byte, 1), 1-c.Rank(), 1))
					ok(mpi.Start(r))
				}
				ok(mpi.OnComplete(r, func(st mpi.Status, err error) {
					mpi.Irecv(c, make([]byte, 1), 0, 1) // refused, or ended too
					told.call(st, err)
				}))
			}
			late := begin(mpi.Irecv(c, make([]byte, 1), 1-c.Rank(), 1))
			ok(w.Finalize())
			if got := len(told.came); got != many {
				t.Errorf("%d of %d callbacks were called when Finalize had returned", got, many)
			}
			for range many {
				ended(told.next().err)
			}
			ok(mpi.OnComplete(late, told.call))
			ended(told.next().err)
			told.none()
		}, opts...)
	})
}

// A callback that blocks delays other callbacks and nothing else: the rank goes on
// serving its peers.
func TestACallbackMayBlock(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		blocked, served := newSignal(), newSignal()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 0 {
				ok(mpi.Send(c, []byte{1}, 1, 1))
				blocked.take()
				ok(mpi.Ssend(c, pattern(long, 3), 1, 3)) // rank 1 makes no call
				served.give()
				ok(mpi.Send(c, []byte{2}, 1, 2))
				return
			}
			told, away := newEnds(t), make(chan bool)
			in, second := make([]byte, long), make([]byte, 1)
			r := begin(mpi.Irecv(c, in, 0, 3))
			ok(mpi.OnComplete(begin(mpi.Irecv(c, make([]byte, 1), 0, 1)), func(mpi.Status, error) {
				blocked.give()
				<-away
				told.call(mpi.Recv(c, second, 0, 2))
			}))
			served.take()
			close(away)
			if ok(told.next().err); second[0] != 2 {
				t.Errorf("the callback has received %d", second[0])
			}
			if get(mpi.Wait(r)); differs(in, 3) >= 0 {
				t.Error("other bytes")
			}
		})
	})
}

func TestACallbackMayFinalize(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		ended := make(chan error, 1)
		ok(mpi.OnComplete(begin(mpi.Isend(c, none, c.Rank(), 1)), func(mpi.Status, error) { ended <- w.Finalize() }))
		ok(<-ended)
	})
}
