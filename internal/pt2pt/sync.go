package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// sendSync sends a short message whose receiver replies with FIN once a receive
// has taken it (MPI-4.0 §3.4, synchronous mode).
func (e *Engine) sendSync(ep fabric.Endpoint, r *progress.Request) error {
	return e.awaitFIN(r, e.sendPart(ep, wire.EagerSync, r.Imm, wire.MakeNumber(e.hdr[:], uint64(r.Op())), r, 0, r.Size()))
}

// awaitFIN has a send wait for its receiver, once its packet has left: err is nil.
func (e *Engine) awaitFIN(r *progress.Request, err error) error {
	switch err {
	case nil:
		r.Step = stepAwait
		if e.tracer != nil {
			e.tracer.left(r)
		}
	case fabric.ErrAgain:
	default:
		e.finishSend(r, err)
	}
	return err
}

// acknowledge tells a sender that its message has been received.
func (e *Engine) acknowledge(to fabric.Peer, req uint64, o wire.Outcome) {
	e.loop.Conn(to).Post(wire.FIN, req, wire.MakeFIN(e.hdr[:], o))
}

// onFIN completes a send that waits for its receiver.
func (e *Engine) onFIN(from fabric.Peer, op uint64, o wire.Outcome) bool {
	r := e.loop.Named(e, op)
	if r == nil || r.Kind != kindSend || r.Step != stepAwait || r.Peer != int32(from) {
		return false
	}
	e.finishSend(r, received(from, o))
	return true
}

// received is the error of a send by the outcome that its receiver has reported.
func received(by fabric.Peer, o wire.Outcome) error {
	switch o {
	case wire.Lost:
		return &fabric.Error{Op: "send", Peer: by, HasPeer: true, Err: ErrNotFetched}
	case wire.Late:
		return &fabric.Error{Op: "ready send", Peer: by, HasPeer: true, Err: cause.ErrNotReady}
	case wire.Freed:
		return &fabric.Error{Op: "send", Peer: by, HasPeer: true, Err: ErrFreed}
	}
	return nil
}
