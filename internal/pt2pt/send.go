package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// sendNow sends a short message without a request, if nothing is in the way and
// the mode completes without a reply. A buffered send needs no copy then.
func (e *Engine) sendNow(mode Mode, dest int, imm uint64, b []byte) bool {
	kind := kindNow[mode]
	p := &e.peers[dest]
	if len(b) > p.short || p.gate != 0 || dest == e.rank || kind == 0 {
		return p.gate&traced != 0 && e.sendTraced(mode, dest, imm, b)
	}
	c := e.loop.Conn(fabric.Peer(dest))
	if c.Down() != nil || c.Send(kind, imm, nil, b) != nil {
		return false
	}
	if p.traffic.sent[pathEager].Add(uint64(len(b)))%lookEvery == 0 {
		e.loop.Look()
	}
	return true
}

// kindNow is the packet of a short message by mode, or 0 if it needs a request.
var kindNow = [modes]uint8{Standard: wire.Eager, Ready: wire.EagerReady, Buffered: wire.Eager}

// lookEvery is after how many short sends of about one length in a row a rank that
// makes no other call polls: its peers may have lowered their level.
const lookEvery = 128

// startSend chooses the protocol, or lets the send wait for the peer.
func (e *Engine) startSend(r *progress.Request) {
	c := e.loop.Conn(fabric.Peer(r.Peer))
	if err := c.Down(); err != nil {
		e.finishSend(r, err)
		return
	}
	if e.dead != nil {
		if cid, _ := wire.Match(r.Imm); wire.Library(cid) {
			if err := e.deathIn(cid); err != nil { // nobody receives it any more
				e.finishSend(r, err)
				return
			}
		}
	}
	p := &e.peers[r.Peer]
	if p.gate&closed != 0 && !c.Busy() {
		r.Step = stepHeld
		p.waiting.Add(r)
		return
	}
	e.choose(p, r)
	if c.Busy() || e.resume(r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
}

// choose chooses the path of a send.
func (e *Engine) choose(p *peer, r *progress.Request) {
	n := int(r.Size())
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
	r.Path = pathOf[r.Step]
	if r.Step == stepRTS {
		e.register(r, r.Buf, fabric.RemoteRead)
	}
}

// chooseLong chooses for messages that are eager in some memory only: memory
// that both ends have mapped is copied once, without a system call. A ready send
// needs no handshake where the fabric can't read memory: its bytes go at once.
func (e *Engine) chooseLong(p *peer, r *progress.Request) {
	n := int(r.Size())
	switch {
	case Mode(r.Mode) == Ready && !p.caps.Get && n <= p.caps.MaxEager:
		r.Step = stepEager
	case Mode(r.Mode) == Ready && !p.caps.Get && n <= maxChunked:
		r.Step = stepChunks
	case Mode(r.Mode) == Synchronous, n >= p.caps.RndvMin, len(r.Buf) > 0 && e.loop.Via(fabric.Peer(r.Peer)).Mapped(r.Buf):
		r.Step = stepRTS
	case n <= p.caps.MaxEager:
		r.Step = stepEager
	default:
		r.Step = stepChunks
	}
}

// register registers b with the fabric of the request's peer. If that fails, and
// for a layout, the zero Region is left, which no Get accepts: the message then
// goes in fragments.
func (e *Engine) register(r *progress.Request, b []byte, a fabric.Access) {
	if r.Layout() != nil {
		r.Region = fabric.Region{}
		return
	}
	reg, err := e.loop.Via(fabric.Peer(r.Peer)).Register(b, a)
	if err != nil {
		reg = fabric.Region{}
	}
	r.Region = reg
}

// release deregisters a request's memory.
func (e *Engine) release(r *progress.Request) {
	if r.Region.Handle != 0 {
		e.loop.Via(fabric.Peer(r.Peer)).Deregister(r.Region)
		r.Region.Handle = 0
	}
}

// finishSend completes a send.
func (e *Engine) finishSend(r *progress.Request, err error) {
	e.release(r)
	if err == nil && r.Path != pathNone {
		e.peers[r.Peer].traffic.sent[r.Path].Add(r.Size())
	}
	if len(e.asked) > 0 {
		e.unask(r)
	}
	r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag, Bytes: 0}
	e.loop.Finish(r, e.inRanks(cidOf(r), r.Ranks(), err))
}
