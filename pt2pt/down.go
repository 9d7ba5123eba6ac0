package pt2pt

import (
	"maps"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// PeerDown ends everything that needs the peer: sends to it, receives from it,
// and its messages that have not come whole. Whole ones can still be received.
func (e *Engine) PeerDown(p fabric.Peer, err error) {
	gone := &e.peers[p]
	gone.down, gone.waiting, gone.turn = true, chain{}, nil
	if gone.told == wire.Hold {
		e.held.stopped--
	}
	gone.told = wire.Open
	last := true
	for i := range e.peers {
		last = last && (i == e.rank || e.peers[i].down)
	}
	if last {
		e.alone = err
	}
	e.loop.EachRequest(func(r *progress.Request) {
		if r.Peer != int32(p) && !(last && r.Peer == match.AnySource) {
			return
		}
		switch {
		case r.Step == stepPutting:
			// The fabric may still read the buffer; it says when it is done.
		case r.Kind == kindSend:
			e.finishSend(r, err)
		case r.Step == stepProbing:
			e.probes.remove(r)
			e.failRecv(r, err)
		case r.Step == stepGetting:
			// The fabric may still write into the buffer; it says when it is done.
		case r.Step == stepPosted:
			e.match.Withdraw(match.Entry(r.Entry))
			e.failRecv(r, err)
		default: // also of a granted receive: the fabric lets nothing of the peer's land any more
			e.release(r)
			e.failRecv(r, err)
		}
	})
	maps.DeleteFunc(e.asked, func(_ uint64, a asked) bool { return a.peer == p })
	var lost []match.Entry
	e.match.EachUnexpected(func(entry match.Entry, _ uint32, src, _ int32, id uint32) bool {
		a := e.arrivals.at(id)
		if src == int32(p) && (a.kind == wire.RTS || e.partly(a)) {
			lost = append(lost, entry)
		}
		return true
	})
	e.peers[p].in = inbound{}
	for _, entry := range lost {
		e.forget(entry)
	}
}
