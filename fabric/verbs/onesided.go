package verbs

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

const (
	// maxPieces is how many work requests one transfer may take.
	maxPieces = 64
	// pieceLimit cuts transfers also where the device would take more.
	pieceLimit = 1 << 30
	// repeatMax is how long a repeated transfer may be: less than what a device
	// takes at once, or than two stripes.
	repeatMax = 4096
	_         = uint(2*stripeMin - repeatMax - 1)
)

// Put is an RDMA WRITE, with immediate data if there is a note.
func (e *endpoint) Put(src fabric.Segment, dst fabric.Remote, note uint32, op fabric.Op) error {
	if note == 0 && e.repeat(opWrite, &src, &dst, fabric.RemoteWrite, op) {
		return nil
	}
	if !e.up {
		return e.notUp()
	}
	if note != 0 && !e.credit() {
		return fabric.ErrAgain
	}
	err := e.transfer("put", opWrite, src, dst, fabric.RemoteWrite, note, op)
	if err == nil && note != 0 {
		e.sent++
	}
	return err
}

// Get is an RDMA READ. It answers ErrUnsupported for memory that its owner, or
// this rank, could not register.
func (e *endpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	if e.repeat(opRead, &dst, &src, fabric.RemoteRead, op) {
		return nil
	}
	if !e.up {
		return e.notUp()
	}
	return e.transfer("get", opRead, dst, src, fabric.RemoteRead, 0, op)
}

// repeat starts a transfer that is one work request, if that can be told without
// a search: between memory that the last transfer was about, with a key that was
// found good before. It is what transfer would do.
func (e *endpoint) repeat(verb opcode, seg *fabric.Segment, m *fabric.Remote, a fabric.Access, op fabric.Op) bool {
	d, c := e.d, &e.d.recent
	n, start := uint64(len(seg.Bytes)), addressOf(seg.Bytes)
	if !e.up || n-1 >= repeatMax || !reaches(m, n) || m.Key != e.trusted || !permits(m.Key, a) ||
		!c.knows(seg.Region.Handle, &d.regions) || !c.holds(start, n) || !e.room(1) {
		return false
	}
	e.piece(verb, seg.Bytes, c.lkey, m.Addr, uint32(m.Key), 0, entry{op: op, form: formOf(op), slot: -1})
	return true
}

// transfer moves the bytes of a segment to or from a peer's memory, in pieces
// of what the device takes at once.
func (e *endpoint) transfer(what string, verb opcode, seg fabric.Segment, m fabric.Remote, a fabric.Access, note uint32, op fabric.Op) error {
	d := e.d
	n := len(seg.Bytes)
	if err := e.check(what, m, n, a); err != nil {
		return err
	}
	lkey, ok := d.local(seg)
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
	if len(e.rails) > 0 && note == 0 && n >= 2*d.stripeMin {
		if done, err := e.stripe(verb, seg, lkey, m, op, piece); done {
			return err
		}
	}
	if !e.room(pieces) {
		return fabric.ErrAgain
	}
	off := 0
	for ; n-off > piece; off += piece {
		e.piece(verb, seg.Bytes[off:off+piece], lkey, m.Addr+uint64(off), uint32(m.Key), 0, entry{form: formPiece, slot: -1})
	}
	e.piece(verb, seg.Bytes[off:], lkey, m.Addr+uint64(off), uint32(m.Key), note, entry{op: op, form: formOf(op), slot: -1})
	return nil
}

// piece posts one work request of a transfer, between b and the peer's memory.
func (e *endpoint) piece(verb opcode, b []byte, lkey uint32, remote uint64, rkey, note uint32, w entry) {
	s := e.d.next()
	s.op, s.remote, s.rkey = verb, remote, rkey
	if len(b) > 0 {
		s.segments = 1
		s.seg[0] = segment{addressOf(b), uint32(len(b)), lkey}
		if verb == opWrite && len(b) <= e.d.inline {
			s.flags |= flagInline
		}
	}
	if note != 0 {
		s.op = opWriteNote
		s.setNote(note)
		s.flags |= flagSolicited
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
	s.op, s.segments, s.remote = opFetchAdd, 1, dst.Addr
	s.seg[0] = segment{addressOf(d.slot(slot)), 8, d.sendMR.lkey}
	word := a.Operand
	if a.Kind == fabric.CompareSwap {
		s.op, word, s.swap = opCompareSwap, a.Compare, a.Operand
	}
	s.setAtomic(word, uint32(dst.Key))
	e.submit(s, entry{op: op, form: formOf(op), slot: int32(slot), result: a.Result})
	return nil
}

// check refuses what can be seen to be wrong from here: the device's own
// refusal, of the rest, costs the connection.
func (e *endpoint) check(what string, m fabric.Remote, n int, a fabric.Access) error {
	if m.Addr == 0 && m.Key == 0 {
		return fabric.ErrUnsupported // its owner could not register it
	}
	if reaches(&m, uint64(n)) && (a != fabric.RemoteAtomic || m.Addr%8 == 0) &&
		permits(m.Key, a) && (m.Key == e.trusted || e.trusts(m.Key)) {
		return nil
	}
	return e.badRemote(what, m, n)
}

// reaches says whether the memory has n bytes, and an end.
func reaches(m *fabric.Remote, n uint64) bool { return n <= m.Len && m.Addr+m.Len >= m.Addr }

// trusts says whether a key is of the peer's making, and remembers the last that
// was: operations in a row name the same.
func (e *endpoint) trusts(key uint64) bool {
	if !e.tag.made(key) {
		return false
	}
	e.trusted = key
	return true
}

func (e *endpoint) badRemote(what string, m fabric.Remote, n int) error {
	return &fabric.Error{Op: what, Peer: e.peer, HasPeer: true,
		Err: fmt.Errorf("%d bytes at %#x, length %d, key %#x: %w", n, m.Addr, m.Len, m.Key, fabric.ErrBadRemote)}
}
