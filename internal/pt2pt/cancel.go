package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// asked is a send that its sender has asked back, which it does once. Its name
// (Request.Op) is no other operation's, so a late reply affects no other. Only
// this entry records that a reply is expected.
type asked struct {
	peer     fabric.Peer
	err      error // the error of the send if the reply is yes
	answered bool  // the reply was no
	over     bool  // the send has completed; the reply is still to come
}

// unask drops the entry of a send that has completed.
func (e *Engine) unask(r *progress.Request) {
	op := uint64(r.Op())
	a, ok := e.asked[op]
	switch {
	case !ok:
	case a.answered:
		delete(e.asked, op)
	default:
		a.over = true
		e.asked[op] = a
	}
}

// Cancel fails a request with err if nothing has been done for it yet. A send
// that has been announced, or is synchronous, is asked back: it fails with err
// when the receiver replies that no receive has matched it (MPI-4.0 §3.8.4).
func (e *Engine) Cancel(r *progress.Request, err error) bool {
	none := progress.Result{Source: match.AnySource, Tag: match.AnyTag}
	switch r.Step {
	case stepPosted:
		if _, ok := e.match.Withdraw(match.Entry(r.Entry)); !ok {
			return false
		}
		r.Result = none
		e.loop.Finish(r, err)
	case stepProbing:
		e.probes.Remove(r)
		r.Result = none
		e.loop.Finish(r, err)
	case stepFlush:
		e.unflush(r)
		e.loop.Finish(r, err)
	case stepPair:
		for _, part := range r.Halves {
			if part != nil {
				e.Cancel(part, err)
			}
		}
		return r.Done()
	case stepHeld:
		p := &e.peers[r.Peer]
		p.waiting.Remove(r)
		e.finishSend(r, err)
		e.admit(p)
	case stepEager, stepSync, stepChunks, stepRTS:
		if !r.Queued() || r.Moved > 0 {
			return false
		}
		e.withdraw(r)
		e.finishSend(r, err)
	case stepSelf:
		if !e.forget(match.Entry(r.Entry)) {
			return false
		}
		e.finishSend(r, err)
	case stepAwait:
		op := uint64(r.Op())
		if _, again := e.asked[op]; !again {
			e.asked[op] = asked{peer: fabric.Peer(r.Peer), err: err}
			e.loop.Conn(fabric.Peer(r.Peer)).Post(wire.Cancel, op, nil)
		}
		return false
	default:
		return false
	}
	return true
}

// name is the sender's name for an unexpected message, if the sender can ask it
// back.
type name struct {
	from uint32
	req  uint64
}

// nameOf finds an arrival by its name. The names are kept from the first message
// that is asked back until no message is unexpected: a rank may ask many back at
// a time.
func (e *Engine) nameOf(a *arrival, entry match.Entry) {
	if a.kind == wire.RTS || a.kind == wire.EagerSync {
		e.named[name{a.from, a.req}] = entry
	}
}

// unname drops the name of an arrival that is freed.
func (e *Engine) unname(a *arrival) {
	if e.match.Unexpected() == 0 {
		e.named = nil
		return
	}
	delete(e.named, name{a.from, a.req})
}

// withdraw takes a send that has not begun out of the backlog.
func (e *Engine) withdraw(r *progress.Request) {
	e.loop.Conn(fabric.Peer(r.Peer)).Withdraw(r)
	if p := &e.peers[r.Peer]; p.turn == r {
		p.turn = nil
		e.admit(p)
	}
}

// onCancel gives a message back to its sender, unless a receive or a matched
// probe has taken it.
func (e *Engine) onCancel(from fabric.Peer, req uint64) {
	if e.named == nil {
		e.named = map[name]match.Entry{}
		e.match.EachUnexpected(func(entry match.Entry, _ uint32, _, _ int32, id uint32) bool {
			e.nameOf(e.arrivals.at(id), entry)
			return true
		})
	}
	entry, here := e.named[name{uint32(from), req}]
	yes := here && e.forget(entry)
	e.loop.Conn(from).Post(wire.Cancelled, req, wire.MakeFlag(e.hdr[:], yes))
}

// onCancelled fails a send that was asked back. One that a receive has taken
// continues, and may have completed by now.
func (e *Engine) onCancelled(from fabric.Peer, op uint64, yes bool) bool {
	a, ok := e.asked[op]
	if !ok || a.peer != from || a.answered || yes && a.over {
		return false
	}
	if !yes && !a.over {
		a.answered = true
		e.asked[op] = a
		return true
	}
	delete(e.asked, op)
	if !yes {
		return true
	}
	r := e.loop.Named(e, op)
	if r == nil || r.Kind != kindSend || r.Step != stepAwait {
		return false
	}
	e.finishSend(r, a.err)
	return true
}
