package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// sendSelf sends a message of this rank to itself. A short one that no receive
// waits for is copied, so that Send to oneself before Recv completes as far as
// it does towards any other rank; a long one stays in the sender's buffer.
func (e *Engine) sendSelf(r *progress.Request) {
	cid, tag := wire.Match(r.Imm)
	if id, ok := e.match.Arrive(cid, int32(e.rank), tag); ok {
		to := e.loop.Request(id)
		copy(to.Buf, r.Buf)
		n := uint64(len(r.Buf))
		e.finishSend(r, nil)
		e.finishRecv(to, e.rank, tag, n)
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm = fabric.Peer(e.rank), r.Imm
	a.total, a.got = uint64(len(r.Buf)), uint64(len(r.Buf))
	if len(r.Buf) <= e.caps.MaxEager && e.peers[e.rank].unexpected < e.marks.high {
		a.kind = wire.Eager
		a.body = append(e.buffers.take(len(r.Buf)), r.Buf...)
		e.keep(id, a)
		e.finishSend(r, nil)
		return
	}
	a.kind, a.sender = kindOwn, r
	e.keep(id, a)
	r.Step, r.Entry = stepSelf, a.entry
}
