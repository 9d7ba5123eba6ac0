package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

func (e *Engine) sendEager(ep fabric.Endpoint, r *progress.Request) error {
	err := ep.Send(wire.Eager, r.Imm, nil, r.Buf)
	if err != fabric.ErrAgain {
		e.finishSend(r, err)
	}
	return err
}

// onEager takes a whole message.
func (e *Engine) onEager(from fabric.Peer, imm uint64, body []byte) {
	cid, tag := wire.Match(imm)
	if id, ok := e.match.Arrive(cid, int32(from), tag); ok {
		r := e.loop.Request(id)
		copy(r.Buf, body)
		e.finishRecv(r, int(from), tag, uint64(len(body)))
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.kind = from, imm, wire.Eager
	a.body = append(e.buffers.take(len(body)), body...)
	a.total, a.got = uint64(len(body)), uint64(len(body))
	e.keep(id, a)
}
