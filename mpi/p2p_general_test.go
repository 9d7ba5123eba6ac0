package mpi_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// grequest counts the calls of a generalized request's functions.
type grequest struct {
	queries, frees, cancels, completed atomic.Int64
	queryErr, freeErr                  error
}

func (g *grequest) start(w *mpi.World) mpi.Request {
	return get(mpi.GrequestStart(w, func() (mpi.Status, error) {
		g.queries.Add(1)
		st := mpi.Status{Source: 3, Tag: 4}
		err := mpi.SetCount[int32](&st, 5)
		return st, errors.Join(err, g.queryErr)
	}, func() error {
		g.frees.Add(1)
		return g.freeErr
	}, func(completed bool) error {
		g.cancels.Add(1)
		if completed {
			g.completed.Add(1)
		}
		return nil
	}))
}

func (g *grequest) counts(t *testing.T, what string, queries, frees, cancels int64) {
	t.Helper()
	if q, f, c := g.queries.Load(), g.frees.Load(), g.cancels.Load(); q != queries || f != frees || c != cancels {
		t.Errorf("%s: %d calls of query, %d of free, %d of cancel; want %d, %d, %d", what, q, f, c, queries, frees, cancels)
	}
}

func TestEveryCompletionAsksAGeneralizedRequest(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			for name, complete := range ordered(completions) {
				for _, early := range []bool{false, true} {
					var g grequest
					r := g.start(w)
					copied := r
					if ended, _, err := mpi.Test(&r); ended || err != nil {
						t.Errorf("Test = %t, %v before the operation has ended", ended, err)
					}
					join := func() {}
					if early {
						ok(mpi.GrequestComplete(r))
					} else {
						join = aside(func() { ok(mpi.GrequestComplete(copied)) })
					}
					st, err := complete(&r)
					join()
					if err != nil || st.Source != 3 || st.Tag != 4 || !r.Null() {
						t.Errorf("%s: %+v, %v", name, st, err)
					}
					g.counts(t, name, 1, 1, 0)
					want(t, "GrequestComplete of a freed request", mpi.GrequestComplete(copied), mpi.ErrRequest)
				}
			}
		})
	})
}

// The error of query is that of the call; that of free is if query has none.
func TestErrorsOfAGeneralizedRequestAreTheCallsOwn(t *testing.T) {
	act := func(t *testing.T, f func(w *mpi.World, c *mpi.Comm)) { act(t, "mem", 1, f) }
	act(t, func(w *mpi.World, c *mpi.Comm) {
		broken, stuck := errors.New("broken"), errors.New("stuck")
		for name, complete := range ordered(completions) {
			for _, g := range []*grequest{{queryErr: broken, freeErr: stuck}, {queryErr: broken}, {freeErr: broken}} {
				r := g.start(w)
				ok(mpi.GrequestComplete(r))
				_, err := complete(&r)
				want(t, name, err, mpi.ErrOther)
				if !errors.Is(err, broken) {
					t.Errorf("%s: %v", name, err)
				}
				g.counts(t, name, 1, 1, 0)
			}
		}
		// Without statuses the first error is told, and every query and free called.
		gs := []*grequest{{}, {queryErr: broken}, {queryErr: stuck}, {}}
		rs := make([]mpi.Request, len(gs))
		for i, g := range gs {
			rs[i] = g.start(w)
			ok(mpi.GrequestComplete(rs[i]))
		}
		if err := mpi.Waitall(rs, nil); !errors.Is(err, broken) {
			t.Errorf("Waitall without statuses: %v, want the first error", err)
		}
		for i, g := range gs {
			g.counts(t, fmt.Sprint("Waitall, request ", i), 1, 1, 0)
		}
		// With functions that are nil there is nothing to ask.
		r := get(mpi.GrequestStart(w, nil, nil, nil))
		ok(mpi.Cancel(&r))
		ok(mpi.GrequestComplete(r))
		isEmpty(t, "nil functions", get(mpi.Wait(&r)))
	})
}

func TestGeneralizedAndOtherRequestsAreWaitedForTogether(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, ignored := range []bool{false, true} {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				var g grequest
				rs := []mpi.Request{get(mpi.Irecv(c, make([]byte, 8), 1-c.Rank(), 1)), {}, g.start(w),
					get(mpi.Isend(c, make([]byte, 8), 1-c.Rank(), 1))}
				join := aside(func() { ok(mpi.GrequestComplete(rs[2])) })
				join()
				var sts []mpi.Status
				if !ignored {
					sts = make([]mpi.Status, len(rs))
				}
				ok(mpi.Waitall(rs, sts))
				if !ignored && (sts[0].Source != 1-c.Rank() || sts[2].Source != 3 || mpi.Count[int32](sts[0]) != 2) {
					t.Errorf("statuses %+v", sts)
				}
				g.counts(t, "Waitall", 1, 1, 0)
			})
		}
	})
}

func TestCancelCallsTheGeneralizedRequestsOwn(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		var g grequest
		r := g.start(w)
		ok(mpi.Cancel(&r))
		g.counts(t, "Cancel", 0, 0, 1)
		if n := g.completed.Load(); n != 0 {
			t.Error("cancel was told that the operation had completed")
		}
		if ended, _, err := mpi.Test(&r); ended || err != nil {
			t.Errorf("Test = %t, %v: only GrequestComplete ends the operation", ended, err)
		}
		ok(mpi.GrequestComplete(r))
		want(t, "a second GrequestComplete", mpi.GrequestComplete(r), mpi.ErrRequest)
		ok(mpi.Cancel(&r))
		if n := g.completed.Load(); n != 1 {
			t.Error("cancel was not told that the operation had completed")
		}
		for range 2 { // asks, and frees nothing
			if ended, st, err := mpi.RequestStatus(r); !ended || st.Tag != 4 || err != nil {
				t.Errorf("RequestStatus = %t, %+v, %v", ended, st, err)
			}
		}
		g.counts(t, "RequestStatus", 2, 0, 2)
		get(mpi.Wait(&r))
		g.counts(t, "Wait", 3, 1, 2)

		plain := get(mpi.Irecv(c, make([]byte, 1), 0, 1))
		want(t, "GrequestComplete of a receive", mpi.GrequestComplete(plain), mpi.ErrRequest)
		want(t, "GrequestComplete of a null request", mpi.GrequestComplete(mpi.Request{}), mpi.ErrRequest)
		ok(mpi.Send(c, []byte{1}, 0, 1))
		get(mpi.Wait(&plain))
	})
}

// Nobody waits: free is called all the same, once, and query only where there
// is somebody to tell.
func TestAGeneralizedRequestIsFreedThoughNobodyWaits(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			for _, early := range []bool{false, true} {
				told := newEnds(t)
				var g, h grequest
				freed := newSignal()
				r := get(mpi.GrequestStart(w, nil, func() error { g.frees.Add(1); freed.give(); return nil }, nil))
				d := h.start(w)
				copies := []mpi.Request{r, d}
				if early {
					ok(mpi.GrequestComplete(r))
					ok(mpi.GrequestComplete(d))
				}
				ok(mpi.RequestFree(&r))
				ok(mpi.OnComplete(&d, told.call))
				if !r.Null() || !d.Null() {
					t.Error("the handles are not null")
				}
				if !early {
					g.counts(t, "RequestFree of an active request", 0, 0, 0)
					h.counts(t, "OnComplete", 0, 0, 0)
					ok(mpi.GrequestComplete(copies[0]))
					ok(mpi.GrequestComplete(copies[1]))
				}
				freed.take()
				if got := told.next(); got.st.Source != 3 || mpi.Count[byte](got.st) != 20 || got.err != nil {
					t.Errorf("the callback: %+v", got)
				}
				ok(c.Barrier())
				g.counts(t, "RequestFree", 0, 1, 0)
				h.counts(t, "OnComplete", 1, 1, 0)
				told.none()
			}
		}, opts...)
	})
}

// Every operation ends with the World, generalized ones too, and is freed.
func TestFinalizeEndsGeneralizedRequests(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 1, func(w *mpi.World, c *mpi.Comm) {
			told := newEnds(t)
			var g, h grequest
			r, d := g.start(w), h.start(w)
			copied := d
			ok(mpi.OnComplete(&d, told.call))
			ok(w.Finalize())
			want(t, "the callback", told.next().err, mpi.ErrComm)
			_, err := mpi.Wait(&r)
			want(t, "Wait", err, mpi.ErrComm)
			g.counts(t, "Wait", 0, 1, 0)
			h.counts(t, "OnComplete", 0, 1, 0)
			want(t, "GrequestComplete", mpi.GrequestComplete(copied), mpi.ErrRequest)
			_, err = mpi.GrequestStart(w, nil, nil, nil)
			want(t, "GrequestStart", err, mpi.ErrComm)
		})
	})
}
