package verbs

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// Put is an RDMA WRITE.
func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	if e.repeat(ibv.RDMAWrite, &src, &dst, fabric.RemoteWrite, op) {
		return nil
	}
	if !e.up {
		return e.notUp()
	}
	return e.transfer("put", ibv.RDMAWrite, src, dst, fabric.RemoteWrite, op)
}

// Get is an RDMA READ. It answers ErrUnsupported for memory that its owner, or
// this rank, could not register.
func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if e.repeat(ibv.RDMARead, &dst, &src, fabric.RemoteRead, op) {
		return nil
	}
	if !e.up {
		return e.notUp()
	}
	return e.transfer("get", ibv.RDMARead, dst, src, fabric.RemoteRead, op)
}

// repeat starts a transfer that is one work request, if that can be told without
// a search: between memory that the last transfer was about, with a key that was
// found good before. It is what transfer would do.
func (e *endpoint) repeat(verb ibv.Opcode, seg *fabric.Segment, m *fabric.Remote, a fabric.Access, op fabric.Op) bool {
	n := uint64(len(seg.Bytes))
	if !e.up || n-1 >= repeatMax || !pin.Reaches(m, n) || m.Key != e.trusted || !pin.Permits(m.Key, a) ||
		!e.room(1) {
		return false
	}
	lkey, ok := e.d.regions.Recent(seg)
	if !ok {
		return false
	}
	e.piece(verb, seg.Bytes, lkey, m.Addr, uint32(m.Key), entry{op: op, form: formOf(op), slot: -1})
	return true
}

// transfer moves the bytes of a segment to or from a peer's memory, in pieces
// of what the device takes at once.
func (e *endpoint) transfer(what string, verb ibv.Opcode, seg fabric.Segment, m fabric.Remote, a fabric.Access, op fabric.Op) error {
	d := e.d
	n := len(seg.Bytes)
	if err := e.check(what, m, n, a); err != nil {
		return err
	}
	lkey, ok := d.regions.Local(seg)
	if !ok {
		return fabric.ErrUnsupported
	}
	piece := pieceLimit
	if d.port.maxMessage > 0 {
		piece = min(piece, d.port.maxMessage)
	}
	pieces := 1
	if n > piece {
		if pieces = (n + piece - 1) / piece; pieces > maxPieces {
			return fabric.ErrUnsupported
		}
	}
	if len(e.rails) > 0 && n >= 2*d.stripeMin {
		if done, err := e.stripe(verb, seg, lkey, m, op, piece); done {
			return err
		}
	}
	if !e.room(pieces) {
		return fabric.ErrAgain
	}
	off := 0
	for ; n-off > piece; off += piece {
		e.piece(verb, seg.Bytes[off:off+piece], lkey, m.Addr+uint64(off), uint32(m.Key), entry{form: formPiece, slot: -1})
	}
	e.piece(verb, seg.Bytes[off:], lkey, m.Addr+uint64(off), uint32(m.Key), entry{op: op, form: formOf(op), slot: -1})
	return nil
}

// piece posts one work request of a transfer, between b and the peer's memory.
func (e *endpoint) piece(verb ibv.Opcode, b []byte, lkey uint32, remote uint64, rkey uint32, w entry) {
	s := e.d.next()
	s.Opcode, s.RemoteAddr, s.RKey = verb, remote, rkey
	if len(b) > 0 {
		s.NumSGE = 1
		s.SGE[0] = ibv.SGE{Addr: ibv.Addr(b), Length: uint32(len(b)), LKey: lkey}
		if verb == ibv.RDMAWrite && len(b) <= e.d.inline {
			s.Flags |= ibv.Inline
		}
	}
	e.ring[e.tail%queueDepth] = w
	e.queue(s, w.form)
}

// Atomic is the device's own: atomic with those of other ranks, and with the
// processor's only where Port.Atomics says so.
func (e *endpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) error {
	d := e.d
	if !d.caps.Atomics || a.Kind != fabric.FetchAdd && a.Kind != fabric.CompareSwap {
		return fabric.ErrUnsupported
	}
	if !e.up {
		return e.notUp()
	}
	if err := e.check("atomic", dst, 8, fabric.RemoteAtomic); err != nil {
		return err
	}
	if !e.room(1) {
		return fabric.ErrAgain
	}
	slot, ok := d.takeSlot()
	if !ok {
		return fabric.ErrAgain
	}
	s := d.next()
	s.Opcode, s.NumSGE, s.RemoteAddr = ibv.AtomicFetchAndAdd, 1, dst.Addr
	s.SGE[0] = ibv.SGE{Addr: ibv.Addr(d.slot(slot)), Length: 8, LKey: d.sendMR.LKey}
	word := a.Operand
	if a.Kind == fabric.CompareSwap {
		s.Opcode, word, s.Swap = ibv.AtomicCmpAndSwp, a.Compare, a.Operand
	}
	s.SetAtomic(word, uint32(dst.Key))
	e.submit(s, entry{op: op, form: formOf(op), slot: int32(slot), result: a.Result})
	return nil
}

// check refuses what can be seen to be wrong from here: the device's own
// refusal, of the rest, costs the connection.
func (e *endpoint) check(what string, m fabric.Remote, n int, a fabric.Access) error {
	if m.Addr == 0 && m.Key == 0 {
		return fabric.ErrUnsupported // its owner could not register it
	}
	if pin.Reaches(&m, uint64(n)) && (a != fabric.RemoteAtomic || m.Addr%8 == 0) &&
		pin.Permits(m.Key, a) && (m.Key == e.trusted || e.trusts(m.Key)) {
		return nil
	}
	return e.badRemote(what, m, n)
}

// trusts says whether a key is of the peer's making, and remembers the last that
// was: operations in a row name the same.
func (e *endpoint) trusts(key uint64) bool {
	if !e.sign.Made(key) {
		return false
	}
	e.trusted = key
	return true
}

func (e *endpoint) badRemote(what string, m fabric.Remote, n int) error {
	return &fabric.Error{Op: what, Peer: e.peer, HasPeer: true,
		Err: fmt.Errorf("%d bytes at %#x, length %d, key %#x: %w", n, m.Addr, m.Len, m.Key, fabric.ErrBadRemote)}
}
