package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

func (e *Engine) sendEager(ep fabric.Endpoint, r *progress.Request) error {
	kind := wire.Eager
	if Mode(r.Mode) == Ready {
		kind = wire.EagerReady
	}
	err := e.sendPart(ep, kind, r.Imm, nil, r, 0, r.Size())
	if err != fabric.ErrAgain {
		if e.tracer != nil && err == nil {
			e.tracer.left(r)
		}
		e.finishSend(r, err)
	}
	return err
}

// receive gives a whole message to its receive. It returns false if none is
// posted.
func (e *Engine) receive(from fabric.Peer, imm uint64, body []byte) bool {
	e.peers[from].traffic.received[pathEager].Add(uint64(len(body)))
	if e.awaited.arrives(from, imm, body) {
		return true
	}
	id, ok := e.arrive(from, imm)
	if !ok {
		return false
	}
	r := e.loop.Request(id)
	_, tag := wire.Match(imm)
	if r.Plain() && len(body) <= len(r.Buf) {
		place(r.Buf, body)
		r.Result = progress.Result{Source: int32(from), Tag: tag, Bytes: uint64(len(body))}
		e.loop.Finish(r, nil)
		return true
	}
	put(r, 0, body)
	e.finishRecv(r, int(from), tag, uint64(len(body)))
	return true
}

// onEager takes a whole message. req is the sender's request that waits for the
// receive, with EagerSync.
func (e *Engine) onEager(from fabric.Peer, kind uint8, imm, req uint64, body []byte) {
	if e.receive(from, imm, body) {
		if kind == wire.EagerSync {
			e.acknowledge(from, req, wire.Received)
		}
		return
	}
	e.keepEager(from, kind, imm, req, body)
}

// keepEager keeps a whole message until its receive comes.
func (e *Engine) keepEager(from fabric.Peer, kind uint8, imm, req uint64, body []byte) {
	if e.shut > 0 && e.deafTo(imm) {
		e.refuse(from, kind, imm, req, uint64(len(body)))
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
