package pt2pt

import (
	"context"

	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// Send blocks until b may be used again: the message has been received or
// copied (MPI-4.0 §3.4, standard mode).
func (e *Engine) Send(ctx context.Context, dest int, cid uint32, tag int32, b []byte) error {
	l, until := e.loop, progress.Expires(ctx)
	if !l.Enter() {
		r := fill(l.NewShared(), until, kindSend, dest, cid, tag, b)
		callers(&r.Place)
		_, err := l.Do(e, r)
		return err
	}
	if e.sendNow(wire.Eager, dest, wire.Imm(cid, tag), b) {
		l.Leave()
		return nil
	}
	r := fill(l.New(), until, kindSend, dest, cid, tag, b)
	callers(&r.Place)
	l.Begin(e, r)
	_, err := l.Await(r)
	return err
}

// SendMode is Send in any mode.
func (e *Engine) SendMode(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) error {
	l, until := e.loop, progress.Expires(ctx)
	if !l.Enter() {
		r := fill(l.NewShared(), until, kindSend, dest, cid, tag, b)
		r.Mode = uint8(mode)
		callers(&r.Place)
		_, err := l.Do(e, r)
		return err
	}
	if e.sendsNow(mode, dest, wire.Imm(cid, tag), b) {
		l.Leave()
		return nil
	}
	r := fill(l.New(), until, kindSend, dest, cid, tag, b)
	callers(&r.Place)
	r.Mode = uint8(mode)
	l.Begin(e, r)
	_, err := l.Await(r)
	return err
}

// Recv blocks until a message has been received into b.
func (e *Engine) Recv(ctx context.Context, source int, cid uint32, tag int32, b []byte) (progress.Result, error) {
	l, until := e.loop, progress.Expires(ctx)
	if !l.Enter() {
		r := fill(l.NewShared(), until, kindRecv, source, cid, tag, b)
		callers(&r.Place)
		return l.Do(e, r)
	}
	r := l.New()
	set(r, kindRecv, source, cid, tag, b)
	if ctx != nil {
		r.Until = until
	}
	callers(&r.Place)
	if l.Adopt(e, r) {
		e.startRecv(r)
	} else {
		l.Refuse(r)
	}
	return l.Await(r)
}

// TrySend sends a message that can go at once, in standard mode, and needs no
// request. It is local.
func (e *Engine) TrySend(dest int, cid uint32, tag int32, b []byte) bool {
	l := e.loop
	if !l.Enter() {
		return false
	}
	sent := e.sendNow(wire.Eager, dest, wire.Imm(cid, tag), b)
	l.Leave()
	return sent
}

// Isend starts a send. It is local; b is the engine's until the request ends.
func (e *Engine) Isend(ctx context.Context, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	l := e.loop
	if l.Enter() {
		if e.sendNow(wire.Eager, dest, wire.Imm(cid, tag), b) {
			h := l.Instant()
			l.Leave()
			return h
		}
		l.Leave()
	}
	return e.isend(ctx, Standard, dest, cid, tag, b)
}

// IsendMode is Isend in any mode.
func (e *Engine) IsendMode(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	l := e.loop
	if l.Enter() {
		if e.sendsNow(mode, dest, wire.Imm(cid, tag), b) {
			h := l.Instant()
			l.Leave()
			return h
		}
		l.Leave()
	}
	return e.isend(ctx, mode, dest, cid, tag, b)
}

// isend starts a send that could not go at once.
func (e *Engine) isend(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	l, until := e.loop, progress.Expires(ctx)
	owner := l.Enter()
	var r *progress.Request
	if owner {
		r = l.New()
	} else {
		r = l.NewShared()
	}
	fill(r, until, kindSend, dest, cid, tag, b)
	r.Mode = uint8(mode)
	callers(&r.Place)
	if !owner {
		return e.submit(r)
	}
	h := r.Handle()
	l.Begin(e, r)
	l.Leave()
	return h
}

// Irecv starts a receive. It is local; b is the engine's until the request
// ends.
func (e *Engine) Irecv(ctx context.Context, source int, cid uint32, tag int32, b []byte) progress.Handle {
	l, until := e.loop, progress.Expires(ctx)
	if !l.Enter() {
		r := fill(l.NewShared(), until, kindRecv, source, cid, tag, b)
		callers(&r.Place)
		return e.submit(r)
	}
	r := l.New()
	set(r, kindRecv, source, cid, tag, b)
	if ctx != nil {
		r.Until = until
	}
	callers(&r.Place)
	h := r.Handle()
	if l.Adopt(e, r) {
		e.startRecv(r)
	} else {
		l.Refuse(r)
	}
	l.Leave()
	return h
}

// SendInit returns a persistent send, at rest (MPI-4.0 §3.9). It is local; b is
// the engine's while the request is active.
func (e *Engine) SendInit(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	return e.persist(ctx, kindSend, mode, dest, cid, tag, b)
}

// RecvInit returns a persistent receive, at rest. It is local.
func (e *Engine) RecvInit(ctx context.Context, source int, cid uint32, tag int32, b []byte) progress.Handle {
	return e.persist(ctx, kindRecv, Standard, source, cid, tag, b)
}

func (e *Engine) persist(ctx context.Context, kind uint8, mode Mode, peer int, cid uint32, tag int32, b []byte) progress.Handle {
	s := progress.Saved{Sink: e, Until: progress.Expires(ctx), Buf: b, Imm: wire.Imm(cid, tag), Peer: int32(peer), Kind: kind, Mode: uint8(mode)}
	if kind == kindSend && mode == Standard && peer != ProcNull {
		s.Now = e.again(peer, s.Imm, b)
	}
	if kind == kindRecv && peer != ProcNull {
		s.Begin = e.startRecv
	}
	callers(&s.Place)
	return e.loop.Persist(s)
}

// Null returns the request of an operation with ProcNull, which has ended. It is
// local.
func (e *Engine) Null() progress.Handle {
	return e.submit(fill(e.loop.NewShared(), progress.Expiry{}, kindRecv, ProcNull, 0, AnyTag, nil))
}

// submit leaves an operation to the owner of the loop.
func (e *Engine) submit(r *progress.Request) progress.Handle {
	h := r.Handle()
	e.loop.Submit(e, r)
	return h
}

func fill(r *progress.Request, until progress.Expiry, kind uint8, peer int, cid uint32, tag int32, b []byte) *progress.Request {
	set(r, kind, peer, cid, tag, b)
	r.Until = until
	return r
}

// set is fill without the context: Recv and Irecv inline both, one call less on
// the hot path.
func set(r *progress.Request, kind uint8, peer int, cid uint32, tag int32, b []byte) {
	r.Kind, r.Mode, r.Peer, r.Imm, r.Buf, r.Moved = kind, 0, int32(peer), wire.Imm(cid, tag), b, 0
}
