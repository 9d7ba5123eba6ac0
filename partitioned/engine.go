package partitioned

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// MaxParts is the most partitions of an operation.
const MaxParts = wire.MaxParts

// ProcNull is the peer of communication that does nothing (MPI-4.0 §3.10).
const ProcNull = -3

// Kinds of requests.
const (
	kindSend uint8 = iota + 1
	kindRecv
)

// Engine is the protocol of one rank. PsendInit, PrecvInit and the methods of
// Send and Recv that say so are for any goroutine; the rest belongs to the owner
// of the loop.
type Engine struct {
	progress.Passive
	loop *progress.Loop
	rank int

	names names       // of the sides
	table match.Table // receives and PInits that have not matched
	inits []invite    // the PInits of the table, by its ids
	spare []uint32    // ids of inits that are free

	freed     func(cid uint32) bool  // see HandleFreed; nil: none is
	forbidden func(cid uint32) error // the same
	revoked   error                  // the same

	ops   progress.Ops
	reads []read   // Gets under way, by the tags of their Ops
	idle  []uint32 // tags that are free

	hdr   [fabric.MaxHeader]byte    // of the packet being sent
	own   [8][fabric.MaxHeader]byte // headers of packets to this rank itself, see post
	depth int

	counts counts
}

// invite is a PInit that no receive has matched.
type invite struct {
	from   fabric.Peer
	send   wire.PartSend
	forget bool // the send has been given up
	why    wire.PartEnd
}

// New makes the engine of a rank and registers it with the loop.
func New(l *progress.Loop, rank int) *Engine {
	e := &Engine{loop: l, rank: rank}
	e.ops, _ = l.NameOps(e.onRead) // which fails for the 33rd protocol
	l.Handle(e, wire.PInit, wire.PAccept, wire.PGo, wire.PReady, wire.PData, wire.PLanded, wire.PDone, wire.PFree, wire.PStop, wire.PStill)
	return e
}

// Start begins a round.
func (e *Engine) Start(r *progress.Request) {
	r.Result = progress.Result{Source: progress.AnySource, Tag: progress.AnyTag}
	switch o := r.Object().(type) {
	case *Send:
		o.start()
	case *Recv:
		o.start()
	}
}

// Resume continues a side that has come to the head of its peer's backlog.
func (e *Engine) Resume(r *progress.Request) error {
	switch o := r.Object().(type) {
	case *Send:
		return o.sendPackets(true)
	case *Recv:
		return o.readMore(true)
	}
	return nil
}

// Cancel abandons a channel: its peer's side fails. The request fails with err,
// now or when nobody uses its memory any more.
func (e *Engine) Cancel(r *progress.Request, err error) bool {
	switch o := r.Object().(type) {
	case *Send:
		o.abandon(err)
	case *Recv:
		o.abandon(err)
	}
	return r.Done()
}

// Complete is not called: the engine's operations have names of their own.
func (e *Engine) Complete(*progress.Request, error) {}

// Deliver takes a packet. One about a side that is gone is dropped: it may have
// been freed. One that breaks the protocol ends its sender.
func (e *Engine) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	ok := true
	switch kind {
	case wire.PInit:
		if ok = wire.PInitHeader(hdr).Valid(); ok {
			e.onInit(from, imm, wire.PInitHeader(hdr).Send())
		}
	case wire.PAccept:
		if ok = wire.PAcceptHeader(hdr).Valid(); ok {
			ok = e.onAccept(from, imm, wire.PAcceptHeader(hdr).Recv())
		}
	case wire.PData:
		if ok = wire.PDataHeader(hdr).Valid(); ok {
			ok = e.onData(from, imm, wire.PDataHeader(hdr), body)
		}
	case wire.PFree:
		if ok = wire.PEndHeader(hdr).Valid(); ok {
			e.onFree(from, imm, hdr)
		}
	case wire.PStop:
		ok = wire.PEndHeader(hdr).Valid()
		if s := e.names.send(imm, from); ok && s != nil {
			s.onStop(wire.PEndHeader(hdr).Why())
		}
	case wire.PStill:
		if r := e.names.recv(imm, from); r != nil {
			r.onStill()
		}
	default:
		if ok = wire.PBlocksHeader(hdr).Valid(); ok {
			ok = e.onBlocks(from, kind, imm, wire.PBlocksHeader(hdr))
		}
	}
	if !ok {
		e.loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a packet of kind %d that no partitioned operation here asked for", fabric.ErrPeerDown, kind)})
	}
}

// onBlocks takes a packet about blocks of a round.
func (e *Engine) onBlocks(from fabric.Peer, kind uint8, imm uint64, h wire.PBlocksHeader) bool {
	round, fate := h.Round(), h.Fate()
	first, count := h.Blocks()
	if kind == wire.PGo || kind == wire.PDone {
		s := e.names.send(imm, from)
		switch {
		case s == nil:
			return true
		case kind == wire.PGo:
			return s.onGo(round)
		}
		return s.onDone(round, first, count, fate)
	}
	r := e.names.recv(imm, from)
	switch {
	case r == nil:
		return true
	case r.fault.Load() != nil:
		if kind == wire.PReady {
			r.tellDone(round, run{int(first), int(count)}, wire.Failed)
		}
		return true
	case r.scattered():
		return false
	case kind == wire.PReady && !r.active && round == following(r.round):
		return r.foresees(first, count)
	case !r.expects(round, first, count):
		return false
	case kind == wire.PReady:
		r.onReady(int(first), int(count))
	default:
		r.land(int(first), int(count))
	}
	return true
}

// PeerDown fails every operation with the peer.
func (e *Engine) PeerDown(p fabric.Peer, err error) {
	e.names.each(func(s *side) {
		if s.peer == int32(p) {
			s.broken(err)
		}
	})
	e.dropInits(p)
}
