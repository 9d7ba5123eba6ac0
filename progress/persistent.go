package progress

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
)

// ErrActive is returned by a Start of a persistent request that is not at rest.
var ErrActive = errors.New("the persistent request is active already: complete it before it is started again")

// ErrNotPersistent is returned by a Start of a request that is not persistent.
var ErrNotPersistent = errors.New("the request is not persistent: make one with SendInit, say, to start it")

// saved is what each start gives back to a persistent request.
type saved struct {
	imm    uint64
	peer   int32
	mode   uint8
	starts uint32
	over   error  // see Retire
	freed  func() // or nil
}

// Retire has the starts of a persistent request fail with err from now on: what it is for
// has ended. For the owner.
func (r *Request) Retire(err error) { r.saved.over = err }

// Persist makes a request that has been taken and filled in a persistent one, at rest.
// For anyone.
func (l *Loop) Persist(s Sink, r *Request) Handle {
	l.Exclusive(func() { r.Persist(s, nil, nil) })
	return r.Handle()
}

// Persist is Loop.Persist for the owner. object is the sink's. freed, unless nil, is
// called when the request is freed, by the owner.
func (r *Request) Persist(s Sink, of any, freed func()) {
	r.sink, r.special, r.resting, r.timed = s, true, true, false
	r.saved = &saved{imm: r.Imm, peer: r.Peer, mode: r.Mode, freed: freed}
	if r.loop.over {
		r.Retire(fabric.ErrClosed)
	}
	r.object.Store(&object{r.gen, of})
}

// object is the sink's object of a persistent request, for goroutines that do not own
// the loop too.
type object struct {
	gen uint32
	of  any
}

// Object is the sink's object of a persistent request. For its sink.
func (r *Request) Object() any { return r.object.Load().of }

// Object is the sink's object of the persistent request that h refers to, or nil if it
// has none or has been freed. For anyone.
func (h Handle) Object() any {
	if h.r == nil {
		return nil
	}
	if o := h.r.object.Load(); o != nil && o.gen == h.gen {
		return o.of
	}
	return nil
}

// Restart starts a persistent request. It is local.
func Restart(h Handle) error {
	if h.r == nil {
		return errNull
	}
	l := h.r.loop
	if !l.Enter() {
		return restartQueued(l, h)
	}
	l.mayHold = true
	err := l.restart(h)
	if l.mayHold = false; l.holding != nil {
		l.leaveHolding()
	} else {
		l.Leave()
	}
	return err
}

// RestartAll is Restart for each of hs, in order. It owns the loop for a burst of
// them at a time. It stops at the first that can't be started, with an IndexError.
func RestartAll(hs []Handle) error {
	for tried := 0; tried < len(hs); {
		n, err := restartBurst(hs[tried:])
		if tried += n; err != nil {
			return &IndexError{tried - 1, err}
		}
	}
	return nil
}

// restartBurst starts the first of hs that are of one loop, and returns how many
// of them it has tried to start.
func restartBurst(hs []Handle) (n int, err error) {
	if hs[0].r == nil {
		return 1, errNull
	}
	l := hs[0].r.loop
	if !l.Enter() {
		return 1, hs[0].blame(restartQueued(l, hs[0]))
	}
	for ; n < min(len(hs), burst) && err == nil && hs[n].r != nil && hs[n].r.loop == l; n++ {
		err = l.restart(hs[n])
	}
	l.Leave()
	return n, hs[n-1].blame(err)
}

func restartQueued(l *Loop, h Handle) (err error) {
	l.Exclusive(func() { err = l.restart(h) })
	return err
}

func (l *Loop) restart(h Handle) error {
	r := h.r
	switch {
	case r.gen != h.gen || r.saved == nil:
		if r.gen != h.gen && r.gen != instant {
			return errSpent
		}
		return ErrNotPersistent
	case !r.resting:
		return ErrActive
	case r.saved.over != nil:
		return r.saved.over
	}
	s := r.saved
	s.starts++
	if r.timed = timedTurn(r); r.timed {
		r.time()
	}
	r.Imm, r.Peer, r.Mode, r.Moved, r.resting, r.Began = s.imm, s.peer, s.mode, 0, false, coarseclock.Now()
	r.sink.Start(r)
	return nil
}

// Look returns true if the handle is idle, that is null or of a persistent
// request at rest. It also returns why the handle is stale, not to be
// completed by the caller, or nil.
func Look(h Handle) (idle bool, stale error) {
	if h.r == nil {
		return true, nil
	}
	h.r.loop.Exclusive(func() {
		if idle = h.idle(); !idle && !h.valid() {
			stale = h.stale(nil)
		}
	})
	return idle, stale
}

// rest brings a completed persistent request back to rest. Only its handle
// refers to it any more.
func (r *Request) rest() { r.done, r.resting, r.err = false, true, nil }

// Release gives the request up and sets *h to null. A request at rest, or a
// completed one, is freed; an active one is freed on completion
// (MPI_Request_free, MPI-4.0 §3.7.3, §3.9). Local. It returns a generalized
// request whose operation has completed: the caller, who does not own the loop,
// calls Free (§13.2). It refuses a request that is Info.Firm and has not completed, or is
// persistent and active, with ErrFirm, and leaves *h.
func Release(h *Handle) (g *General, err error) {
	if h.r == nil {
		return nil, errNull
	}
	l := h.r.loop
	l.Exclusive(func() {
		r := h.r
		switch {
		case !h.valid():
			err = h.stale(nil)
		case r.gen == instant:
			l.instants.close(h.gen)
		case !r.resting && (!r.done || r.saved != nil) && r.general == nil && r.Describe(false).Firm:
			err = ErrFirm
			return
		case r.resting, r.done:
			g, _ = r.err.(*General)
			l.requests.free(r)
		default:
			r.released = r.special
			l.detach(r, nil)
		}
		*h = Handle{}
	})
	return g, err
}
