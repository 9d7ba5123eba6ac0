package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// win is the window that a packet of a peer names, or nil.
func (e *Engine) win(from fabric.Peer, imm uint64) *Win {
	if imm >= 1<<32 {
		return nil
	}
	w := e.wins[uint32(imm)]
	if w == nil || w.rankOf(from) < 0 {
		return nil
	}
	return w
}

// stray reports whether a packet may come whose window is not known: it may have been
// freed here already, by a program that has given up a wait, or because of a death. Who
// waits for a reply gets one by refuse.
func (e *Engine) stray(imm uint64, refuse func()) bool {
	if imm >= 1<<32 || e.wins[uint32(imm)] != nil {
		return false
	}
	if refuse != nil {
		refuse()
	}
	return true
}

// part is the memory of a piece of n bytes, or nil if some of its operation lies
// outside of this rank's part: then none of it is carried out.
func (w *Win) part(p wire.Piece, n uint64) []byte {
	whole := w.mem
	if at := p.At - p.Offset; w.dynamic {
		if whole = w.find(at, p.Total); whole == nil {
			return nil
		}
		p.At = p.Offset
	} else if at > uint64(len(whole)) || p.Total > uint64(len(whole))-at {
		return nil
	}
	if n > p.Total-p.Offset {
		return nil
	}
	return whole[p.At : p.At+n : p.At+n]
}

// fits reports whether an operator and a kind of elements go with each other, and with
// n bytes.
func fits(code op.Code, k op.Kind, n int) bool {
	if code == codeBytes {
		return k == 0
	}
	o := code.Op()
	if o == nil || k.Size() == 0 || n%k.Size() != 0 {
		return false
	}
	_, err := o.OnWindow(k)
	return err == nil
}

// onAcc combines operands with elements of this rank's part.
func (e *Engine) onAcc(from fabric.Peer, imm uint64, h wire.RAccHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	p := h.Piece()
	to, code, k := w.part(p, uint64(len(body))), op.Code(p.Code), op.Kind(p.Kind)
	switch {
	case !fits(code, k, len(body)), to == nil && !w.dynamic:
		return false
	case to == nil:
		w.refuse(from, p.At-p.Offset, p.Total)
		return true
	}
	e.counts.served[mannerOf(code, false, false)].add(len(body))
	if code == codeBytes {
		copy(to, body)
	} else {
		combine(code, k, to, body, nil)
	}
	return true
}

// onGet does the same and replies with the elements as they were.
func (e *Engine) onGet(from fabric.Peer, kind uint8, imm uint64, h wire.RGetHeader, body []byte) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, func() {
			e.loop.Conn(from).Post(wire.RRefused, h.Request(), wire.MakeRRefused(e.hdr[:], wire.RGone, h.Bytes()))
		})
	}
	p, n := h.Piece(), h.Bytes()
	to, code, k := w.part(p, n), op.Code(p.Code), op.Kind(p.Kind)
	switch {
	case to == nil && !w.dynamic, n > uint64(e.loop.Via(from).Caps().MaxEager):
		return false
	case to == nil:
		e.loop.Conn(from).Post(wire.RRefused, h.Request(), wire.MakeRRefused(e.hdr[:], p.At, n))
		return true
	}
	if uint64(len(e.scratch)) < n {
		e.scratch = make([]byte, n)
	}
	old := e.scratch[:n]
	switch {
	case kind == wire.RCas:
		if comparesBits(k) != nil || k.Size() != int(n) || len(body) != 2*int(n) {
			return false
		}
		swap(k, to, body[n:], body[:n], old)
	case !fits(code, k, int(n)):
		return false
	case code == codeBytes:
		copy(old, to)
	case code != op.CodeNoOp && uint64(len(body)) != n:
		return false
	default:
		combine(code, k, to, body, old)
	}
	e.counts.served[mannerOf(code, true, kind == wire.RCas)].add(int(n))
	e.loop.Conn(from).PostBody(wire.RData, h.Request(), wire.MakeNumber(e.hdr[:], p.Offset), old)
	return true
}
