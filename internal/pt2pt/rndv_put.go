package pt2pt

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// grant names the receive's buffer to the sender of an announced message, which
// writes the first n bytes there. If the buffer can't be registered they come in
// fragments.
func (e *Engine) grant(r *progress.Request, n uint64) {
	e.register(r, r.Buf[:n], fabric.RemoteWrite)
	if r.Region.Len < n {
		e.askFrags(r, n)
		return
	}
	r.Step, r.Moved = stepGranted, 0
	if e.tracer != nil {
		e.tracer.moves(r, pathPut)
	}
	e.loop.Conn(fabric.Peer(r.Peer)).Post(wire.Grant, r.Other,
		wire.MakeGrant(e.hdr[:], r.Region.Addr, n, r.Region.Key, uint64(r.Op()), wire.Outcome(r.Outcome) == wire.Late))
}

func (e *Engine) onGrant(from fabric.Peer, op uint64, h wire.GrantHeader) bool {
	r := e.wanted(from, op, h.Request(), h.Limit(), h.Late())
	if r == nil || h.Limit() == 0 || r.Layout() != nil { // which was announced as unreadable
		return false
	}
	r.Step, r.Path, r.Remote = stepPut, pathPut, fabric.Remote{Addr: h.Addr(), Len: r.Limit, Key: h.Key()}
	if e.tracer != nil {
		e.tracer.moves(r, pathPut)
	}
	c := e.loop.Conn(from)
	if c.Busy() || e.put(c.Endpoint(), r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
	return true
}

// put starts the Put of a send. Until the receiver is told that the message has
// been written, it also accepts fragments.
func (e *Engine) put(ep fabric.Endpoint, r *progress.Request) error {
	err := ep.Put(fabric.Segment{Bytes: r.Buf[:r.Limit], Region: r.Region}, r.Remote, r.Op())
	switch {
	case err == nil:
		r.Step = stepPutting
		e.loop.Rouse() // a Poll reports its completion
	case err == fabric.ErrAgain:
	case errors.Is(err, fabric.ErrUnsupported):
		r.Step, r.Path, r.Moved = stepFrags, pathFrags, 0
		return e.sendFrags(ep, r)
	default:
		e.onPut(r, err)
	}
	return err
}

// onPut takes the completion of a send's Put. A message of its own tells the
// receiver, sent when the bytes are there.
func (e *Engine) onPut(r *progress.Request, err error) {
	peer, outcome := fabric.Peer(r.Peer), wire.Received
	if errors.Is(err, fabric.ErrUnsupported) {
		c := e.loop.Conn(peer)
		if err = c.Down(); err == nil { // as in put
			r.Step, r.Path, r.Moved = stepFrags, pathFrags, 0
			if c.Busy() || e.sendFrags(c.Endpoint(), r) == fabric.ErrAgain {
				c.Enqueue(r)
			}
			return
		}
	}
	if err != nil {
		outcome = wire.Lost
	} else {
		err = received(peer, wire.Outcome(r.Outcome))
	}
	e.loop.Conn(peer).Post(wire.Written, r.Other, wire.MakeFIN(e.hdr[:], outcome))
	e.finishSend(r, err)
}

// onWritten completes a receive whose sender has written the message, or could
// not.
func (e *Engine) onWritten(from fabric.Peer, op uint64, o wire.Outcome) bool {
	r := e.loop.Named(e, op)
	if r == nil || r.Kind != kindRecv || r.Step != stepGranted || r.Peer != int32(from) || o > wire.Lost {
		return false
	}
	e.release(r)
	if o == wire.Lost {
		e.failRecv(r, &fabric.Error{Op: "receive", Peer: from, HasPeer: true, Err: ErrNotWritten})
		return true
	}
	e.peers[from].traffic.received[pathPut].Add(r.Length)
	_, tag := wire.Match(r.Imm)
	e.finishRecv(r, int(from), tag, r.Length)
	return true
}
