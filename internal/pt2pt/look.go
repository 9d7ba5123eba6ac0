package pt2pt

import (
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// What the state of a whole rank is made of (comm.Instance.State).

// Look describes an operation in flight of any protocol, as Pending does. For the owner.
func (e *Engine) Look(r *progress.Request) Pending { return e.pending(r) }

// Need says of one of this protocol's operations whether it has found its counterpart, as
// far as this rank knows, and whether that takes a call of another rank: of its Peer, or
// of any rank. For the owner.
func (e *Engine) Need(r *progress.Request) (unmatched, others bool) {
	switch r.Step {
	case stepSelf:
		return true, false
	case stepPosted, stepProbing:
		return true, int(r.Peer) != e.rank
	}
	stuck := e.stuck(r)
	return stuck, stuck
}

// EachArrived visits the messages that have arrived, or are announced, and that no receive
// has asked for, until f returns false. For the owner.
func (e *Engine) EachArrived(f func(from int, cid uint32, tag int32, bytes uint64) bool) {
	e.match.EachUnexpected(func(_ match.Entry, cid uint32, source, tag int32, id uint32) bool {
		return f(int(source), cid, tag, e.arrivals.at(id).total)
	})
}

// Away reports whether a rank is down. For the owner.
func (e *Engine) Away(rank int) bool { return e.peers[rank].down }

// Halves calls f with the parts of a Sendrecv that have not completed, and reports whether
// r is one. For the owner.
func (e *Engine) Halves(r *progress.Request, f func(*progress.Request)) bool {
	if r.Step != stepPair || r.Kind != kindPair {
		return false
	}
	for _, half := range r.Halves {
		if half != nil {
			f(half)
		}
	}
	return true
}

// stuck reports whether a request waits for a call of its peer, as far as this
// rank knows: a receive or a probe without a message, or a send that waits for
// its receiver.
func (e *Engine) stuck(r *progress.Request) bool {
	if int(r.Peer) == e.rank || r.Peer == match.AnySource {
		return false
	}
	switch r.Step {
	case stepPosted, stepProbing:
		return true
	case stepAwait:
		_, asked := e.asked[uint64(r.Op())]
		return !asked
	}
	return false
}

// UnderWay reports whether this rank is sending to another one what that has not heard of
// yet, and whether it is receiving one of its messages. For the owner.
func (e *Engine) UnderWay(peer int) (sending, receiving bool) {
	e.loop.Each(e, func(r *progress.Request) {
		switch {
		case int(r.Peer) != peer:
		case r.Kind == kindSend:
			sending = sending || r.Step != stepAwait
		case r.Kind == kindRecv || r.Kind == kindMrecv:
			receiving = receiving || r.Step != stepPosted
		}
	})
	return sending, receiving
}
