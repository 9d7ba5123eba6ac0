package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// sendSelf sends a message of this rank to itself. A short one without a receive
// is copied, so that Send to oneself before Recv completes as it does towards
// any other rank. A long one stays in the sender's buffer.
func (e *Engine) sendSelf(r *progress.Request) {
	r.Path = pathSelf
	if e.tracer != nil {
		e.tracer.self(r)
	}
	e.peers[e.rank].traffic.received[pathSelf].Add(r.Size())
	cid, tag := wire.Match(r.Imm)
	if id, ok := e.match.Arrive(cid, int32(e.rank), tag); ok {
		to := e.loop.Request(id)
		e.move(to, r)
		n := r.Size()
		e.finishSend(r, nil)
		e.finishRecv(to, e.rank, tag, n)
		return
	}
	if e.shut > 0 && e.deafTo(r.Imm) {
		err := error(nil)
		if !e.copySelf(r) {
			err = received(fabric.Peer(e.rank), wire.Freed)
		}
		e.refuse(fabric.Peer(e.rank), kindOwn, r.Imm, 0, r.Size())
		e.finishSend(r, err)
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.total = uint32(e.rank), r.Imm, r.Size()
	a.ready = Mode(r.Mode) == Ready
	if e.copySelf(r) {
		a.kind = wire.Eager
		e.arrivals.store(a, append(e.buffers.take(int(r.Size())), e.piece(r, 0, r.Size())...))
		e.finishSend(r, nil)
		e.keep(id, a)
		return
	}
	a.kind, a.req = kindOwn, uint64(r.Op())
	r.Step = stepSelf
	r.Entry = uint64(e.keep(id, a))
}

// copySelf reports whether a send to this rank itself is copied.
func (e *Engine) copySelf(r *progress.Request) bool {
	p := &e.peers[e.rank]
	return Mode(r.Mode) != Synchronous && r.Size() <= uint64(e.caps.MaxEager) &&
		p.unexpected < e.limits.PeerBytes && p.held < e.limits.PeerMessages
}
