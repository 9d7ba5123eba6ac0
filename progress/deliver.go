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
	left := errors.Is(err, fabric.ErrPeerLeft)
	switch {
	case c.ending: // EndPeer has said why
	case c.down != nil:
		return
	case c.lost != nil && (left || c.leaving || errors.Is(err, fabric.ErrUnreachable)):
		c.down = c.lost
	case c.leaving && !left:
		c.down = fmt.Errorf("%w, as it had said it might (%w)", fabric.ErrPeerLeft, err)
	default:
		c.down = err
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
	if c.ending = l.Via(p).End(p, err); c.ending {
		l.Rouse()
	} else {
		l.tellDown(c)
	}
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

// A fabric names operations by their Op. It is a request's (Request.Op), or a sink's
// own:
//
//	bit  63     a sink's own
//	     58-62  which Ops
//	     0-57   its tag
const (
	opNamed = 1 << 63
	opBits  = 58
	maxOps  = 1 << 5

	// MaxTag is the largest tag of an operation.
	MaxTag = 1<<opBits - 1
)

// Ops names fabric operations that belong to no request.
type Ops struct{ base fabric.Op }

// NameOps makes names for operations; done is called with each completion, as
// the owner. It is called before Go. The 33rd call fails.
func (l *Loop) NameOps(done func(tag uint64, err error)) (Ops, error) {
	if len(l.ops) == maxOps {
		return Ops{}, fmt.Errorf("there are names of operations for %d protocols already", maxOps)
	}
	l.ops = append(l.ops, done)
	return Ops{opNamed | fabric.Op(len(l.ops)-1)<<opBits}, nil
}

// Op is the name of the operation with a tag of at most MaxTag.
func (o Ops) Op(tag uint64) fabric.Op { return o.base | fabric.Op(tag&MaxTag) }
