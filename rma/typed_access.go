package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// In a window with separate memory each piece of an operation is announced before it
// comes. The target compares what the elements touch, not what lies between them:
// columns of one matrix do not conflict.

// ownTyped is own.
func (c *checker) ownTyped(x *Typed, s *sides, line string) {
	y := typedAction{x: *x}
	a := c.describe(y.shape(), true, line)
	lo, _, _ := x.Type.Span(x.Count)
	for off, n := range s.to.Runs(x.bytes()) {
		c.arrives(*a, uint64(x.At+lo+off), uint64(n))
	}
	s.to.Seek(0)
}

// announceTyped tells the target of a piece.
func (o *action) announceTyped(ep fabric.Endpoint, p wire.Piece, n int) (err error) {
	e, a, line := o.w.e, o.act, []byte(lastOf(o.act.line, o.t.caps.MaxEager))
	x := wire.Access{At: p.At, Bytes: uint64(n), Phase: a.phase, Call: uint8(a.call), Code: uint8(a.code), Kind: uint8(a.kind), Ends: uint8(a.epoch)}
	if y := o.typed; y.form == asType {
		t := y.piece(p)
		t.Code, t.Kind = x.Code, x.Kind
		err = ep.Send(wire.RAccessTyped, uint64(o.w.id), wire.MakeRAccessTyped(e.hdr[:], t, x.Bytes, x), line)
	} else {
		err = ep.Send(wire.RAccess, uint64(o.w.id), wire.MakeRAccess(e.hdr[:], x), line)
	}
	if err == nil {
		o.t.unacked = true // a Get ends with a flush, too
	}
	return err
}

// onAccessTyped is onAccess.
func (e *Engine) onAccessTyped(from fabric.Peer, imm uint64, h wire.RAccessTypedHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	x := h.Access()
	a := access{origin: w.rankOf(from), call: accessCall(x.Call), code: op.Code(x.Code), kind: op.Kind(x.Kind), epoch: accessEpoch(x.Ends),
		phase: x.Phase, line: string(body)}
	switch {
	case w.check == nil, a.call < accessPut || a.call > accessFetch, !a.possible(), a.epoch >= accessEpochs, len(body) > mostLine,
		h.Bytes() > uint64(e.loop.Via(from).Caps().MaxEager):
		return false
	}
	var p typedPiece
	if v, _, _ := p.open(w, from, h.Piece(), h.Bytes()); v != isSound {
		return v == isRefused // the operation itself tells the peer
	}
	for at := 0; at < p.n; {
		off, n := p.at.Next(p.n - at)
		w.check.arrives(a, p.low+uint64(off), uint64(n))
		at += n
	}
	return true
}
