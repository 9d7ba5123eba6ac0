package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// sendNow sends a short message without a request, if nothing is in the way.
func (e *Engine) sendNow(dest int, imm uint64, b []byte) bool {
	if len(b) > e.short || dest == e.rank || e.peers[dest].xoff {
		return false
	}
	c := e.loop.Conn(fabric.Peer(dest))
	return c.Down() == nil && c.Send(wire.Eager, imm, nil, b) == nil
}

// startSend chooses the protocol.
func (e *Engine) startSend(r *progress.Request) {
	c := e.loop.Conn(fabric.Peer(r.Peer))
	if err := c.Down(); err != nil {
		e.finishSend(r, err)
		return
	}
	n := len(r.Buf)
	switch {
	case e.peers[r.Peer].xoff && n > 0:
		r.Step = stepRTS
	case n <= e.short:
		r.Step = stepEager
	default:
		e.chooseLong(r)
	}
	if r.Step == stepRTS {
		r.Region = e.register(r.Buf, fabric.RemoteRead)
	}
	if c.Busy() || e.Resume(r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
}

// chooseLong chooses for messages that are eager in some memory only: what
// both ends have mapped is copied once, without a system call.
func (e *Engine) chooseLong(r *progress.Request) {
	n := len(r.Buf)
	switch {
	case n >= e.caps.GetMin || e.mapped(r.Buf):
		r.Step = stepRTS
	case n <= e.caps.MaxEager:
		r.Step = stepEager
	default:
		r.Step = stepChunks
	}
}

// mapped reports whether peers reach b with plain loads.
func (e *Engine) mapped(b []byte) bool {
	reg := e.register(b, fabric.RemoteRead)
	if reg.Handle != 0 {
		e.loop.Domain().Deregister(reg)
	}
	return reg.Mapped
}

// register names b to the fabric. A fabric that can't register it answers the
// zero Region, which no Get accepts: the message then goes in fragments.
func (e *Engine) register(b []byte, a fabric.Access) fabric.Region {
	reg, err := e.loop.Domain().Register(b, a)
	if err != nil {
		return fabric.Region{}
	}
	return reg
}

// release ends a request's registration.
func (e *Engine) release(r *progress.Request) {
	if r.Region.Handle != 0 {
		e.loop.Domain().Deregister(r.Region)
		r.Region.Handle = 0
	}
}

// finishSend ends a send.
func (e *Engine) finishSend(r *progress.Request, err error) {
	e.release(r)
	r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag, Bytes: 0}
	e.loop.Finish(r, err)
}
