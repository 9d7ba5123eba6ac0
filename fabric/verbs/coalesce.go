package verbs

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Messages to a peer that wait to be posted together share a SEND, unless something
// else comes between: the next one is put behind the last in its slot, at a
// multiple of 8 bytes. To the device, and for credit, they are one message.

// coalescing is the SEND, the last of what waits to be posted, that may take
// more.
type coalescing struct {
	sends    int // domain.sends with it; 0 if there is none
	slot     uint32
	messages int // messages that took no SEND of their own, since the last post
}

// coalesce puts a message into the SEND that waits to go, if that goes to the same
// peer and has room. coalescing.sends is not 0.
func (e *endpoint) coalesce(kind uint8, imm uint64, hdr, body []byte) bool {
	d := e.d
	p := &d.coalescing
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
		e.leaveInline(s)
	}
	clear(m[s.SGE[0].Length:at])
	copy(m[at+putHeader(m[at:], kind, imm, e.grant(), hdr, len(body)):], body)
	s.SGE[0].Length = uint32(n)
	if e.urgent(kind) {
		s.Flags |= ibv.Solicited
	}
	if p.messages++; d.sends+p.messages >= batch && !d.inPoll {
		d.flush()
	}
	return true
}

// leaveInline makes the SEND, which was to be inline, hold its slot: the last that
// was to be free after the post.
func (e *endpoint) leaveInline(s *ibv.SendWR) {
	d := e.d
	d.inlined = d.inlined[:len(d.inlined)-1]
	s.Flags &^= ibv.Inline
	e.ring[(e.tail-1)%queueDepth].slot = int32(d.coalescing.slot)
	if s.Flags&ibv.Signaled == 0 {
		e.held++
		d.uncovered++
	}
}

func aligned(n int) int { return (n + 7) &^ 7 }

// inbound is a SEND that has come, with messages that are still to be handed
// over.
type inbound struct {
	e    *endpoint // nil if there is none
	slot uint32
	rest []byte
}

// deliver hands over the next message of inbound.
func (d *Domain) deliver(h fabric.Handler) int {
	p := &d.inbound
	e := p.e
	if e.cut {
		d.delivered()
		return 0
	}
	kind, imm, credit, hdr, body, n := parse(p.rest)
	if n == 0 {
		length := len(p.rest)
		d.delivered()
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
	d.delivered()
	e.slotFreed()
	return 1
}

// delivered gives the slot of inbound back.
func (d *Domain) delivered() {
	slot := d.inbound.slot
	d.inbound = inbound{}
	d.repost(slot)
}
