package verbs

import (
	"encoding/binary"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// All peers send into one shared receive queue, whose slots are given to them as
// credit: a sender never finds a receiver that is not ready. Every message brings
// the count of those that its sender has taken; where none goes, the count is
// written into the peer's memory.

// sizes are how the receive slots are shared out.
type sizes struct{ window, slots int }

// sizesFor gives each peer as many slots as make slotsWanted in all.
func sizesFor(ranks, maxSRQ int) sizes {
	peers := max(ranks-1, 1)
	s := sizes{window: min(max(slotsWanted/peers, windowMin), windowMax)}
	s.slots = s.window*peers + ibv.MaxRecvs/8
	if maxSRQ > 0 && s.slots > maxSRQ {
		s.slots = maxSRQ
		s.window = max(maxSRQ/peers, 1)
	}
	return s
}

// spare is how many slots may lie idle, because peers have no credit for them.
func (s sizes) spare(ranks int) int {
	return min(max(s.slots-s.window*max(ranks-1, 1), 0), ibv.MaxRecvs/8)
}

// queueMemory is what the queues of a rank pin, in bytes.
func queueMemory(ranks int) uint64 {
	return uint64(sizesFor(ranks, 0).slots+sendSlots)*slotSize + fenceSize + uint64(8*ranks)
}

// credit says whether the peer has a slot for one more message.
func (e *endpoint) credit() bool { return 2*(e.sent-e.acked) < e.window || e.someCredit() }

// someCredit is credit where at most half of the window is known to be free.
func (e *endpoint) someCredit() bool {
	// The peer writes the word, see writeCredits; its messages may have told of later
	// ones.
	if taken, ok := creditOf(loadWord(e.d.creditMem, 8*int(e.peer))); ok {
		if int32(taken-e.word) < 0 {
			return e.badCredit(uint64(taken))
		}
		e.word = taken
		if ahead := int32(taken - uint32(e.acked)); ahead > 0 && !e.ack(e.acked+uint64(ahead)) {
			return false
		}
	}
	return e.sent-e.acked < e.window
}

// creditWord is what tells a peer how many of its messages have been taken:
// the count's low half, twice. A device may write it byte by byte, as SoftRoCE
// does, and it is read meanwhile.
func creditWord(taken uint64) uint64 { return taken<<32 | taken&0xffffffff }

// creditOf reads a credit word. It answers false for one that is not all there.
func creditOf(word uint64) (taken uint32, ok bool) {
	return uint32(word), uint32(word) == uint32(word>>32)
}

// credited takes the credit that a message of the peer's brought.
func (e *endpoint) credited(taken uint16) {
	if e.acked += uint64(max(int16(taken-uint16(e.acked)), 0)); e.acked > e.sent {
		e.badCredit(e.acked)
	}
}

// ack notes how many messages the peer has taken.
func (e *endpoint) ack(taken uint64) bool {
	if taken > e.sent {
		return e.badCredit(taken)
	}
	e.acked = taken
	return true
}

// badCredit ends a peer that claims to have taken what it can't have.
func (e *endpoint) badCredit(taken uint64) bool {
	e.fail(&fabric.Error{Op: "send over verbs", Peer: e.peer, HasPeer: true,
		Err: fmt.Errorf("%w: it claims to have taken message %d of %d", fabric.ErrPeerDown, taken, e.sent)})
	return false
}

// grant is the credit that a message to the peer brings it: the slots of what
// has been taken are the device's again, or spare ones are in their place.
func (e *endpoint) grant() uint16 {
	e.granted = e.taken
	return uint16(e.taken)
}

// slotFreed notes that a slot of the peer's is free again. Where no message of ours
// brings the peer credit, it is written when its window gets scarce.
func (e *endpoint) slotFreed() {
	e.taken++
	if !e.owed && e.needsCredit() {
		e.owed = true
		e.d.owed = append(e.d.owed, e)
	}
}

func (e *endpoint) needsCredit() bool { return e.taken-e.granted >= e.d.scarce }

// scarce is how much of a window may be used before its sender has to be told
// of room: three quarters, half of a small one.
func scarce(window uint64) uint64 {
	if window < 16 {
		return max(window/2, 1)
	}
	return window - window/4
}

// writeCredits writes to the owed what they may send, unless a message has brought
// it. Where that can't be posted now the endpoint stays on the list.
func (d *Domain) writeCredits() {
	keep := d.owed[:0]
	for _, e := range d.owed {
		switch {
		case e.down != nil || e.failing != nil:
			e.owed = false
		case !e.needsCredit():
			e.owed = false
		case !e.up || int(e.tail-e.head)+e.reserved >= queueDepth-1:
			keep = append(keep, e)
		case e.writeWord(creditWord(e.taken), e.creditAddr, e.creditKey):
			e.granted, e.owed = e.taken, false
		default:
			keep = append(keep, e)
		}
	}
	clear(d.owed[len(keep):])
	d.owed = keep
}

// writeWord writes 8 bytes of the transport's own into the peer's memory.
func (e *endpoint) writeWord(v, addr uint64, key uint32) bool {
	d := e.d
	slot := int32(-1)
	if d.inline < 8 {
		i, ok := d.takeSlot()
		if !ok {
			return false
		}
		slot = int32(i)
	}
	s := d.next()
	s.Opcode, s.RemoteAddr, s.RKey = ibv.RDMAWrite, addr, key
	if slot < 0 {
		s.SetOwn(v)
	} else {
		m := d.slot(uint32(slot))
		binary.NativeEndian.PutUint64(m, v)
		s.NumSGE, s.SGE[0] = 1, ibv.SGE{Addr: ibv.Addr(m), Length: 8, LKey: d.sendMR.LKey}
	}
	e.submit(s, entry{slot: slot})
	return true
}

// flushMark sends something that is signaled, behind which everything before
// has ended.
func (e *endpoint) flushMark() {
	if e.unsignaled == 0 || int(e.tail-e.head) >= queueDepth {
		return
	}
	e.unsignaled = queueDepth
	e.writeWord(creditWord(e.taken), e.creditAddr, e.creditKey)
}
