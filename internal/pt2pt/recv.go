package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// startRecv takes a message that is here already, or posts the receive.
func (e *Engine) startRecv(r *progress.Request) {
	cid, tag := wire.Match(r.Imm)
	if e.match.Unexpected() > 0 {
		if id, ok := e.match.TakeUnexpected(cid, r.Peer, tag); ok {
			e.takeArrival(r, id)
			return
		}
	}
	if e.dead != nil && wire.Library(cid) {
		if err := e.deathIn(cid); err != nil {
			e.failRecv(r, err)
			return
		}
	}
	if r.Peer < 0 || !e.loop.Connected(fabric.Peer(r.Peer)) {
		if err := e.nothingComes(r, cid); err != nil {
			e.failRecv(r, err)
			return
		}
	}
	r.Step = stepPosted
	r.Entry = uint64(e.match.Post(cid, r.Peer, tag, r.Index()))
}

// sourceDown returns why no message can come from the source any more, or nil.
// It connects, which also makes the fabric watch the peer: a receive from a rank
// that dies must fail. A wildcard receive fails with the last of the other
// ranks, or at once if they are all down. In a communicator of two that is
// certain; in a larger one it depends on the connected ranks.
func (e *Engine) sourceDown(source int, cid uint32, ranks *group.Map) error {
	switch {
	case source == e.rank:
		return nil
	case source != AnySource:
		return e.loop.Conn(fabric.Peer(source)).Down()
	case ranks != nil:
		return e.othersDown(cid, ranks, true)
	case len(e.peers) == 2:
		return e.loop.Conn(fabric.Peer(1 - e.rank)).Down()
	}
	return e.alone
}

// finishRecv completes a receive whose bytes are in place. A message longer than
// the buffer is consumed all the same (MPI-4.0 §3.2.4).
func (e *Engine) finishRecv(r *progress.Request, source int, tag int32, total uint64) {
	var err error
	room := uint64(len(r.Buf))
	if r.Plain() {
		r.Result = progress.Result{Source: int32(source), Tag: tag, Bytes: total}
	} else {
		total, room, err = e.verdict(r, total)
		setResult(r, source, tag, total)
	}
	if err == nil && total > room {
		err = &cause.TruncateError{Length: total, Room: room}
	}
	e.loop.Finish(r, err)
}

// failRecv fails a receive whose message is lost.
func (e *Engine) failRecv(r *progress.Request, err error) {
	_, tag := wire.Match(r.Imm)
	setResult(r, int(r.Peer), tag, 0)
	e.loop.Finish(r, e.inRanks(cidOf(r), r.Ranks(), err))
}
