package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// spanOf is the memory of this rank's part that elements touch, of which at is where
// displacement 0 would be. An error is a *RangeError.
func (w *Win) spanOf(t *datatype.Type, count, at int) ([]byte, error) {
	lo, hi, err := t.Span(count)
	if err != nil {
		return nil, err
	}
	n := uint64(hi - lo)
	from := uint64(at) + uint64(lo)
	if lo < 0 && at < -lo || int(from) < 0 { // at is not negative
		return nil, &RangeError{w.rank, from, n}
	}
	var mem []byte
	switch size := uint64(len(w.mem)); {
	case w.dynamic:
		mem = w.find(from, n)
	case from <= size && n <= size-from:
		mem = w.mem[from : from+n : from+n]
	}
	if mem == nil {
		return nil, &RangeError{w.rank, from, n}
	}
	return mem, nil
}

// typedPiece is a piece of an operation of a peer, on elements of a type.
type typedPiece struct {
	code op.Code
	kind op.Kind
	at   datatype.Cursor // at its first byte
	mem  []byte          // what the elements touch
	low  uint64          // where that begins in the part
	n    int
}

// verdict is what becomes of a packet.
type verdict uint8

const (
	isBroken  verdict = iota // no window here can have asked for it
	isRefused                // the peer is told why
	isSound
)

// open finds the memory of a piece of n bytes. One that is refused leaves what the peer is
// told of it: the place and the length.
func (p *typedPiece) open(w *Win, from fabric.Peer, h wire.TypedPiece, n uint64) (v verdict, at, bytes uint64) {
	t := w.e.typeOf(from, h.Type)
	if t == nil {
		return isRefused, wire.RUnknown, n
	}
	p.code, p.kind, p.n = op.Code(h.Code), op.Kind(h.Kind), int(n)
	count := int(h.Count)
	size, err := t.PackSize(count)
	if err != nil || n == 0 || h.Offset > uint64(size) || n > uint64(size)-h.Offset || !p.fits(t, int(h.Offset)) {
		return isBroken, 0, 0
	}
	p.mem, err = w.spanOf(t, count, int(h.At))
	if err != nil {
		if e, is := err.(*RangeError); is && w.dynamic {
			return isRefused, e.Addr, e.Bytes
		}
		return isBroken, 0, 0
	}
	lo, _, _ := t.Span(count)
	p.low = h.At + uint64(lo)
	if p.at.ResetSpan(t, count, p.mem) != nil {
		return isBroken, 0, 0
	}
	p.at.Seek(int(h.Offset))
	return isSound, 0, 0
}

// fits reports whether the operator goes with the elements, which are whole.
func (p *typedPiece) fits(t *datatype.Type, offset int) bool {
	if p.code == codeBytes {
		return p.kind == 0
	}
	k, ok := t.Kind()
	if !ok || p.kind == 0 || KindOf(k) != p.kind || offset%sizeOfKind(p.kind) != 0 {
		return false
	}
	return fits(p.code, p.kind, p.n) || FitsPairs(p.code, p.kind) && p.n%sizeOfKind(p.kind) == 0
}

// combine accumulates operands to the piece. They may be nil with NoOp, and old always.
func (p *typedPiece) combine(operands, old []byte) {
	if isPair(p.kind) {
		combinePairs(p.code, p.kind, &p.at, operands, old)
		return
	}
	for at := 0; at < p.n; {
		off, n := p.at.Next(p.n - at)
		combine(p.code, p.kind, p.mem[off:off+n], cut(operands, at, n), cut(old, at, n))
		at += n
	}
}

// onAccTyped is onAcc.
func (e *Engine) onAccTyped(from fabric.Peer, imm uint64, h wire.RAccTypedHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	var p typedPiece
	switch v, at, n := p.open(w, from, h.Piece(), uint64(len(body))); v {
	case isBroken:
		return false
	case isRefused:
		w.refuse(from, at, n)
		return true
	}
	e.counts.served[mannerOf(p.code, false, false)].add(len(body))
	if p.code == codeBytes {
		p.at.Unpack(body)
		return true
	}
	p.combine(body, nil)
	return true
}

// onGetTyped is onGet.
func (e *Engine) onGetTyped(from fabric.Peer, imm uint64, h wire.RGetTypedHeader, body []byte) bool {
	n := h.Bytes()
	if n == 0 || n > uint64(e.loop.Via(from).Caps().MaxEager) {
		return false
	}
	refuse := func(at, n uint64) {
		e.loop.Conn(from).Post(wire.RRefused, h.Request(), wire.MakeRRefused(e.hdr[:], at, n))
	}
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, func() { refuse(wire.RGone, n) })
	}
	var p typedPiece
	switch v, at, _ := p.open(w, from, h.Piece(), n); v {
	case isBroken:
		return false
	case isRefused:
		refuse(at, n)
		return true
	}
	if uint64(len(e.scratch)) < n {
		e.scratch = make([]byte, n)
	}
	old := e.scratch[:n]
	switch {
	case p.code == codeBytes:
		p.at.Pack(old)
	case p.code == op.CodeNoOp:
		p.combine(nil, old)
	case uint64(len(body)) != n:
		return false
	default:
		p.combine(body, old)
	}
	e.counts.served[mannerOf(p.code, true, false)].add(int(n))
	e.loop.Conn(from).PostBody(wire.RData, h.Request(), wire.MakeNumber(e.hdr[:], h.Piece().Offset), old)
	return true
}
