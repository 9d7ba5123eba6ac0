package pt2pt

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// sendRTS announces a message that stays in the sender's buffer until FIN.
func (e *Engine) sendRTS(ep fabric.Endpoint, r *progress.Request) error {
	var what wire.Announced
	if Mode(r.Mode) == Ready {
		what |= wire.Ready
	}
	if r.Region.Len < r.Size() {
		what |= wire.Unreadable
	}
	h := wire.MakeRTS(e.hdr[:], r.Region.Addr, r.Size(), r.Region.Key, uint64(r.Op()), what)
	return e.awaitFIN(r, ep.Send(wire.RTS, r.Imm, h, nil))
}

func (e *Engine) onRTS(from fabric.Peer, imm uint64, h wire.RTSHeader) {
	if id, ok := e.arrive(from, imm); ok {
		r := e.loop.Request(id)
		_, tag := wire.Match(imm)
		r.Remote, r.Length, r.Other = fabric.Remote{Addr: h.Addr(), Len: h.Length(), Key: h.Key()}, h.Length(), h.Request()
		e.receiveRTS(r, from, tag, wire.Received, h.What()&wire.Unreadable == 0)
		return
	}
	if e.shut > 0 && e.deafTo(imm) {
		e.refuse(from, wire.RTS, imm, h.Request(), h.Length())
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.kind, a.total = uint32(from), imm, wire.RTS, h.Length()
	a.addr, a.key, a.req = h.Addr(), h.Key(), h.Request()
	a.unreadable, a.ready = h.What()&wire.Unreadable != 0, h.What()&wire.Ready != 0
	e.keep(id, a)
}

// receiveRTS fetches an announced message into a receive, whose Remote, Length
// and Other describe it. FIN carries the outcome.
func (e *Engine) receiveRTS(r *progress.Request, from fabric.Peer, tag int32, o wire.Outcome, readable bool) {
	r.Peer, r.Outcome, r.Imm = int32(from), uint8(o), wire.Imm(uint32(r.Imm>>32), tag)
	if e.tracer != nil {
		e.tracer.takes(r, pathGet)
	}
	c := e.loop.Conn(from)
	if err := c.Down(); err != nil {
		e.failRecv(r, err)
		return
	}
	n := min(r.Size(), r.Length)
	if n == 0 {
		e.peers[from].traffic.received[pathGet].Add(r.Length)
		e.acknowledge(from, r.Other, o)
		e.finishRecv(r, int(from), tag, r.Length)
		return
	}
	if !readable || r.Layout() != nil {
		e.askFrags(r, n)
		return
	}
	caps := e.peers[from].caps
	if caps.Put && caps.PutFirst {
		e.grant(r, n)
		return
	}
	r.Step = stepGet
	if !caps.LocalUnregistered {
		e.register(r, r.Buf[:n], fabric.LocalWrite)
	}
	if e.get(c.Endpoint(), r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
}

// get starts the transfer of a receive.
func (e *Engine) get(ep fabric.Endpoint, r *progress.Request) error {
	n := min(r.Size(), r.Length)
	if e.tracer != nil {
		e.tracer.moves(r, pathGet)
	}
	err := ep.Get(fabric.Segment{Bytes: r.Buf[:n], Region: r.Region}, r.Remote, r.Op())
	switch {
	case err == nil:
		r.Step = stepGetting
		e.loop.Rouse() // a Poll reports its completion
	case err == fabric.ErrAgain:
	case errors.Is(err, fabric.ErrUnsupported):
		e.askFrags(r, n)
	default:
		e.onGot(r, err)
	}
	return err
}

// onGot takes the completion of a receive's Get. If the memory turns out to be
// out of the fabric's reach, all of it is sent in fragments.
func (e *Engine) onGot(r *progress.Request, err error) {
	if errors.Is(err, fabric.ErrUnsupported) {
		if err = e.loop.Conn(fabric.Peer(r.Peer)).Down(); err == nil {
			e.askFrags(r, min(r.Size(), r.Length))
			return
		}
	}
	e.release(r)
	if err != nil {
		e.acknowledge(fabric.Peer(r.Peer), r.Other, wire.Lost)
		e.failRecv(r, err)
		return
	}
	e.acknowledge(fabric.Peer(r.Peer), r.Other, wire.Outcome(r.Outcome))
	_, tag := wire.Match(r.Imm)
	e.peers[r.Peer].traffic.received[pathGet].Add(r.Length)
	e.finishRecv(r, int(r.Peer), tag, r.Length)
}
