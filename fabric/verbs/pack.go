package verbs

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Messages to a peer that wait for the same turn share a SEND, unless something
// else comes between: the next one is put behind the last in its slot, at a
// multiple of 8 bytes. To the device, and for credit, they are one message.

// pack is the SEND, the last of what waits for the next turn, that may take
// more.
type pack struct {
	sends  int // domain.sends with it; 0 if there is none
	slot   uint32
	joined int // messages that took no SEND of their own, since the last turn
}

// join puts a message into the SEND that waits to go, if that goes to the same
// peer and has room. pack.sends is not 0.
func (e *endpoint) join(kind uint8, imm uint64, hdr, body []byte) bool {
	d := e.d
	p := &d.pack
	if p.sends != d.sends {
		return false
	}
	s := &d.ring.Sends[d.sends-1]
	m := d.slot(p.slot)
	at := aligned(int(s.SGE[0].Length))
	n := at + headerSize + len(hdr) + len(body)
	if s.QP != e.qp.Handle || n > slotSize {
		return false
	}
	if n > d.inline && s.Flags&ibv.Inline != 0 {
		e.outgrow(s)
	}
	clear(m[s.SGE[0].Length:at])
	copy(m[at+putHeader(m[at:], kind, imm, e.grant(), hdr, len(body)):], body)
	s.SGE[0].Length = uint32(n)
	if e.urgent(kind) {
		s.Flags |= ibv.Solicited
	}
	if p.joined++; d.sends+p.joined >= batch && !d.inPoll {
		d.flush()
	}
	return true
}

// outgrow makes the SEND, which was to be inline, hold its slot: the last that
// was to be free after the turn.
func (e *endpoint) outgrow(s *ibv.SendWR) {
	d := e.d
	d.inlined = d.inlined[:len(d.inlined)-1]
	s.Flags &^= ibv.Inline
	e.ring[(e.tail-1)%queueDepth].slot = int32(d.pack.slot)
	if s.Flags&ibv.Signaled == 0 {
		e.held++
		d.uncovered++
	}
}

func aligned(n int) int { return (n + 7) &^ 7 }

// parcel is a SEND that has come, with messages that are still to be handed
// over.
type parcel struct {
	e    *endpoint // nil if there is none
	slot uint32
	rest []byte
}

// unpack hands over the parcel's next message.
func (d *Domain) unpack(h fabric.Handler) int {
	p := &d.parcel
	e := p.e
	if e.cut {
		d.unpacked()
		return 0
	}
	kind, imm, credit, hdr, body, n := parse(p.rest)
	if n == 0 {
		length := len(p.rest)
		d.unpacked()
		e.fail(&fabric.Error{Op: "receive over verbs", Peer: e.peer, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a message of %d bytes that can't be", fabric.ErrPeerDown, length)})
		return 0
	}
	e.credited(credit)
	if n = aligned(n); n < len(p.rest) {
		p.rest = p.rest[n:]
		h.Deliver(e.peer, kind, imm, hdr, body)
		return 1
	}
	h.Deliver(e.peer, kind, imm, hdr, body)
	d.unpacked()
	e.owe()
	return 1
}

// unpacked gives the parcel's slot back.
func (d *Domain) unpacked() {
	slot := d.parcel.slot
	d.parcel = parcel{}
	d.repost(slot)
}
