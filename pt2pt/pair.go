package pt2pt

import (
	"context"
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// Isendrecv starts a send and a receive as one request, which ends when both
// have, with the receive's status (MPI-4.0 §3.7.2). Where one of the two ranks
// dies the other half is taken back, if it still can be: that rank may wait for
// us. It is local.
func (e *Engine) Isendrecv(ctx context.Context, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) progress.Handle {
	l := e.loop
	r := fill(l.NewShared(), progress.Expires(ctx), kindPair, e.rank, cid, recvtag, nil)
	callers(&r.Place)
	h := r.Handle()
	if l.Enter() {
		e.beginPair(r, cid, out, dest, sendtag, in, source, recvtag)
		l.Leave()
	} else {
		e.queuePair(r, cid, out, dest, sendtag, in, source, recvtag)
	}
	return h
}

// queuePair is apart so that only a pair that is queued makes a closure.
func (e *Engine) queuePair(r *progress.Request, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) {
	e.loop.Exclusive(func() { e.beginPair(r, cid, out, dest, sendtag, in, source, recvtag) })
}

// beginPair starts the halves of a pair.
func (e *Engine) beginPair(r *progress.Request, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) {
	l := e.loop
	if !l.Adopt(e, r) {
		l.Refuse(r)
		return
	}
	send := fill(l.New(), progress.Expiry{}, kindSend, dest, cid, sendtag, out)
	recv := fill(l.New(), progress.Expiry{}, kindRecv, source, cid, recvtag, in)
	r.Step, r.Halves = stepPair, [2]*progress.Request{recv, send}
	send.Pair, recv.Pair, send.Step = r, r, 0 // not started
	l.Orphan(e, recv, e.halfEnded)
	if errors.Is(e.pairErrs[r], fabric.ErrPeerDown) {
		send.Pair, r.Halves[1] = nil, nil
		l.Free(send)
		e.endPair(r)
		return
	}
	l.Orphan(e, send, e.halfEnded)
}

// endHalf takes the end of one half of a pair. The pair ends with the other, and
// with the first error.
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
	if other != nil && errors.Is(err, fabric.ErrPeerDown) {
		e.Cancel(other, err)
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
