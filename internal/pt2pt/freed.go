package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
)

// Messages that nothing can receive, because their communicator has been freed at
// this rank, are dropped: those that are here when it becomes deaf, and those that
// come later. The program has made a mistake: MPI-4.0 §7.4.3 lets operations under
// way go on, and these have a sender only. A sender that waits for this rank is
// told, with the FIN, and its send fails with ErrFreed.

// dropLeftovers drops the messages of a communicator that has become deaf.
func (e *Engine) dropLeftovers(id uint32) {
	if e.match.Unexpected() == 0 {
		return
	}
	var left []match.Entry
	e.match.EachUnexpected(func(entry match.Entry, cid uint32, _, _ int32, _ uint32) bool {
		if wire.User(cid) == id {
			left = append(left, entry)
		}
		return true
	})
	for _, entry := range left {
		if arrival, ok := e.match.DropUnexpected(entry); ok {
			e.dropLeftover(arrival)
		}
	}
}

func (e *Engine) dropLeftover(id uint32) {
	a := e.arrivals.at(id)
	from, own := fabric.Peer(a.from), a.req
	if e.partly(a) {
		if in := &e.peers[from].in; in.r == nil && in.total > 0 && in.arrival == id {
			in.dropped = true
		}
	}
	e.refuse(from, a.kind, a.imm, a.req, a.total)
	kind := a.kind
	e.drop(id)
	if kind == kindOwn {
		e.finishSend(e.loop.Named(e, own), received(from, wire.Freed))
	}
}

// refuse drops a message: kind is that of its first packet, req the sender's request
// that waits. Of many messages the first, second, fourth and so on are told.
func (e *Engine) refuse(from fabric.Peer, kind uint8, imm, req, bytes uint64) {
	if kind == wire.RTS || kind == wire.EagerSync {
		if cid, _ := wire.Match(imm); wire.Library(cid) && e.contexts.refuses != nil {
			e.contexts.refuses(from, cid)
		}
		e.acknowledge(from, req, wire.Freed)
	}
	cid, tag := wire.Match(imm)
	if c := e.communicatorOf(cid); c != nil && c.failed && wire.Library(cid) {
		return
	}
	s := &e.contexts
	if s.dropped++; s.dropped&(s.dropped-1) != 0 {
		return
	}
	e.log.Error("a message was dropped: this rank has freed the communicator, and no receive has taken the message",
		"rank", e.rank, "source", from, "tag", tag, "context", cid, "bytes", bytes, "so far", s.dropped,
		"remedy", "receive every message of a communicator before Comm.Free")
}
