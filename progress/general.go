package progress

import (
	"errors"
	"math"

	"github.com/weft-mpi/weft/fabric"
)

// ErrCancelled is the error of a request that Cancel has withdrawn.
var ErrCancelled = errors.New("the operation was cancelled")

// General is a generalized request (MPI-4.0 §13.2): an operation of the user's
// that is waited for like a communication. As the error of a completed request
// it means that Query returns the status. The caller that completes the request
// calls Query, and Free once it frees the request, without owning the loop.
type General struct {
	Query  func() (Status, error)
	Free   func() error
	Cancel func(completed bool) error
	Owner  any // the program's, as it likes
}

func (*General) Error() string {
	return "the status of a generalized request is the user's to tell"
}

// refused is the error of a request whose loop is closed: Free is still to be
// called.
func (g *General) refused() *General {
	return &General{Query: func() (Status, error) { return Empty, fabric.ErrClosed }, Free: g.Free, Owner: g.Owner}
}

// callFree calls Free of a request that was released and whose loop is closed.
func (l *Loop) callFree(g *General) {
	l.call(&detached{fn: func(Status, error) {
		if err := Try(func() { g.Free() }); err != nil { // no caller is left to return the error of Free to
			l.log.Error("a generalized request's function for freeing", "err", err)
		}
	}})
}

// Several is the error of a call that completed several requests without
// statuses, generalized ones among them. The caller calls Query and Free of
// each.
type Several struct {
	Generals []*General
	First    error // of the other requests
}

func (*Several) Error() string {
	return "the status of generalized requests is the user's to tell"
}

// noPeer is the peer of requests that wait for no rank: none of the special
// ranks of MPI, which are small.
const noPeer = math.MinInt32

// Generalize starts a generalized request. It is local.
func (l *Loop) Generalize(g *General) Handle {
	r := l.NewShared()
	r.Kind, r.Peer, r.Result, r.general, r.special = 0, noPeer, nothing, g, true
	h := r.Handle()
	l.Submit(Passive{}, r) // it sends and receives nothing
	return h
}

// EndGeneral completes a generalized request. Local. It returns ErrStale if the
// request has completed or is of another kind. If the request was released
// before, EndGeneral returns it, and the caller, who does not own the loop,
// calls Free.
func EndGeneral(h Handle) (free *General, err error) {
	if h.r == nil {
		return nil, errNull
	}
	l := h.r.loop
	l.Exclusive(func() {
		r := h.r
		switch _, general := r.err.(*General); {
		case r.gen == instant, r.gen == h.gen && r.general == nil && !general:
			err = errOther
		case r.gen != h.gen:
			err = errSpent
		case r.done:
			err = errEnded
		}
		if err != nil {
			return
		}
		g := r.general
		if r.general = nil; r.released {
			free = g
		}
		l.Finish(r, g)
	})
	return free, err
}

// Cancel asks for the request to be withdrawn. Local: the request must still be
// completed, and fails with ErrCancelled if nothing of it has happened (MPI-4.0
// §3.8.4). For a generalized request Cancel returns its General, whose Cancel
// the caller calls, and whether it has completed. It refuses a request that is Info.Firm
// and has not completed, or is persistent and active, with ErrFirm.
func Cancel(h Handle) (g *General, ended bool, err error) {
	if h.r == nil {
		return nil, false, errNull
	}
	l := h.r.loop
	l.Exclusive(func() {
		r := h.r
		switch {
		case r.gen == instant:
			ended = true
		case r.gen != h.gen || r.resting:
			err = h.stale(nil)
		case r.general != nil:
			g = r.general
		case (!r.done || r.saved != nil) && r.Describe(false).Firm:
			err = ErrFirm
		case r.done:
			g, _ = r.err.(*General)
			ended = true
		default:
			r.sink.Cancel(r, ErrCancelled)
		}
	})
	return g, ended, err
}
