package pt2pt

import (
	"context"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// The calls for memory of either kind, a slice of bytes or a layout. Each does what
// the call of its name does with bytes.

// Data is the memory of a message: Bytes, or if that is nil a Layout of Size bytes. It
// is the engine's as long as a buffer is, and so is the Layout, until the engine frees
// it. Each call may be given another pointer to the same memory, but a Layout is used
// by one operation.
type Data struct {
	Bytes  []byte
	Layout progress.Layout
	Size   uint64
	// Place, unless nil, is where the program makes the call, see progress.Request, in place
	// of what the frames say.
	Place *[3]uintptr
}

// placed has a request name the place.
func (d *Data) placed(r *progress.Request) {
	if d.Place != nil {
		r.Place = *d.Place
	}
}

// fillData is fill for a message's memory of either kind.
func fillData(r *progress.Request, until expiry.Expiry, kind uint8, peer int, imm uint64, d *Data) {
	fill(r, until, kind, peer, imm, d.Bytes)
	if d.Layout != nil {
		r.SetLayout(d.Layout, d.Size)
	}
}

// sendDataNow is sendNow for memory of either kind. A layout is freed if it has been
// sent.
func (e *Engine) sendDataNow(mode Mode, dest int, imm uint64, d *Data) bool {
	if d.Layout == nil {
		return e.sendNow(mode, dest, imm, d.Bytes)
	}
	p := &e.peers[dest]
	if d.Size > uint64(p.short) || p.gate&^traced != 0 || dest == e.rank || e.loop.Conn(fabric.Peer(dest)).Busy() {
		return false
	}
	b := e.scratch(int(d.Size))
	d.Layout.Pack(b, 0)
	if !e.sendNow(mode, dest, imm, b) {
		return false
	}
	d.Layout.Free()
	return true
}

// SendData is Send.
func (e *Engine) SendData(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, d *Data) error {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	if owner && e.sendDataNow(mode, dest, wire.Imm(cid, tag), d) {
		e.loop.Leave()
		return nil
	}
	r := e.loop.Take(owner)
	fillData(r, until, kindSend, dest, wire.Imm(cid, tag), d)
	r.Mode = uint8(mode)
	frames.Callers(&r.Place)
	_, err := e.run(r, owner)
	return err
}

// RecvData is Recv.
func (e *Engine) RecvData(ctx context.Context, source int, cid uint32, tag int32, d *Data) (progress.Result, error) {
	until, imm := expiry.Of(ctx), wire.Imm(cid, tag)
	owner := e.loop.Enter()
	var r *progress.Request
	timed := owner && e.awaited.timed()
	if owner && !timed && tag >= 0 && e.header == 0 && e.awaitable(source) {
		if d.Layout != nil {
			e.awaited.room = *d
		}
		if e.await(source, imm, d.Bytes) {
			n := e.awaited.n
			if d.Layout != nil {
				e.awaited.room = Data{}
				d.Layout.Free()
			}
			e.loop.Leave()
			return progress.Result{Source: int32(source), Tag: tag, Bytes: uint64(n)}, nil
		}
		if r = e.awaited.giveUp(); r != nil {
			r.Until = until
			frames.Callers(&r.Place)
			d.placed(r)
			return e.loop.Await(r)
		}
	}
	r = e.loop.Take(owner)
	fillData(r, until, kindRecv, source, imm, d)
	r.Mode = blocking
	frames.Callers(&r.Place)
	d.placed(r)
	if timed {
		r.Time()
	}
	return e.run(r, owner)
}

// TrySendData is TrySend. If it returns false the memory is the caller's still.
func (e *Engine) TrySendData(dest int, cid uint32, tag int32, d *Data) bool {
	l := e.loop
	if !l.Enter() {
		return false
	}
	sent := e.sendDataNow(Standard, dest, wire.Imm(cid, tag), d)
	l.Leave()
	return sent
}

// IsendData is Isend.
func (e *Engine) IsendData(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, d *Data) progress.Handle {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	if owner && e.sendDataNow(mode, dest, wire.Imm(cid, tag), d) {
		h := e.loop.Instant()
		e.loop.Leave()
		return h
	}
	r := e.loop.Take(owner)
	fillData(r, until, kindSend, dest, wire.Imm(cid, tag), d)
	r.Mode = uint8(mode)
	frames.Callers(&r.Place)
	d.placed(r)
	return e.start(r, owner)
}

// IrecvData is Irecv.
func (e *Engine) IrecvData(ctx context.Context, source int, cid uint32, tag int32, d *Data) progress.Handle {
	until := expiry.Of(ctx)
	r, owner := e.loop.Open()
	fillData(r, until, kindRecv, source, wire.Imm(cid, tag), d)
	frames.Callers(&r.Place)
	d.placed(r)
	return e.start(r, owner)
}

// SendInitData is SendInit.
func (e *Engine) SendInitData(ctx context.Context, mode Mode, dest int, cid uint32, tag int32, d *Data) progress.Handle {
	return e.persist(ctx, kindSend, mode, dest, cid, tag, d)
}

// RecvInitData is RecvInit.
func (e *Engine) RecvInitData(ctx context.Context, source int, cid uint32, tag int32, d *Data) progress.Handle {
	return e.persist(ctx, kindRecv, Standard, source, cid, tag, d)
}

func (e *Engine) persist(ctx context.Context, kind uint8, mode Mode, peer int, cid uint32, tag int32, d *Data) progress.Handle {
	r := e.loop.NewShared()
	fillData(r, expiry.Of(ctx), kind, peer, wire.Imm(cid, tag), d)
	r.Mode = uint8(mode)
	frames.Callers(&r.Place)
	return e.loop.Persist(e, r)
}

// IsendrecvData is Isendrecv.
func (e *Engine) IsendrecvData(ctx context.Context, cid uint32, out *Data, dest int, sendtag int32, in *Data, source int, recvtag int32) progress.Handle {
	var place [3]uintptr
	frames.Callers(&place)
	return e.pair(ctx, cid, out, dest, sendtag, in, source, recvtag, uint8(Standard), place)
}

// SendrecvData is Sendrecv.
func (e *Engine) SendrecvData(ctx context.Context, cid uint32, out *Data, dest int, sendtag int32, in *Data, source int, recvtag int32) (progress.Result, error) {
	var place [3]uintptr
	frames.Callers(&place)
	h := e.pair(ctx, cid, out, dest, sendtag, in, source, recvtag, blocking, place)
	return progress.WaitResult(&h)
}

// pair starts a send and a receive, the latter in a mode. place is where the program is:
// it is taken no further from it than in the other calls.
func (e *Engine) pair(ctx context.Context, cid uint32, out *Data, dest int, sendtag int32, in *Data, source int, recvtag int32, mode uint8, place [3]uintptr) progress.Handle {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	r := e.loop.Take(owner)
	fill(r, until, kindPair, e.rank, wire.Imm(cid, recvtag), nil)
	r.Place = place
	send := e.loop.Take(owner)
	fillData(send, expiry.Expiry{}, kindSend, dest, wire.Imm(cid, sendtag), out)
	recv := e.loop.Take(owner)
	fillData(recv, expiry.Expiry{}, kindRecv, source, wire.Imm(cid, recvtag), in)
	recv.Mode = mode
	send.Pair, recv.Pair, r.Halves = r, r, [2]*progress.Request{recv, send}
	return e.start(r, owner)
}

// MrecvData is Mrecv.
func (e *Engine) MrecvData(ctx context.Context, m *Message, d *Data) (progress.Result, error) {
	r, owner := e.openMrecv(ctx, m, d)
	return e.run(r, owner)
}

// ImrecvData is Imrecv. Local.
func (e *Engine) ImrecvData(ctx context.Context, m *Message, d *Data) progress.Handle {
	r, owner := e.openMrecv(ctx, m, d)
	return e.start(r, owner)
}

func (e *Engine) openMrecv(ctx context.Context, m *Message, d *Data) (r *progress.Request, owner bool) {
	until := expiry.Of(ctx)
	owner = e.loop.Enter()
	r = e.loop.Take(owner)
	fillData(r, until, kindMrecv, e.rank, wire.Imm(0, 0), d)
	frames.Callers(&r.Place)
	r.Found = m.name()
	*m = Message{}
	return r, owner
}
