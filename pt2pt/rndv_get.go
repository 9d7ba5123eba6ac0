package pt2pt

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// sendRTS announces a message that stays in the sender's buffer until FIN.
func (e *Engine) sendRTS(ep fabric.Endpoint, r *progress.Request) error {
	var what wire.Announced
	if Mode(r.Mode) == Ready {
		what |= wire.Ready
	}
	if r.Region.Len < uint64(len(r.Buf)) {
		what |= wire.Unreadable
	}
	h := wire.MakeRTS(e.hdr[:], r.Region.Addr, uint64(len(r.Buf)), r.Region.Key, uint64(r.Op()), what)
	err := ep.Send(wire.RTS, r.Imm, h, nil)
	switch err {
	case nil:
		r.Step = stepAwait
	case fabric.ErrAgain:
	default:
		e.finishSend(r, err)
	}
	return err
}

func (e *Engine) onRTS(from fabric.Peer, imm uint64, h wire.RTSHeader) {
	msg := arrival{from: uint32(from), imm: imm, kind: wire.RTS, total: h.Length(), addr: h.Addr(), key: h.Key(), req: h.Request(),
		unreadable: h.What()&wire.Unreadable != 0}
	cid, tag := wire.Match(imm)
	if id, ok := e.match.Arrive(cid, int32(from), tag); ok {
		e.receiveRTS(e.loop.Request(id), from, tag, &msg)
		return
	}
	id, a := e.arrivals.take()
	msg.gen, msg.ready = a.gen, h.What()&wire.Ready != 0
	*a = msg
	e.keep(id, a)
}

// receiveRTS fetches an announced message into a receive. Its Mode is what FIN
// will say.
func (e *Engine) receiveRTS(r *progress.Request, from fabric.Peer, tag int32, a *arrival) {
	remote := fabric.Remote{Addr: a.addr, Len: a.total, Key: a.key}
	r.Peer, r.Remote, r.Other, r.Mode = int32(from), remote, a.req, uint8(wire.Received)
	if a.ready {
		r.Mode = uint8(wire.Late)
	}
	r.Imm = wire.Imm(uint32(r.Imm>>32), tag)
	c := e.loop.Conn(from)
	if err := c.Down(); err != nil {
		e.failRecv(r, err)
		return
	}
	n := min(uint64(len(r.Buf)), remote.Len)
	if n == 0 {
		e.acknowledge(from, r.Other, wire.Outcome(r.Mode))
		e.finishRecv(r, int(from), tag, remote.Len)
		return
	}
	if a.unreadable {
		e.askFrags(r, n)
		return
	}
	if caps := e.peers[from].caps; caps.PutFirst && caps.Put {
		e.grant(r, n)
		return
	}
	r.Step = stepGet
	e.register(r, r.Buf[:n], fabric.LocalWrite)
	if e.get(c.Endpoint(), r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
}

// get starts the transfer of a receive.
func (e *Engine) get(ep fabric.Endpoint, r *progress.Request) error {
	n := min(uint64(len(r.Buf)), r.Remote.Len)
	err := ep.Get(fabric.Segment{Bytes: r.Buf[:n], Region: r.Region}, r.Remote, r.Op())
	switch {
	case err == nil:
		r.Step = stepGetting
		e.loop.Rouse() // its end is told by a Poll
	case err == fabric.ErrAgain:
	case errors.Is(err, fabric.ErrUnsupported):
		e.askFrags(r, n)
	default:
		e.onGot(r, err)
	}
	return err
}

// onGot ends the transfer of a receive.
func (e *Engine) onGot(r *progress.Request, err error) {
	e.release(r)
	if err != nil {
		e.acknowledge(fabric.Peer(r.Peer), r.Other, wire.Lost)
		e.failRecv(r, err)
		return
	}
	e.acknowledge(fabric.Peer(r.Peer), r.Other, wire.Outcome(r.Mode))
	_, tag := wire.Match(r.Imm)
	e.finishRecv(r, int(r.Peer), tag, r.Remote.Len)
}
