package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// arrival is a message, or the announcement of one, that no receive has asked
// for yet.
type arrival struct {
	from  fabric.Peer
	kind  uint8 // Eager, EagerFirst, RTS, or kindOwn
	imm   uint64
	total uint64 // bytes of the message
	got   uint64 // bytes in body
	body  []byte // of buffers
	entry uint64 // in the matching table

	remote fabric.Remote     // RTS: where the message lies
	req    uint64            // RTS: the sender's request
	sender *progress.Request // kindOwn: the send to ourselves
	next   uint32            // free list
}

// kindOwn is an arrival that is a rank's long message to itself.
const kindOwn uint8 = 0x40

// arrivals is the slab of arrivals, by index.
type arrivals struct {
	slab []*[64]arrival
	free uint32 // index plus one
	used uint32
}

func (s *arrivals) at(id uint32) *arrival { return &s.slab[id/64][id%64] }

func (s *arrivals) take() (uint32, *arrival) {
	if s.free != 0 {
		id := s.free - 1
		a := s.at(id)
		s.free = a.next
		return id, a
	}
	id := s.used
	if int(id/64) == len(s.slab) {
		s.slab = append(s.slab, new([64]arrival))
	}
	s.used++
	return id, s.at(id)
}

func (s *arrivals) give(id uint32) {
	a := s.at(id)
	a.body, a.sender = nil, nil
	a.next, s.free = s.free, id+1
}

// What one peer's messages may take up here, in bytes of theirs and by their
// number, before the peer is told to announce its further ones only, and down
// to which both must fall before it may be eager again. What is in its ring by
// then comes on top. A message takes about 250 bytes besides its own. Only
// announcements and empty messages, for which announcing would gain nothing,
// are not counted.
const (
	highWater, lowWater = 4 << 20, 1 << 20
	mostHeld, fewHeld   = 1 << 17, 1 << 15
)

// marks are the bounds that an engine keeps.
type marks struct {
	high, low uint64
	most, few int
}

// counts reports whether an arrival holds memory for its bytes.
func (a *arrival) counts() bool { return a.kind != wire.RTS && a.kind != kindOwn && a.total > 0 }

// keep files an arrival until a receive takes it.
func (e *Engine) keep(id uint32, a *arrival) {
	cid, tag := wire.Match(a.imm)
	a.entry = uint64(e.match.AddUnexpected(cid, int32(a.from), tag, id))
	if !a.counts() {
		return
	}
	p := &e.peers[a.from]
	p.unexpected += a.total
	p.held++
	if (p.unexpected > e.marks.high || p.held > e.marks.most) && !p.stopped && int(a.from) != e.rank {
		p.stopped = true
		e.loop.Conn(a.from).Post(wire.Xoff, 0, nil)
	}
}

// takeArrival gives an arrival to a receive.
func (e *Engine) takeArrival(r *progress.Request, id uint32) {
	a := e.arrivals.at(id)
	_, tag := wire.Match(a.imm)
	switch {
	case a.kind == wire.RTS:
		e.receiveRTS(r, a.from, tag, a.remote, a.req)
	case a.kind == kindOwn:
		copy(r.Buf, a.sender.Buf)
		e.finishSend(a.sender, nil)
		e.finishRecv(r, int(a.from), tag, a.total)
	case a.got < a.total:
		e.receiveChunks(r, a.from, tag, a.body)
	default:
		copy(r.Buf, a.body)
		e.finishRecv(r, int(a.from), tag, a.total)
	}
	e.drop(id)
}

// drop gives back what an arrival, out of the matching table already, holds.
func (e *Engine) drop(id uint32) {
	a := e.arrivals.at(id)
	if a.kind != wire.RTS && a.kind != kindOwn {
		e.buffers.give(a.body)
	}
	if a.counts() {
		p := &e.peers[a.from]
		p.unexpected -= a.total
		p.held--
		if p.stopped && p.unexpected <= e.marks.low && p.held <= e.marks.few {
			p.stopped = false
			e.loop.Conn(a.from).Post(wire.Xon, 0, nil)
		}
	}
	e.arrivals.give(id)
}
