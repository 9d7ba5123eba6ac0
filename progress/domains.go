package progress

import (
	"errors"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/procs"
)

// A loop may drive several fabrics, each peer over one of them. The process
// sleeps in one place, the first domain's Wait: a goroutine for each other
// domain waits there and passes its doorbell on.

// lingering makes the domain linger, or stops that, where it can. For a waiter
// that polls no other domain.
func (l *Loop) lingering(on bool) {
	if l.linger != nil {
		*l.linger = on
	}
}

// passBellOn sleeps as the progress thread does.
func (l *Loop) passBellOn(d fabric.Domain) {
	sleep, kernel := d.Wait, false
	for l.life.Load() != closed {
		if !kernel && l.attended.Load() {
			kernel = true
			procs.WakePromptly(threadNice, threadSlice)
			sleep = d.Sleep
		}
		err := sleep(0)
		if errors.Is(err, fabric.ErrUnsupported) {
			sleep = d.Wait
		} else if err != nil {
			return
		}
		l.dom.Wake()
	}
}

func (l *Loop) pollMore(max int) (n int) {
	for _, d := range l.doms[1:] {
		n += d.Poll(l, max)
	}
	return n
}

// armAll arms the doorbells of all domains, or none.
func (l *Loop) armAll(w fabric.Wake) error {
	for i, d := range l.doms {
		if err := d.Arm(w); err != nil {
			for _, armed := range l.doms[:i] {
				armed.Disarm()
			}
			return err
		}
	}
	return nil
}

func (l *Loop) disarmAll() {
	for _, d := range l.doms {
		d.Disarm()
	}
}

// Via is the fabric that a peer is reached over. It does not connect.
func (l *Loop) Via(p fabric.Peer) fabric.Domain { return l.doms[l.conns[p].via] }

// closedDomain replaces the domain of a loop that is being closed. A goroutine
// still inside the loop, or entering it, finds nothing to do and does not touch
// what the domain's own Close releases. A waiter may sleep there: its requests
// complete soon.
type closedDomain struct {
	fabric.Domain
	last fabric.Stats // of the domain, when it was taken away
}

// Stats are the last ones of the domain, so that the counts of a rank stay.
func (c *closedDomain) Stats(s *fabric.Stats) { *s = c.last }

func (*closedDomain) Register([]byte, fabric.Access) (fabric.Region, error) {
	return fabric.Region{}, fabric.ErrClosed
}

func (*closedDomain) Deregister(fabric.Region) error { return fabric.ErrClosed }
func (*closedDomain) Poll(fabric.Handler, int) int   { return 0 }
func (*closedDomain) Arm(fabric.Wake) error          { return nil }
func (*closedDomain) Disarm()                        {}
func (*closedDomain) Wake()                          {}

// seal takes the domains away, after which no request starts any more, and
// returns them. Under ownership.
func (l *Loop) seal() []fabric.Domain {
	doms := slices.Clone(l.doms)
	for i, d := range doms {
		c := &closedDomain{Domain: d}
		d.Stats(&c.last)
		l.doms[i] = c
	}
	l.over, l.bell, l.dom = true, bellOff, l.doms[0]
	l.EachKept(func(r *Request) {
		if r.Persistent() {
			r.Retire(fabric.ErrClosed)
		}
	})
	for w := &l.watching; !w.waiting.Empty(); {
		w.Cancel(w.waiting.First(), fabric.ErrClosed) // its condition may lie in the domains' memory
	}
	for _, s := range l.watches {
		s.End()
	}
	for i := range l.conns {
		c := &l.conns[i]
		c.drop()
		if c.down == nil {
			c.down = fabric.ErrClosed
		}
	}
	return doms
}

// Close stops the progress thread, closes the domains, and then fails every
// request, present or later, with ErrClosed. When a request completes, or its
// callback runs, no peer and no device touches its buffer any more. When Close
// returns all callbacks have run, except for requests whose functions run
// (Aside): those complete when the functions return. It blocks while a domain
// waits for peers in the middle of a copy. Later calls return nil.
func (l *Loop) Close() (err error) {
	switch l.life.Swap(closed) {
	case closed:
		return nil
	case made:
		close(l.stopped) // there is no thread
	}
	for _, d := range l.doms {
		d.Wake()
	}
	<-l.stopped
	l.bells.Wait()
	var doms []fabric.Domain
	l.Exclusive(func() { doms = l.seal() })
	for _, d := range doms {
		err = errors.Join(err, d.Close())
	}
	l.Exclusive(l.refuseAll)
	l.endCalls()
	coarseclock.Drop()
	return err
}
