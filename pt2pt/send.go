package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// sendNow sends a short message without a request, if nothing is in the way.
func (e *Engine) sendNow(kind uint8, dest int, imm uint64, b []byte) bool {
	if p := &e.peers[dest]; len(b) > p.short || p.gate != 0 || dest == e.rank {
		return false
	}
	c := e.loop.Conn(fabric.Peer(dest))
	if c.Down() != nil || c.Send(kind, imm, nil, b) != nil {
		return false
	}
	if e.sends++; e.sends%lookEvery == 0 {
		e.loop.Look()
	}
	return true
}

// again is sendNow for a persistent standard send, with what does not change
// looked up once; nil if the message is never short. It is not inlined, since
// nothing would be into the function it returns then.
//
//go:noinline
func (e *Engine) again(dest int, imm uint64, b []byte) func(*progress.Request) bool {
	p := &e.peers[dest]
	if len(b) > p.short || dest == e.rank {
		return nil
	}
	l := e.loop
	return func(*progress.Request) bool {
		if p.gate != 0 {
			return false
		}
		c := l.Conn(fabric.Peer(dest))
		if c.Down() != nil || c.Send(wire.Eager, imm, nil, b) != nil {
			return false
		}
		if e.sends++; e.sends%lookEvery == 0 {
			l.Look()
		}
		return true
	}
}

// lookEvery is after how many short sends in a row a rank that does nothing else
// looks at what comes: its peers may have had enough.
const lookEvery = 128

// sendsNow is sendNow for the modes that allow it. A buffered send needs no
// copy when the message is away.
func (e *Engine) sendsNow(mode Mode, dest int, imm uint64, b []byte) bool {
	switch mode {
	case Standard, Buffered:
		return e.sendNow(wire.Eager, dest, imm, b)
	case Ready:
		return e.sendNow(wire.EagerReady, dest, imm, b)
	}
	return false
}

// startSend chooses the protocol, or lets the send wait for the peer.
func (e *Engine) startSend(r *progress.Request) {
	c := e.loop.Conn(fabric.Peer(r.Peer))
	if err := c.Down(); err != nil {
		e.finishSend(r, err)
		return
	}
	p := &e.peers[r.Peer]
	if p.gate&closed != 0 && !c.Busy() {
		r.Step = stepHeld
		p.waiting.add(r)
		return
	}
	e.choose(p, r)
	if c.Busy() || e.resume(r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
}

// choose chooses the protocol of a send.
func (e *Engine) choose(p *peer, r *progress.Request) {
	n := len(r.Buf)
	switch {
	case p.gate&announceOnly != 0:
		r.Step = stepRTS
	case n > p.short:
		e.chooseLong(p, r)
	case Mode(r.Mode) == Synchronous:
		r.Step = stepSync
	default:
		r.Step = stepEager
	}
	if r.Step == stepRTS {
		e.register(r, r.Buf, fabric.RemoteRead)
	}
}

// chooseLong chooses for messages that are eager in some memory only: what
// both ends have mapped is copied once, without a system call. A ready send
// needs no handshake where the fabric can't read memory: its bytes go at once.
func (e *Engine) chooseLong(p *peer, r *progress.Request) {
	n := len(r.Buf)
	switch {
	case Mode(r.Mode) == Ready && !p.caps.Get && n <= p.caps.MaxEager:
		r.Step = stepEager
	case Mode(r.Mode) == Ready && !p.caps.Get && n <= maxChunked:
		r.Step = stepChunks
	case Mode(r.Mode) == Synchronous, n >= p.caps.RndvMin, e.loop.Via(fabric.Peer(r.Peer)).Mapped(r.Buf):
		r.Step = stepRTS
	case n <= p.caps.MaxEager:
		r.Step = stepEager
	default:
		r.Step = stepChunks
	}
}

// register names b to the fabric of the request's peer. A fabric that can't
// register it leaves the zero Region, which no Get accepts: the message then
// goes in fragments.
func (e *Engine) register(r *progress.Request, b []byte, a fabric.Access) {
	reg, err := e.loop.Via(fabric.Peer(r.Peer)).Register(b, a)
	if err != nil {
		reg = fabric.Region{}
	}
	r.Region = reg
}

// release ends a request's registration.
func (e *Engine) release(r *progress.Request) {
	if r.Region.Handle != 0 {
		e.loop.Via(fabric.Peer(r.Peer)).Deregister(r.Region)
		r.Region.Handle = 0
	}
}

// finishSend ends a send.
func (e *Engine) finishSend(r *progress.Request, err error) {
	e.release(r)
	if len(e.asked) > 0 {
		e.unask(r)
	}
	r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag, Bytes: 0}
	e.loop.Finish(r, err)
}
