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
	l.Exclusive(func() {
		if !l.Adopt(e, r) {
			l.Refuse(r)
			return
		}
		send := fill(l.New(), progress.Expiry{}, kindSend, dest, cid, sendtag, out)
		recv := fill(l.New(), progress.Expiry{}, kindRecv, source, cid, recvtag, in)
		r.Step, r.Link, r.Back = stepPair, recv, send
		var first error
		ended := func(part *progress.Request, err error) {
			if part == recv {
				r.Result, r.Link = part.Result, nil
			} else {
				r.Back = nil
			}
			other := r.Link
			if other == nil {
				other = r.Back
			}
			if first == nil {
				first = err
			}
			if other != nil && errors.Is(err, fabric.ErrPeerDown) {
				e.Cancel(other, err)
			}
			if r.Link == nil && r.Back == nil && !l.Over() {
				l.Finish(r, first)
			}
		}
		l.Orphan(e, recv, ended)
		l.Orphan(e, send, ended)
	})
	return h
}
