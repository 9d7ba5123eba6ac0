package pt2pt

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// sendRTS announces a message that stays in the sender's buffer until FIN.
func (e *Engine) sendRTS(ep fabric.Endpoint, r *progress.Request) error {
	h := wire.MakeRTS(e.hdr[:], r.Region.Addr, uint64(len(r.Buf)), r.Region.Key, uint64(r.Op()))
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
	remote := fabric.Remote{Addr: h.Addr(), Len: h.Length(), Key: h.Key()}
	cid, tag := wire.Match(imm)
	if id, ok := e.match.Arrive(cid, int32(from), tag); ok {
		e.receiveRTS(e.loop.Request(id), from, tag, remote, h.Request())
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.kind = from, imm, wire.RTS
	a.total, a.got = h.Length(), 0
	a.remote, a.req = remote, h.Request()
	e.keep(id, a)
}

// receiveRTS fetches an announced message into a receive.
func (e *Engine) receiveRTS(r *progress.Request, from fabric.Peer, tag int32, remote fabric.Remote, req uint64) {
	r.Peer, r.Remote, r.Other = int32(from), remote, req
	r.Imm = wire.Imm(uint32(r.Imm>>32), tag)
	c := e.loop.Conn(from)
	if err := c.Down(); err != nil {
		e.failRecv(r, err)
		return
	}
	n := min(uint64(len(r.Buf)), remote.Len)
	if n == 0 {
		e.fin(r, false)
		e.finishRecv(r, int(from), tag, remote.Len)
		return
	}
	r.Step = stepGet
	r.Region = e.register(r.Buf[:n], fabric.LocalWrite)
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
	e.fin(r, err != nil)
	if err != nil {
		e.failRecv(r, err)
		return
	}
	_, tag := wire.Match(r.Imm)
	e.finishRecv(r, int(r.Peer), tag, r.Remote.Len)
}

// fin tells the sender that its buffer is its own again.
func (e *Engine) fin(r *progress.Request, failed bool) {
	e.loop.Conn(fabric.Peer(r.Peer)).Post(wire.FIN, r.Other, wire.MakeFIN(e.hdr[:], failed))
}

func (e *Engine) onFIN(from fabric.Peer, op uint64, failed bool) bool {
	r := e.loop.Lookup(op)
	if r == nil || r.Kind != kindSend || r.Step != stepAwait || r.Peer != int32(from) {
		return false
	}
	var err error
	if failed {
		err = &fabric.Error{Op: "send", Peer: from, HasPeer: true, Err: ErrNotFetched}
	}
	e.finishSend(r, err)
	return true
}
