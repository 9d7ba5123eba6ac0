package progress

import (
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// roomy takes every message.
type roomy struct {
	fabric.Endpoint
	sent int
}

func (r *roomy) Send(uint8, uint64, []byte, []byte) error {
	r.sent++
	return nil
}

// A peer with room for all of a backlog is listened to in between: it may say
// that it takes no more.
func TestABacklogIsSentInBursts(t *testing.T) {
	const many = 3*burst + 1
	ep := &roomy{}
	l := &Loop{conns: make([]Conn, 1)}
	c := &l.conns[0]
	c.loop, c.ep = l, ep
	for range many {
		p := l.packet()
		p.kind = 1
		c.enqueue(p)
	}
	for sent := 0; sent < many; {
		moved := l.flush()
		if moved == 0 || moved > burst {
			t.Fatalf("%d messages went at once, want 1 to %d", moved, burst)
		}
		sent += moved
		if ep.sent != sent {
			t.Fatalf("%d messages were sent, %d counted", ep.sent, sent)
		}
	}
	if c.Busy() || len(l.backlogged) > 0 {
		t.Error("the backlog is not empty")
	}
}

// forwarding has another message for another peer behind each that it takes.
type forwarding struct {
	fabric.Endpoint
	to *Conn
}

func (f *forwarding) Send(uint8, uint64, []byte, []byte) error {
	f.to.enqueue(&packet{kind: 1})
	return nil
}

// A peer whose backlog was sent and begins anew in the same pass is listed once.
func TestABacklogThatBeginsAnewIsListedOnce(t *testing.T) {
	l := &Loop{conns: make([]Conn, 2)}
	first, second := &l.conns[0], &l.conns[1]
	*first, *second = Conn{loop: l, ep: &roomy{}}, Conn{loop: l, ep: &forwarding{to: first}}
	for range 3 {
		first.enqueue(&packet{kind: 1})
		second.enqueue(&packet{kind: 1})
		l.flush()
		if len(l.backlogged) > 1 {
			t.Fatalf("%d backlogs are listed of one peer at most", len(l.backlogged))
		}
	}
}

// mourning is a domain that takes the news of deaths.
type mourning struct {
	fabric.Domain
	lost []fabric.Peer
}

func (d *mourning) Lost(p fabric.Peer, _ error) { d.lost = append(d.lost, p) }

// The news of a death goes once to the fabric of a peer that this rank connects with.
// A peer that it has no way to is down at once.
func TestTheFabricHearsOfADeath(t *testing.T) {
	d := &mourning{}
	l := &Loop{conns: make([]Conn, 3), peers: peers{doms: []fabric.Domain{d}}}
	for i := range l.conns {
		l.conns[i] = Conn{loop: l, Peer: fabric.Peer(i)}
	}
	l.conns[1].ep, l.conns[2].ep = &roomy{}, &roomy{}
	l.conns[2].down = fabric.ErrPeerDown
	for range 2 {
		for p := range fabric.Peer(3) {
			l.Lost(p, fabric.ErrPeerDown)
		}
	}
	if len(d.lost) != 1 || d.lost[0] != 1 {
		t.Errorf("the fabric hears of %v, want rank 1 once", d.lost)
	}
	if l.conns[0].down == nil || l.conns[1].down != nil {
		t.Errorf("down: %v, %v", l.conns[0].down, l.conns[1].down)
	}
}

// A peer that has said that it may exit leaves in order, unless others know better.
func TestAPeerThatSaidItMayExitLeavesInOrder(t *testing.T) {
	crash := errors.New("the connection was reset")
	for _, c := range []struct {
		name  string
		says  []bool
		lost  error
		order bool
	}{
		{"it said nothing", nil, nil, false},
		{"it may", []bool{true}, nil, true},
		{"it may not any more", []bool{true, false}, nil, false},
		{"it may again", []bool{true, false, true}, nil, true},
		{"the launcher has seen it die", []bool{true}, fabric.ErrPeerDown, false},
	} {
		l := &Loop{conns: make([]Conn, 1), peers: peers{doms: []fabric.Domain{&mourning{}}}}
		l.conns[0] = Conn{loop: l, ep: &roomy{}}
		for _, may := range c.says {
			l.Leaving(0, may)
		}
		if c.lost != nil {
			l.Lost(0, c.lost)
		}
		l.PeerDown(0, crash)
		down := l.conns[0].down
		if errors.Is(down, fabric.ErrPeerLeft) != c.order || c.lost == nil && !errors.Is(down, crash) {
			t.Errorf("%s: %v", c.name, down)
		}
	}
}

// seldom is a domain that finds what has come only once it is armed.
type seldom struct {
	fabric.Domain
	armed     bool
	left, end int // what has not been found, now and when the peer was ended
}

func (d *seldom) Arm(w fabric.Wake) error {
	d.armed = true
	return d.Domain.Arm(w)
}

func (d *seldom) Poll(fabric.Handler, int) int {
	if !d.armed || d.left == 0 {
		return 0
	}
	d.left--
	return 1
}

func (d *seldom) End(fabric.Peer, error) bool {
	d.end = d.left
	return false
}

// A peer that fails is ended behind what it had sent, also where the domain does not
// look for that each time.
func TestAFailureComesBehindWhatWasSent(t *testing.T) {
	var d *seldom
	l := lone(t, func(of fabric.Domain, _ *toy) fabric.Domain {
		d = &seldom{Domain: of, left: 3, end: -1}
		return d
	})
	l.Fail(0, fabric.ErrPeerDown)
	if d.end != 0 || l.bell != bellOff {
		t.Errorf("ended before %d that had come; the bell is armed for %d", d.end, l.bell)
	}
}
