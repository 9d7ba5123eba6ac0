package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

func (e *Engine) sendEager(ep fabric.Endpoint, r *progress.Request) error {
	kind := wire.Eager
	if Mode(r.Mode) == Ready {
		kind = wire.EagerReady
	}
	err := ep.Send(kind, r.Imm, nil, e.piece(r, 0, r.Size()))
	if err != fabric.ErrAgain {
		e.finishSend(r, err)
	}
	return err
}

// onEager takes a whole message. req is the sender's request that waits for the
// receive, with EagerSync.
func (e *Engine) onEager(from fabric.Peer, kind uint8, imm, req uint64, body []byte) {
	e.peers[from].eager.add(uint64(len(body)))
	cid, tag := wire.Match(imm)
	if id, ok := e.match.Arrive(cid, int32(from), tag); ok {
		r := e.loop.Request(id)
		if r.Plain() {
			place(r.Buf, body)
		} else {
			put(r, 0, body)
		}
		if kind == wire.EagerSync {
			e.acknowledge(from, req, wire.Received)
		}
		e.finishRecv(r, int(from), tag, uint64(len(body)))
		return
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.kind, a.req, a.total = uint32(from), imm, kind, req, uint64(len(body))
	if kind == wire.EagerReady {
		a.kind, a.ready = wire.Eager, true
	}
	e.arrivals.store(a, append(e.buffers.take(len(body)), body...))
	e.keep(id, a)
}
