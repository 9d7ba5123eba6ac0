package pt2pt

import (
	"context"
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// Isendrecv starts a send and a receive as one request, which completes when
// both have, with the receive's status (MPI-4.0 §3.7.2). If one of the two ranks
// dies, the other half is withdrawn if it still can be: that rank may wait for
// us. Local.
func (e *Engine) Isendrecv(ctx context.Context, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) progress.Handle {
	return e.IsendrecvData(ctx, cid, &Data{Bytes: out}, dest, sendtag, &Data{Bytes: in}, source, recvtag)
}

// Sendrecv is Isendrecv and the wait for it.
func (e *Engine) Sendrecv(ctx context.Context, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) (progress.Result, error) {
	return e.SendrecvData(ctx, cid, &Data{Bytes: out}, dest, sendtag, &Data{Bytes: in}, source, recvtag)
}

// startPair starts the halves of a pair.
func (e *Engine) startPair(r *progress.Request) {
	recv, send := r.Halves[0], r.Halves[1]
	r.Step, send.Step = stepPair, 0 // the send is not started
	e.loop.Orphan(e, recv, e.halfEnded)
	if errors.Is(e.pairErrs[r], fabric.ErrPeerDown) {
		send.Pair, r.Halves[1] = nil, nil
		e.loop.Free(send)
		e.endPair(r)
		return
	}
	e.loop.Orphan(e, send, e.halfEnded)
}

// endHalf takes the completion of one half of a pair. The pair completes with
// the other half, and with the first error.
func (e *Engine) endHalf(half *progress.Request, err error) {
	r := half.Pair
	half.Pair = nil
	other := r.Halves[0]
	if half == r.Halves[0] {
		r.Result, r.Halves[0], other = half.Result, nil, r.Halves[1]
	} else {
		r.Halves[1] = nil
	}
	if err != nil && e.pairErrs[r] == nil {
		e.pairErrs[r] = err
	}
	if other != nil && errors.Is(err, fabric.ErrPeerDown) && e.Cancel(other, err) {
		return // the end of the other half has completed the pair, whose slot may be free
	}
	if r.Halves[0] == nil && r.Halves[1] == nil {
		e.endPair(r)
	}
}

func (e *Engine) endPair(r *progress.Request) {
	first := e.pairErrs[r]
	delete(e.pairErrs, r)
	if !r.Done() && !e.loop.Over() {
		e.loop.Finish(r, first)
	}
}
