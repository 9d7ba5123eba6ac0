package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// lane is the operations with a peer that go in packets, in order: accumulates with
// one target take effect in the order of their calls. The first one sends.
type lane struct {
	e           *Engine
	peer        fabric.Peer
	first, last *action
	asked       int // pieces of results under way
	types       sentTypes
	packed      []byte // the body of a packet, where that has to be packed
}

// maxAsked bounds the pieces of results that a peer holds for this rank at once.
const maxAsked = 32

// codeBytes is the code of a plain copy: of bytes, without atomicity. Others are
// those of operators.
const codeBytes = 0

// enlane sends the operation in packets.
func (o *action) enlane() {
	e := o.w.e
	l := e.lanes[o.t.peer]
	if l == nil {
		l = &lane{e: e, peer: o.t.peer}
		e.lanes[o.t.peer] = l
	}
	if l.first == nil {
		l.first = o
	} else {
		l.last.lane = o
	}
	l.last = o
	o.waits = true
	if l.first == o {
		l.pump(nil)
	}
}

// pump sends what there is room for. resumed is the operation that has come to the
// head of the backlog, or nil; if it has to stay there the result is ErrAgain.
func (l *lane) pump(resumed *action) error {
	c := l.e.loop.Conn(l.peer)
	for o := l.first; o != nil; o = l.first {
		if o.get && l.asked == maxAsked {
			return nil // onData goes on
		}
		err := fabric.ErrAgain
		if resumed != nil || !c.Busy() {
			err = o.send(c.Endpoint())
		}
		switch {
		case err == fabric.ErrAgain && o == resumed:
			return err
		case err == fabric.ErrAgain:
			if !o.r.Queued() {
				c.Enqueue(o.r)
			}
			return nil
		case err != nil:
			return err // it ends in PeerDown
		}
		if o.sent < o.n {
			continue
		}
		l.first = o.lane
		o.lane, o.waits = nil, false
		if !o.get {
			o.end(nil) // the packets have copies
		}
	}
	return nil
}

// send sends the next packet of the operation.
func (o *action) send(ep fabric.Endpoint) (err error) {
	if o.typed != nil {
		return o.sendTyped(ep)
	}
	e := o.w.e
	if o.act != nil {
		if err := o.announce(ep); err != nil {
			return err
		}
	}
	n := min(o.n-o.sent, o.t.caps.MaxEager/o.elem*o.elem)
	id := uint64(o.w.id)
	p := wire.Piece{At: uint64(o.at + o.sent), Offset: uint64(o.sent), Total: uint64(o.n), Code: uint8(o.code), Kind: uint8(o.kind)}
	switch {
	case o.cas:
		var both [32]byte
		k := copy(both[:], o.src)
		k += copy(both[k:], o.compare)
		err = ep.Send(wire.RCas, id, wire.MakeRGet(e.hdr[:], p, uint64(n), uint64(o.r.Op())), both[:k])
	case o.get:
		var operands []byte
		if o.src != nil {
			operands = o.src[o.sent : o.sent+n]
		}
		err = ep.Send(wire.RGet, id, wire.MakeRGet(e.hdr[:], p, uint64(n), uint64(o.r.Op())), operands)
	default:
		err = ep.Send(wire.RAcc, id, wire.MakeRAcc(e.hdr[:], p), o.src[o.sent:o.sent+n])
	}
	if err == nil {
		o.sent += n
		if o.get {
			e.lanes[o.t.peer].asked++
		} else {
			o.t.unacked = true
		}
	}
	return err
}

// waiting is the operation with a result that a reply of a peer is for, or nil.
func (e *Engine) waiting(from fabric.Peer, request uint64) *action {
	r := e.loop.Named(e, request)
	if r == nil || r.Kind != kindTransfer || r.Peer != int32(from) || !e.ops[r.Found].get || e.lanes[from] == nil {
		return nil
	}
	return e.ops[r.Found]
}

// onData takes a piece of a result.
func (e *Engine) onData(from fabric.Peer, request uint64, h wire.NumberHeader, body []byte) bool {
	o, off := e.waiting(from, request), h.Number()
	if o == nil || len(body) == 0 || len(body) > o.sent-o.got {
		return false
	}
	switch {
	case o.typed != nil:
		o.take(body)
	case off > uint64(o.sent) || uint64(len(body)) > uint64(o.sent)-off:
		return false
	default:
		copy(o.dst[off:], body)
	}
	o.answered(len(body))
	return true
}

// onRefused takes a refusal in the place of a piece: the memory is not attached.
func (e *Engine) onRefused(from fabric.Peer, request uint64, h wire.RRefusedHeader) bool {
	o := e.waiting(from, request)
	if o == nil || h.Bytes() == 0 || h.Bytes() > uint64(o.sent-o.got) {
		return false
	}
	o.note(o.refusal(h))
	o.answered(int(h.Bytes()))
	return true
}

// answered counts a piece that is not under way any more.
func (o *action) answered(n int) {
	l := o.w.e.lanes[o.t.peer]
	l.asked--
	if o.got += n; o.got == o.n {
		o.end(o.failure)
	}
	if l.first != nil && !l.first.r.Queued() {
		l.pump(nil)
	}
}
