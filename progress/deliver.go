package progress

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// Deliver, Complete and PeerDown make the loop a fabric.Handler.

func (l *Loop) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	if l.conns[from].down != nil {
		return // ended by a sink, the fabric does not know
	}
	if s := l.sinks[kind]; s != nil {
		s.Deliver(from, kind, imm, hdr, body)
		return
	}
	l.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
		Err: fmt.Errorf("%w: it sent a packet of the unknown kind %d", fabric.ErrPeerDown, kind)})
}

func (l *Loop) Complete(op fabric.Op, err error) {
	if op&opNamed != 0 {
		l.ops[op>>opBits&(maxOps-1)](uint64(op&(1<<opBits-1)), err)
		return
	}
	if r := l.requests.lookup(uint64(op)); r != nil {
		r.sink.Complete(r, err)
	}
}

func (l *Loop) PeerDown(p fabric.Peer, err error) {
	c := &l.conns[p]
	if c.down != nil && !c.ending {
		return
	}
	if !c.ending {
		if c.leaving && !errors.Is(err, fabric.ErrPeerLeft) {
			err = fmt.Errorf("%w, as it had said it might (%w)", fabric.ErrPeerLeft, err)
		}
		c.down = err
		if c.lost != nil && (errors.Is(err, fabric.ErrPeerLeft) || errors.Is(err, fabric.ErrUnreachable)) {
			c.down = c.lost
		}
	}
	c.ending = false
	c.drop()
	l.tellDown(c)
}

// EndPeer ends a peer for a reason that the fabric does not know. Nothing more
// of it is delivered. The sinks are told when their buffers are out of its
// reach, since some memory stays registered when a request completes. For the
// owner.
func (l *Loop) EndPeer(p fabric.Peer, err error) {
	c := &l.conns[p]
	if c.down != nil {
		return
	}
	c.down = err
	c.drop()
	if l.Via(p).End(p, err) {
		c.ending = true
		l.Rouse()
		return
	}
	l.tellDown(c)
}

// Leaving says that a peer may exit from now on without closing its domain, or that it
// may not any more: its end then counts as that of a peer which has closed it. News of
// Lost counts more. For the owner.
func (l *Loop) Leaving(p fabric.Peer, may bool) { l.conns[p].leaving = may }

func (l *Loop) tellDown(c *Conn) {
	if errors.Is(c.down, fabric.ErrPeerLeft) {
		l.counts.down[1]++
	} else {
		l.counts.down[0]++
	}
	for _, s := range l.all {
		s.PeerDown(c.Peer, c.down)
	}
}

// Lost reports a peer's death that its fabric has not reported: the launcher or
// another rank did. A peer that is connected, or is being connected to, is left to
// its fabric, which knows what the peer had sent before. For the owner.
func (l *Loop) Lost(p fabric.Peer, err error) {
	c := &l.conns[p]
	switch {
	case c.down == nil && c.ep == nil, errors.Is(c.down, fabric.ErrPeerLeft):
		c.down = err
		l.tellDown(c)
	case c.lost == nil:
		c.lost = err
		if c.down == nil {
			l.Via(p).Lost(p, err)
		}
	}
}

// Fail ends a peer for a reason that the fabric does not know, after what it
// had sent. For anyone.
func (l *Loop) Fail(p fabric.Peer, err error) {
	l.Exclusive(func() {
		l.lastLook(fabric.WakeAll) // at connections, too, that a domain asks now and then only
		l.dry()
		l.disarm()
		l.EndPeer(p, err)
	})
}
