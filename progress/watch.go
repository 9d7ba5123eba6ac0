package progress

import (
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
)

// Watched is a condition on memory that others write to, peers by plain stores
// for instance, and that no packet announces. The side that makes it true rings
// after the store: a peer by Endpoint.Knock, this process by Domain.Wake. A loop
// with conditions arms for any ring and checks them in each pass, so also in the
// pass between arming the doorbell and sleeping. states.go says why no store is
// missed.
type Watched interface {
	// Ready reports whether the condition holds, or returns why it never will.
	// The owner calls it often. It must return at once.
	Ready() (bool, error)
	// Describe says what the wait is for, as that of a Sink. A rank whose call is needed
	// it finds by looking at the memory anew. Passive has nothing to say.
	Describe(r *Request, words bool) Info
}

// watching is the sink of the requests that wait for a condition.
type watching struct {
	Passive
	l       *Loop
	waiting List // in the order they began
	inward  int  // how many of those are inward

	glimpses uint64 // see Glimpse
}

func (s *watching) Start(r *Request) {
	r.Result = nothing
	s.waiting.Add(r)
	s.inward += int(r.Kind)
	if !s.ended(r) {
		s.l.Rouse() // the doorbell may be armed for urgent packets only
	}
}

// ended completes the request if its condition holds, and reports whether it does.
func (s *watching) ended(r *Request) bool {
	ok, err := r.watched.Ready()
	return (ok || err != nil) && s.Cancel(r, err)
}

// look completes the requests whose conditions hold, and returns how many.
func (s *watching) look() (ended int) {
	for r := s.waiting.head; r != nil; {
		next := r.Link
		if s.ended(r) {
			ended++
		}
		r = next
	}
	return ended
}

func (s *watching) Describe(r *Request, words bool) (i Info) {
	if r.watched != nil {
		i = r.watched.Describe(r, words)
		i.Name, i.Condition = "a condition", r.watched
	}
	return i
}

func (s *watching) Cancel(r *Request, err error) bool {
	s.waiting.Remove(r)
	s.inward -= int(r.Kind)
	r.watched = nil
	s.l.Finish(r, err)
	return true
}

// Watch starts a request that completes when the condition holds. Where that is so by
// what this rank does too, as its operations, communicators and peers end in any call, no
// bell rings, so the loop also checks it whenever an owner leaves. Local.
func (l *Loop) Watch(until expiry.Expiry, w Watched) Handle {
	r := l.watcher(l.NewShared(), inward, until, w)
	frames.Callers(&r.Place)
	h := r.Handle()
	l.Submit(&l.watching, r)
	return h
}

// Observe watches a condition for which nobody waits: its Ready is called again and
// again, at once the first time, until it reports true or an error. It is not checked
// when an owner leaves. For the owner.
func (l *Loop) Observe(w Watched) {
	l.Orphan(&l.watching, l.watcher(l.New(), 0, expiry.Expiry{}, w), func(*Request, error) {})
}

// WatchOn completes a request of another sink's when the condition holds, unless Unwatch is
// called before. For the owner.
func (l *Loop) WatchOn(r *Request, w Watched) {
	r.Kind, r.watched = inward, w
	l.watching.Start(r)
}

// Unwatch ends a WatchOn. For the owner.
func (l *Loop) Unwatch(r *Request) {
	l.watching.waiting.Remove(r)
	l.watching.inward -= inward
	r.watched = nil
}

// WaitFor is Watch and blocks until the condition holds or the expiry has passed. It
// polls and sleeps as any wait, but for some looks before it begins.
func (l *Loop) WaitFor(until expiry.Expiry, w Watched) error {
	owner := l.Enter()
	if owner && !l.over && !l.oversubscribed && !l.crowded && l.brisk() {
		if ok, err := l.Glimpse(w); ok || err != nil {
			l.Leave()
			return err
		}
	}
	r := l.watcher(l.Take(owner), inward, until, w)
	frames.Callers(&r.Place)
	if !owner {
		_, err := l.Do(&l.watching, r)
		return err
	}
	l.Begin(&l.watching, r)
	_, err := l.Await(r)
	return err
}

// Glimpse looks at a condition for about as long as a store takes from core to core:
// most waits for those that store at the same time need no request. One in some polls
// first, for a program that makes no other calls. For the owner, outside of a pass.
func (l *Loop) Glimpse(w Watched) (ok bool, err error) {
	if l.watching.glimpses++; l.watching.glimpses%pollEvery == 0 {
		l.pass(1)
	}
	for i := 0; i < glances && !ok && err == nil; i++ {
		ok, err = w.Ready()
	}
	return ok, err
}

// visits counts what tells that the application calls the engine.
func (l *Loop) visits() uint64 { return l.passes + l.watching.glimpses }

const (
	glances   = 100
	pollEvery = 16

	inward = 1 // the Kind of a request whose condition is checked when an owner leaves
)

func (l *Loop) watcher(r *Request, kind uint8, until expiry.Expiry, w Watched) *Request {
	r.Kind, r.Step, r.Peer, r.Buf, r.Until, r.watched = kind, 0, noPeer, nil, until, w
	return r
}
