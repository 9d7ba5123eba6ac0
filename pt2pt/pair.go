package pt2pt

import (
	"context"

	"github.com/weft-mpi/weft/progress"
)

// Isendrecv starts a send and a receive as one request, which ends when both
// have, with the receive's status (MPI-4.0 §3.7.2). It is local.
func (e *Engine) Isendrecv(ctx context.Context, cid uint32, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) progress.Handle {
	l := e.loop
	r := fill(l.NewShared(), ctx, kindPair, e.rank, cid, recvtag, nil)
	callers(&r.Place)
	h := r.Handle()
	l.Exclusive(func() {
		if !l.Adopt(e, r) {
			l.Refuse(r)
			return
		}
		send := fill(l.New(), nil, kindSend, dest, cid, sendtag, out)
		recv := fill(l.New(), nil, kindRecv, source, cid, recvtag, in)
		r.Step, r.Link, r.Back = stepPair, recv, send
		var first error
		ended := func(part *progress.Request, err error) {
			if part == recv {
				r.Result, r.Link = part.Result, nil
			} else {
				r.Back = nil
			}
			if first == nil {
				first = err
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
