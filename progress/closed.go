package progress

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// closedDomain replaces the domain of a loop that is being closed. A goroutine
// still inside the loop, or entering it, finds nothing to do and does not touch
// what the domain's own Close releases. A waiter may sleep there: its requests
// complete soon.
type closedDomain struct {
	fabric.Domain
	last fabric.Stats // of the domain, when it was taken away
}

func newClosedDomain(d fabric.Domain) *closedDomain {
	c := &closedDomain{Domain: d}
	d.Stats(&c.last)
	return c
}

// Stats are the last ones of the domain, so that the counts of a rank stay.
func (c *closedDomain) Stats(s *fabric.Stats) { *s = c.last }

func (*closedDomain) Connect(fabric.Peer, []byte) (fabric.Endpoint, error) {
	return nil, fabric.ErrClosed
}

func (*closedDomain) Register([]byte, fabric.Access) (fabric.Region, error) {
	return fabric.Region{}, fabric.ErrClosed
}

func (*closedDomain) Deregister(fabric.Region) error { return fabric.ErrClosed }
func (*closedDomain) Poll(fabric.Handler, int) int   { return 0 }
func (*closedDomain) Arm(fabric.Wake) error          { return nil }
func (*closedDomain) Disarm()                        {}
func (*closedDomain) Wait(time.Duration) error       { return fabric.ErrClosed }
func (*closedDomain) Sleep(time.Duration) error      { return fabric.ErrClosed }
func (*closedDomain) Wake()                          {}
func (*closedDomain) Close() error                   { return nil }

// seal takes the domains away, after which no request starts any more, and
// returns them. Under ownership.
func (l *Loop) seal() []fabric.Domain {
	doms := append([]fabric.Domain{l.dom}, l.more...)
	ends, all := map[fabric.Domain]fabric.Domain{}, []fabric.Domain{}
	for _, d := range doms {
		ends[d] = newClosedDomain(d)
		all = append(all, ends[d])
	}
	l.over, l.bell, l.dom, l.more = true, bellOff, all[0], all[1:]
	l.watching.seal()
	for _, s := range l.watches {
		s.Stop()
	}
	for i := range l.conns {
		c := &l.conns[i]
		c.drop()
		c.dom = ends[c.dom]
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
	for {
		l.first.Wake()
		select {
		case <-l.stopped:
		case <-time.After(10 * time.Millisecond):
			continue
		}
		break
	}
	l.stopBells()
	var doms []fabric.Domain
	l.Exclusive(func() { doms = l.seal() })
	for _, d := range doms {
		err = errors.Join(err, d.Close())
	}
	l.Exclusive(l.refuseAll)
	l.endCalls()
	clock.drop()
	return err
}
