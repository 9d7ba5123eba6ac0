package pt2pt

import (
	"context"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Send sends b in a mode. In standard mode it blocks until b may be used again:
// the message has been received or copied (MPI-4.0 §3.4).
func (e *Engine) Send(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) error {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	if owner && e.sendNow(mode, dest, wire.Imm(cid, tag), b) {
		e.loop.Leave()
		return nil
	}
	r := e.loop.Take(owner)
	fill(r, until, kindSend, dest, wire.Imm(cid, tag), b)
	r.Mode = uint8(mode)
	frames.Callers(&r.Place)
	_, err := e.run(r, owner)
	return err
}

// Recv blocks until a message has been received into b.
func (e *Engine) Recv(ctx context.Context, source int, cid uint32, tag int32, b []byte) (progress.Result, error) {
	until, imm := expiry.Of(ctx), wire.Imm(cid, tag)
	owner := e.loop.Enter()
	var r *progress.Request
	timed := owner && e.awaited.timed()
	if owner && !timed && tag >= 0 && e.awaitable(source) {
		if e.await(source, imm, b) {
			n := e.awaited.n
			e.loop.Leave()
			return progress.Result{Source: int32(source), Tag: tag, Bytes: uint64(n)}, nil
		}
		if r = e.awaited.giveUp(); r != nil {
			r.Until = until
			frames.Callers(&r.Place)
			return e.loop.Await(r)
		}
	}
	r = e.loop.Take(owner)
	fill(r, until, kindRecv, source, imm, b)
	r.Mode = blocking
	frames.Callers(&r.Place)
	if timed {
		r.Time()
	}
	return e.run(r, owner)
}

// TrySend sends a message in standard mode if it can go at once and needs no
// request. Local.
func (e *Engine) TrySend(dest int, cid uint32, tag int32, b []byte) bool {
	l := e.loop
	if !l.Enter() {
		return false
	}
	sent := e.sendNow(Standard, dest, wire.Imm(cid, tag), b)
	l.Leave()
	return sent
}

// Isend starts a send. Local; b is the engine's until the request completes.
func (e *Engine) Isend(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	if owner && e.sendNow(mode, dest, wire.Imm(cid, tag), b) {
		h := e.loop.Instant()
		e.loop.Leave()
		return h
	}
	r := e.loop.Take(owner)
	fill(r, until, kindSend, dest, wire.Imm(cid, tag), b)
	r.Mode = uint8(mode)
	frames.Callers(&r.Place)
	return e.start(r, owner)
}

// Irecv starts a receive. Local; b is the engine's until the request completes.
func (e *Engine) Irecv(ctx context.Context, source int, cid uint32, tag int32, b []byte) progress.Handle {
	until := expiry.Of(ctx)
	r, owner := e.loop.Open()
	fill(r, until, kindRecv, source, wire.Imm(cid, tag), b)
	frames.Callers(&r.Place)
	return e.start(r, owner)
}

// SendInit returns a persistent send, at rest (MPI-4.0 §3.9). Local; b is the
// engine's while the request is active.
func (e *Engine) SendInit(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	return e.persist(ctx, kindSend, mode, dest, cid, tag, &Data{Bytes: b})
}

// RecvInit returns a persistent receive, at rest. Local.
func (e *Engine) RecvInit(ctx context.Context, source int, cid uint32, tag int32, b []byte) progress.Handle {
	return e.persist(ctx, kindRecv, Standard, source, cid, tag, &Data{Bytes: b})
}

// Null returns the request of an operation with ProcNull, which has completed.
// Local.
func (e *Engine) Null() progress.Handle {
	r := e.loop.NewShared()
	fill(r, expiry.Expiry{}, kindRecv, ProcNull, wire.Imm(0, AnyTag), nil)
	return e.start(r, false)
}

// Every operation that needs a request takes one (Loop.Open, Loop.Take), fills
// it in, and begins it with start or run, which end the caller's ownership.
// owner is whether the caller owns the loop: if so the operation begins at once,
// otherwise the owner begins it.

// fill sets the operation of a request. One that was just taken has no Until.
func fill(r *progress.Request, until expiry.Expiry, kind uint8, peer int, imm uint64, b []byte) {
	r.Kind, r.Mode, r.Peer, r.Imm, r.Buf, r.Moved = kind, 0, int32(peer), imm, b, 0
	if !until.Never() {
		r.Until = until
	}
}

// start begins an operation and returns its handle. Local.
func (e *Engine) start(r *progress.Request, owner bool) progress.Handle {
	h := r.Handle()
	switch {
	case !owner:
		e.loop.Submit(e, r)
		return h
	case e.loop.Adopt(e, r): // not Begin, whose call of Start is indirect
		if r.Kind == kindRecv && r.Peer != ProcNull && e.unlike == 0 {
			e.startRecv(r) // a call less in the most frequent case
		} else {
			e.Start(r)
		}
	default:
		e.loop.Refuse(r)
	}
	e.loop.Leave()
	return h
}

// run begins an operation and waits for its completion.
func (e *Engine) run(r *progress.Request, owner bool) (progress.Result, error) {
	switch {
	case !owner:
		return e.loop.Do(e, r)
	case e.loop.Adopt(e, r):
		e.Start(r)
	default:
		e.loop.Refuse(r)
	}
	return e.loop.Await(r)
}
