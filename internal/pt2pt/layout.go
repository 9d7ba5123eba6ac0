package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// A message in a layout is packed piece by piece as it is sent and unpacked as
// it arrives. The other side sees no difference: the message is sent at once or
// in chunks, or it is announced as unreadable for any fabric and goes in
// fragments.

// packPiece is how much of a layout is packed at a time for a rank's own receive into
// another layout.
const packPiece = 4 << 10

// piece is a part of a request's message: of its buffer, or packed and valid
// until the next piece.
func (e *Engine) piece(r *progress.Request, from, to uint64) []byte {
	lay := r.Layout()
	if lay == nil {
		return r.Buf[from:to]
	}
	b := e.scratch(int(to - from))
	lay.Pack(b, from)
	return b
}

// shortPart is up to which length a part is packed into scratch first. It may fit into the
// packet's head then, where nothing is packed.
const shortPart = 64

// sendPart is Send with a part of a request's message as the body.
func (e *Engine) sendPart(ep fabric.Endpoint, kind uint8, imm uint64, hdr []byte, r *progress.Request, from, to uint64) error {
	if lay := r.Layout(); lay != nil {
		if e.peers[r.Peer].caps.Pack && to-from > shortPart {
			return ep.SendPacked(kind, imm, hdr, lay, from, int(to-from))
		}
	}
	return ep.Send(kind, imm, hdr, e.piece(r, from, to))
}

// scratch is memory for a piece of n bytes, valid until the next piece.
func (e *Engine) scratch(n int) []byte {
	if cap(e.packed) < n {
		e.packed = make([]byte, n)
	}
	return e.packed[:n]
}

// put stores a part of a message, as much as there is room for.
func put(r *progress.Request, at uint64, b []byte) {
	lay := r.Layout()
	switch room := r.Size(); {
	case at >= room:
	case lay == nil:
		copy(r.Buf[at:], b)
	default:
		lay.Unpack(b[:min(uint64(len(b)), room-at)], at)
	}
}

// move receives a message of this rank's to itself.
func (e *Engine) move(to, from *progress.Request) {
	if from.Layout() == nil {
		put(to, 0, from.Buf)
		return
	}
	n := min(to.Size(), from.Size())
	if to.Layout() == nil {
		from.Layout().Pack(to.Buf[:n], 0)
		return
	}
	for at := uint64(0); at < n; at += packPiece {
		put(to, at, e.piece(from, at, min(at+packPiece, n)))
	}
}
