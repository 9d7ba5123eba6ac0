package verbs

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/weft-mpi/weft/fabric"
)

// A short message that goes alone goes by mail: a WRITE with immediate into a
// box that the receiver keeps for each peer. The receiver sees it by a load, and
// may take it before the completion is there, which it then polls for many
// messages at once. For credit, order, events and errors a mail is like a SEND:
// it takes a receive slot, whose memory stays as it is.
const (
	mailSize  = 64 // bytes of a place: a header, what follows it, the seal
	mailSlots = 8  // places of a box
	// mailMax is how much a mail carries, header and body of the message.
	mailMax = mailSize - headerSize - 8
	// maxHot is for how many peers' mail a rank looks before the completion:
	// those of whom such came last.
	maxHot = 4
	// maxPeeks is how often a lingering Poll looks for mail, at most, before it
	// crosses: see warmer and colder.
	maxPeeks = 1024
)

// boxes is where the first box begins, behind the credit words of all ranks.
func boxes(ranks int) int { return (8*ranks + mailSize - 1) &^ (mailSize - 1) }

// creditMemory is what peers write to: credit words and boxes.
func creditMemory(ranks int) int { return boxes(ranks) + ranks*mailSlots*mailSize }

// box is where the memory for mail of a rank begins, in creditMem.
func box(ranks int, p fabric.Peer) int { return boxes(ranks) + int(p)*mailSlots*mailSize }

// mayMail says whether a message of n bytes, header and body, goes by mail. It
// does not behind a Put, whose bytes only a completion is sure to follow, nor
// among several that gather.
func (e *endpoint) mayMail(n int) bool {
	d := e.d
	return n <= mailMax && !e.wrote && d.inline >= mailSize && e.mailed[e.mails%mailSlots] <= e.acked &&
		(e.burstPoll != d.polls || e.burst < lone)
}

// mail makes a work request of the message of n bytes in m, a send slot.
func (e *endpoint) mail(s *sendDesc, m []byte, n int) {
	place := e.mails % mailSlots
	e.mails++
	e.mailed[place] = e.sent + 1
	binary.LittleEndian.PutUint16(m[6:], uint16(e.sent+1)) // of the length, which needs less
	clear(m[n : (n+7)&^7])
	n = (n + 7) &^ 7
	seal := newSeal(e.sent + 1)
	for i := 0; i < n; i += 8 {
		seal.add(binary.LittleEndian.Uint64(m[i:]))
	}
	binary.LittleEndian.PutUint64(m[n:], uint64(seal))
	s.op, s.length[0], s.flags = opWriteNote, uint32(n+8), flagInline
	s.remote, s.rkey = e.boxAddr+uint64(place*mailSize), e.creditKey
}

// seal is a sum over the words of a mail and its number. A device writes a mail
// in no order and SoftRoCE byte by byte, so a place may hold parts of two: a
// difference in one word always gives another sum, one in more of them but for
// one time in 2^64.
type seal uint64

func newSeal(number uint64) seal { return seal(number * 0xd6e8feb86659fd93) }

func (s *seal) add(w uint64) {
	*s = seal(bits.RotateLeft64(uint64(*s)^w, 29) * 0x9e3779b97f4a7c15)
}

// peek looks for mail of the hot peers and hands over one.
func (d *Domain) peek(h fabric.Handler) bool {
	peeks := 1
	if d.looks > 1 {
		peeks = d.peeks
	}
	for ; peeks > 0; peeks-- {
		for _, e := range d.hot[:d.hots] {
			if uint16(loadWord(d.creditMem, e.place)>>48) != uint16(e.taken+1) {
				continue
			}
			if e.open(h) {
				e.ahead++
				d.ahead++
				return true
			}
		}
	}
	d.vain = true
	return false
}

// warmer makes the next Poll look for mail longer if a crossing in vain came
// before this one; colder cuts that short, since something else has come.
func (d *Domain) warmer() {
	if d.vain {
		d.vain, d.peeks = false, min(max(2*d.peeks, 16), maxPeeks)
	}
}

func (d *Domain) colder() { d.vain, d.peeks = false, d.peeks/4 }

// open hands over the peer's next mail, if it is all there and next in order.
func (e *endpoint) open(h fabric.Handler) bool {
	d, at := e.d, e.place
	head := loadWord(d.creditMem, at)
	n := headerSize + int(uint8(head>>8)) + int(uint16(head>>32))
	if e.down != nil || n > headerSize+mailMax {
		return false
	}
	m := d.letter[:]
	sum, i := newSeal(e.taken+1), 0
	for ; i < n; i += 8 {
		w := loadWord(d.creditMem, at+i)
		binary.LittleEndian.PutUint64(m[i:], w)
		sum.add(w)
	}
	if seal(loadWord(d.creditMem, at+i)) != sum {
		return false
	}
	m[6], m[7] = 0, 0
	kind, imm, credit, hdr, body, ok := parse(m[:n])
	if !ok {
		return false
	}
	e.opened++
	e.place = e.box + int(e.opened%mailSlots)*mailSize
	d.warmer()
	e.credited(credit)
	h.Deliver(e.peer, kind, imm, hdr, body)
	e.owe()
	return true
}

// mailDone takes the completion of a mail, which has been handed over or is now.
func (e *endpoint) mailDone(h fabric.Handler) int {
	if e.ahead > 0 {
		e.ahead--
		e.d.ahead--
		return 0
	}
	e.warm()
	if !e.open(h) {
		e.fail(&fabric.Error{Op: "receive over verbs", Peer: e.peer, HasPeer: true,
			Err: fmt.Errorf("%w: what it wrote to its box can't be message %d", fabric.ErrPeerDown, e.taken+1)})
		return 0
	}
	return 1
}

// warm makes the peer one of the hot.
func (e *endpoint) warm() {
	d := e.d
	for _, x := range d.hot[:d.hots] {
		if x == e {
			return
		}
	}
	if d.hots < maxHot {
		d.hots++
	} else {
		copy(d.hot[:], d.hot[1:])
	}
	d.hot[d.hots-1] = e
}

// cool ends the looks for the peer's mail, which has gone.
func (e *endpoint) cool() {
	d := e.d
	d.ahead -= e.ahead
	e.ahead = 0
	for i, x := range d.hot[:d.hots] {
		if x == e {
			copy(d.hot[i:], d.hot[i+1:d.hots])
			d.hots--
			d.hot[d.hots] = nil
			return
		}
	}
}
