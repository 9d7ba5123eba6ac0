package pt2pt

import (
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Limits bound the memory of messages without a receive at this rank. The first
// three are about messages whose bytes have arrived: beyond them a peer only
// announces its further messages. Messages is about all, announced ones
// included: beyond it peers send nothing. Messages on their way at that time
// come on top.
type Limits struct {
	PeerBytes    uint64        // of one peer's messages
	PeerMessages int           // of one peer
	Bytes        uint64        // of all peers' messages
	Messages     int           // of all peers
	Stall        time.Duration // how long at Messages without a receive taking one until receives fail
}

// DefaultLimits hold the messages of all peers inside about 250 MB: 64 MB of
// bytes and 130 bytes for each message, besides the PeerBytes of each peer.
var DefaultLimits = Limits{PeerBytes: 4 << 20, PeerMessages: 1 << 17, Bytes: 64 << 20, Messages: 5 << 18, Stall: 10 * time.Second}

// Limit sets the limits. Call it before the first message.
func (e *Engine) Limit(l Limits) { e.loop.Exclusive(func() { e.limits = l }) }

// fairShare is what every peer may have here before it only announces.
const fairShare = 64 << 10

// heldTotal counts the unreceived messages, without those of this rank to
// itself.
type heldTotal struct {
	bytes    uint64
	messages int
	stopped  int // peers that were told Hold

	mostBytes    uint64 // high-water marks
	mostMessages int
	taken        uint64 // messages that left again, ever
	watched      bool   // the stall is being watched
}

// stored reports whether an arrival holds memory for its bytes.
func (a *arrival) stored() bool { return a.kind != wire.RTS && a.kind != kindOwn }

// hold counts an arrival that waits for a receive.
func (e *Engine) hold(a *arrival) {
	p := &e.peers[a.from]
	if a.stored() {
		p.unexpected += a.total
		p.held++
	}
	if int(a.from) == e.rank {
		return
	}
	if a.stored() {
		e.held.bytes += a.total
	}
	e.held.messages++
	e.held.mostBytes = max(e.held.mostBytes, e.held.bytes)
	e.held.mostMessages = max(e.held.mostMessages, e.held.messages)
	level := p.told
	switch {
	case e.held.messages >= e.limits.Messages:
		level = wire.Hold
	case p.told != wire.Open:
	case p.unexpected > e.limits.PeerBytes, p.held > e.limits.PeerMessages,
		e.held.bytes > e.limits.Bytes && p.unexpected > fairShare:
		level = wire.Announce
	}
	if level > p.told {
		e.tell(fabric.Peer(a.from), level)
	}
}

// unhold undoes hold.
func (e *Engine) unhold(a *arrival) {
	p := &e.peers[a.from]
	if a.stored() {
		p.unexpected -= a.total
		p.held--
	}
	if int(a.from) == e.rank {
		return
	}
	if a.stored() {
		e.held.bytes -= a.total
	}
	e.held.messages--
	e.held.taken++
	if e.held.stopped > 0 && e.held.messages <= e.limits.Messages/2 {
		for i := range e.peers {
			if e.peers[i].told == wire.Hold {
				e.tell(fabric.Peer(i), e.least(&e.peers[i]))
			}
		}
	}
	if p.told == wire.Announce && e.least(p) == wire.Open {
		e.tell(fabric.Peer(a.from), wire.Open)
	}
}

// least is the level that a peer may return to.
func (e *Engine) least(p *peer) wire.Level {
	l := &e.limits
	if p.unexpected <= l.PeerBytes/4 && p.held <= l.PeerMessages/4 && (e.held.bytes <= l.Bytes || p.unexpected <= fairShare/2) {
		return wire.Open
	}
	return wire.Announce
}

// tell announces to a peer the level of what we accept from now on.
func (e *Engine) tell(to fabric.Peer, level wire.Level) {
	p := &e.peers[to]
	if p.told == wire.Hold {
		e.held.stopped--
	}
	if level == wire.Hold {
		e.held.stopped++
		e.watchStall()
	}
	p.told = level
	e.loop.Conn(to).Post(wire.Flow, uint64(level), nil)
}

// onFlow records the level that a peer has announced.
func (e *Engine) onFlow(from fabric.Peer, level wire.Level) {
	p := &e.peers[from]
	e.waited.moves(p.takes, level)
	p.takes = level
	e.admit(p)
}

// reconsider checks the peer's level again for a send in the backlog that has
// not begun. It returns false if the send now waits elsewhere.
func (e *Engine) reconsider(p *peer, r *progress.Request) bool {
	if p.gate&closed != 0 {
		e.release(r)
		r.Step = stepHeld
		p.waiting.Add(r)
		return false
	}
	if r.Step != stepRTS {
		r.Step, r.Path = stepRTS, pathGet
		e.register(r, r.Buf, fabric.RemoteRead)
	}
	return true
}

// admit starts the sends that wait for the peer, in their order and as long as
// the peer's level permits. One that finds no room joins the backlog, and the
// next ones follow it.
func (e *Engine) admit(p *peer) {
	for p.takes != wire.Hold && p.turn == nil && !p.waiting.Empty() {
		r := p.waiting.First()
		p.waiting.Remove(r)
		e.choose(p, r)
		if e.resume(r) == fabric.ErrAgain {
			p.turn = r
			e.loop.Conn(fabric.Peer(r.Peer)).Enqueue(r)
		}
	}
	p.gate &= traced
	if p.takes != wire.Open {
		p.gate |= announceOnly
	}
	if p.takes == wire.Hold || p.turn != nil || !p.waiting.Empty() {
		p.gate |= closed
	}
}

// watchStall checks, after a while, whether receives still complete.
func (e *Engine) watchStall() {
	if e.held.watched || e.limits.Stall <= 0 {
		return
	}
	e.held.watched = true
	taken := e.held.taken
	time.AfterFunc(e.limits.Stall, func() {
		e.loop.Exclusive(func() {
			e.held.watched = false
			if e.held.stopped == 0 || e.loop.Over() {
				return
			}
			if e.held.taken == taken {
				e.failStalled()
			}
			e.watchStall()
		})
	})
}

// failStalled fails the receives whose message can't arrive: every possible
// source is on Hold, and no message here matches.
func (e *Engine) failStalled() {
	others := 0
	for i := range e.peers {
		if i != e.rank && !e.peers[i].down && e.peers[i].told != wire.Hold {
			others++
		}
	}
	err := &cause.LimitError{Held: e.held.messages, Limit: e.limits.Messages, After: e.limits.Stall}
	e.loop.Each(e, func(r *progress.Request) {
		if r.Step != stepPosted && r.Step != stepProbing || int(r.Peer) == e.rank {
			return
		}
		if r.Peer == match.AnySource && others == 0 || r.Peer != match.AnySource && e.peers[r.Peer].told == wire.Hold {
			e.Cancel(r, err)
		}
	})
}
