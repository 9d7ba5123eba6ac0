package pt2pt

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// PeerDown fails everything that needs the peer: sends to it, receives from it,
// and its messages that have not arrived whole. Whole ones can still be
// received. If the peer has not left in order, it also fails the operations of
// collective calls: they need all ranks, directly or not.
func (e *Engine) PeerDown(p fabric.Peer, err error) {
	if died := !errors.Is(err, fabric.ErrPeerLeft); died && !e.peers[p].dead {
		e.peers[p].dead = true
		e.spread(p)
		e.dead = cmp.Or(e.dead, err)
		defer e.endCollective()
	}
	gone := &e.peers[p]
	if !gone.down {
		e.downs++
	}
	gone.down, gone.waiting, gone.turn = true, progress.List{}, nil
	if gone.told == wire.Hold {
		e.held.stopped--
	}
	gone.told = wire.Open
	e.waited.moves(gone.takes, wire.Open)
	gone.takes = wire.Open
	last := true
	for i := range e.peers {
		last = last && (i == e.rank || e.peers[i].down)
	}
	if last {
		e.alone = err
	}
	e.loop.Each(e, func(r *progress.Request) {
		if r.Peer != int32(p) && !e.lonely(r, last) {
			return
		}
		switch {
		case r.Step == stepPutting:
			// The fabric may still read the buffer; it reports when it is done.
		case r.Kind == kindSend:
			e.finishSend(r, err)
		case r.Step == stepProbing:
			e.probes.Remove(r)
			e.failRecv(r, err)
		case r.Step == stepGetting:
			// The fabric may still write into the buffer; it reports when it is
			// done.
		case r.Step == stepPosted:
			e.match.Withdraw(match.Entry(r.Entry))
			e.failRecv(r, err)
		default: // also of a granted receive: the fabric accepts no write of the peer's any more
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

// endCollective fails the operations in the contexts of collective calls of
// communicators that have lost a rank, as far as they can still be withdrawn.
// One that can't is being fetched by a rank that is alive.
func (e *Engine) endCollective() {
	e.loop.Each(e, func(r *progress.Request) {
		cid, _ := wire.Match(r.Imm)
		if (r.Kind == kindSend || r.Kind == kindRecv) && wire.Library(cid) && !r.Done() {
			if err := e.deathIn(cid); err != nil {
				e.Cancel(r, e.inRanks(cid, r.Ranks(), err))
			}
		}
	})
}

// DeadIn returns why no collective call of a context's communicator can complete any
// more: the death of a rank of it, nil while there is none. For the owner.
func (e *Engine) DeadIn(cid uint32) error {
	if e.dead == nil {
		return nil
	}
	return e.deathIn(cid)
}

// spread tells the ranks that this one is connected to of a death, where the
// launcher has no news. A rank that was not connected to the dead one may wait
// for another that failed because of it.
func (e *Engine) spread(p fabric.Peer) {
	if e.informed {
		return
	}
	for i := range e.peers {
		if q := fabric.Peer(i); i != e.rank && q != p && !e.peers[i].down && e.loop.Connected(q) {
			e.loop.Conn(q).Post(wire.Dead, uint64(p), nil)
		}
	}
}

// Informed means that the launcher reports deaths, so ranks need not tell one
// another. Call it before the first message.
func (e *Engine) Informed() { e.loop.Exclusive(func() { e.informed = true }) }

// onDead handles another rank's report that a rank is dead.
func (e *Engine) onDead(from fabric.Peer, rank int) {
	if rank == e.rank {
		return // the link between the two is down, which that rank takes for our death
	}
	e.loop.Lost(fabric.Peer(rank), &fabric.Error{Op: "talk", Peer: fabric.Peer(rank), HasPeer: true,
		Err: fmt.Errorf("%w: another rank has seen it die", fabric.ErrPeerDown)})
}
