package progress

import "github.com/weft-mpi/weft/fabric"

// Watched is a condition on memory that others write to, peers by plain stores
// say, and that no packet announces. Whoever makes it true rings behind the store
// (a peer by Endpoint.Knock, this process by Domain.Wake); a loop with conditions
// is armed for any ring. It looks at them in each pass, and so once more between
// arming the doorbell and sleeping: either that look sees the store, or whoever
// stored sees the armed word and rings.
type Watched interface {
	// Ready reports whether the condition holds, or why it never will. It is called
	// by the owner, often, and returns at once.
	Ready() (bool, error)
}

// Needing is a Watched that knows which rank's call it waits for, for reports.
type Needing interface {
	Watched
	// Needs returns a rank whose call the condition needs, and the context of the
	// collective call that it is about. It looks anew, and answers false if there
	// is none. It is called by the owner.
	Needs() (p fabric.Peer, context uint32, ok bool)
}

// Needs is that of the condition that a request of Watch or WaitFor waits for.
// For the owner.
func (l *Loop) Needs(r *Request) (p fabric.Peer, context uint32, ok bool) {
	if n, is := r.watched.(Needing); is && r.Of(&l.watching) && !r.done {
		return n.Needs()
	}
	return 0, 0, false
}

// watching is the sink of the requests that wait for a condition, in the order
// they began.
type watching struct {
	l           *Loop
	first, last *Request
}

func (s *watching) Start(r *Request) {
	r.Result = nothing
	if ok, err := r.watched.Ready(); ok || err != nil {
		s.end(r, err)
		return
	}
	if r.Back = s.last; s.last == nil {
		s.first = r
	} else {
		s.last.Link = r
	}
	r.Link, s.last = nil, r
	s.l.Rouse() // the doorbell may be armed for the urgent only
}

func (s *watching) end(r *Request, err error) {
	r.watched = nil
	s.l.Finish(r, err)
}

func (s *watching) remove(r *Request) {
	if r.Back == nil {
		s.first = r.Link
	} else {
		r.Back.Link = r.Link
	}
	if r.Link == nil {
		s.last = r.Back
	} else {
		r.Link.Back = r.Back
	}
	r.Link, r.Back = nil, nil
}

// look ends the requests whose conditions hold, and returns how many.
func (s *watching) look() (ended int) {
	for r := s.first; r != nil; {
		next := r.Link
		if ok, err := r.watched.Ready(); ok || err != nil {
			s.remove(r)
			s.end(r, err)
			ended++
		}
		r = next
	}
	return ended
}

// seal ends the requests: a condition may lie in memory that goes with the domains.
func (s *watching) seal() {
	for s.first != nil {
		r := s.first
		s.remove(r)
		s.end(r, fabric.ErrClosed)
	}
}

func (s *watching) Cancel(r *Request, err error) bool {
	s.remove(r)
	s.end(r, err)
	return true
}

func (*watching) Resume(*Request) error                              { return nil }
func (*watching) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (*watching) Complete(*Request, error)                           {}
func (*watching) PeerDown(fabric.Peer, error)                        {}

// Watch starts a request that ends when the condition holds. It is local.
func (l *Loop) Watch(until Expiry, w Watched) Handle {
	r := l.watcher(l.NewShared(), until, w)
	h := r.Handle()
	l.Submit(&l.watching, r)
	return h
}

// WaitFor blocks until the condition holds, polling and then sleeping as any wait
// does, or until the expiry.
func (l *Loop) WaitFor(until Expiry, w Watched) error {
	if !l.Enter() {
		_, err := l.Do(&l.watching, l.watcher(l.NewShared(), until, w))
		return err
	}
	r := l.watcher(l.New(), until, w)
	l.Begin(&l.watching, r)
	_, err := l.Await(r)
	return err
}

func (l *Loop) watcher(r *Request, until Expiry, w Watched) *Request {
	r.Kind, r.Step, r.Peer, r.Buf, r.Until, r.watched = 0, 0, noPeer, nil, until, w
	return r
}
