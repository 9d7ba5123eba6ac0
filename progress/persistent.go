package progress

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
)

// ErrActive is returned by a Start of a persistent request that is not at rest.
var ErrActive = errors.New("the persistent request is active: wait for it first")

// ErrNotPersistent is returned by a Start of a request that is not persistent.
var ErrNotPersistent = errors.New("the request is not persistent, or freed")

// Persist returns the handle of a persistent request, at rest. For anyone.
func (l *Loop) Persist(s Saved) (h Handle) {
	l.Exclusive(func() { h = l.PersistOwned(s).Handle() })
	return h
}

// PersistOwned is Persist for the owner.
func (l *Loop) PersistOwned(s Saved) *Request {
	r := l.New()
	saved := s
	r.sink, r.saved, r.special, r.resting, r.timed = s.Sink, &saved, true, true, false
	if s.Object != nil {
		r.object.Store(&object{r.gen, s.Object})
	}
	r.Buf, r.Imm, r.Peer, r.Kind, r.Mode, r.Until, r.Place = s.Buf, s.Imm, s.Peer, s.Kind, s.Mode, s.Until, s.Place
	if s.Layout != nil {
		r.SetLayout(s.Layout, s.Size)
	}
	return r
}

// Object is Saved.Object of the persistent request that h refers to, or nil if it
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
		return ErrNotPersistent
	}
	l := h.r.loop
	if !l.Enter() {
		return restartQueued(l, h)
	}
	err := l.restart(h)
	l.Leave()
	return err
}

// RestartAll is Restart for each of hs, in order. It owns the loop for a burst of
// them at a time. It stops at the first that can't be started.
func RestartAll(hs []Handle) error {
	for len(hs) > 0 {
		n, err := restartBurst(hs)
		if err != nil {
			return err
		}
		hs = hs[n:]
	}
	return nil
}

// restartBurst starts the first of hs that are of one loop, and returns how many
// of them it has tried to start.
func restartBurst(hs []Handle) (n int, err error) {
	if hs[0].r == nil {
		return 0, ErrNotPersistent
	}
	l := hs[0].r.loop
	if !l.Enter() {
		return 1, hs[0].blame(restartQueued(l, hs[0]))
	}
	for ; n < min(len(hs), burst) && err == nil && hs[n].r != nil && hs[n].r.loop == l; n++ {
		err = l.restart(hs[n])
	}
	l.Leave()
	if err != nil {
		err = hs[n-1].blame(err)
	}
	return n, err
}

func restartQueued(l *Loop, h Handle) (err error) {
	l.Exclusive(func() { err = l.restart(h) })
	return err
}

func (l *Loop) restart(h Handle) error {
	r := h.r
	switch {
	case r.gen != h.gen || r.saved == nil:
		return ErrNotPersistent
	case !r.resting:
		return ErrActive
	case l.over:
		return fabric.ErrClosed
	}
	s := r.saved
	s.starts++
	if r.timed = timedTurn(r); r.timed {
		r.time()
	}
	r.Imm, r.Peer, r.Mode, r.Moved, r.resting, r.Began = s.Imm, s.Peer, s.Mode, 0, false, clock.now()
	s.Sink.Start(r)
	return nil
}

// Look returns true if the handle is idle, that is null or of a persistent
// request at rest. It also reports whether the handle is stale: not to be
// completed by the caller.
func Look(h Handle) (idle, stale bool) {
	if h.r == nil {
		return true, false
	}
	h.r.loop.Exclusive(func() {
		idle = h.idle()
		stale = !idle && !h.valid()
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
// calls Free (§13.2). It refuses a request that is Info.Firm and has not completed with
// ErrFirm, and leaves *h.
func Release(h *Handle) (g *General, err error) {
	if h.r == nil {
		return nil, ErrStale
	}
	l := h.r.loop
	l.Exclusive(func() {
		r := h.r
		switch {
		case !h.valid():
			err = ErrStale
		case r.gen == instant:
			l.instants.close(h.gen)
		case r.resting, r.done:
			g, _ = r.err.(*General)
			l.requests.free(r)
		case r.general == nil && r.Describe(false).Firm:
			err = ErrFirm
			return
		default:
			r.released = r.special
			l.detach(r, nil)
		}
		*h = Handle{}
	})
	return g, err
}
