package verbs

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-mpi/weft/fabric"
)

// A short message that goes alone goes by mail: a WRITE with immediate into a
// box that the receiver keeps for each peer. The receiver sees it by a load, and
// may take it before the completion is there, which it then polls for many
// messages at once. For credit, order, events and errors a mail is like a SEND:
// it takes a receive slot, whose memory stays as it is. With a lease there is no
// immediate and none of these, but for credit and order.
const (
	mailSize  = 64 // bytes of a place: a header, what follows it, the seal
	mailSlots = 8  // places of a box
	// mailMax is how much a mail carries, header and body of the message.
	mailMax = mailSize - headerSize - 8
	// maxHot is for how many peers' mail a rank looks before the completion:
	// those that have a lease, then those of whom such came last.
	maxHot = 4
	// maxPeeks is how often a lingering Poll looks for mail, at most, before it
	// crosses: see warmer and colder.
	maxPeeks = 1024
	// maxHeard is how many mails are taken, at most, before others have their
	// turn, who need a crossing.
	maxHeard = 128
	// quiet is the bit of a mail's first word that says that no completion
	// follows.
	quiet = 1 << 47
)

// boxes is where the first box begins, behind the credit words of all ranks and
// those of their leases.
func boxes(ranks int) int { return (16*ranks + mailSize - 1) &^ (mailSize - 1) }

// creditMemory is what peers write to: words and boxes.
func creditMemory(ranks int) int { return boxes(ranks) + ranks*mailSlots*mailSize }

// box is where the memory for mail of a rank begins, in creditMem.
func box(ranks int, p fabric.Peer) int { return boxes(ranks) + int(p)*mailSlots*mailSize }

// mayMail says whether a message of n bytes, header and body, goes by mail. It
// does not behind a Put, whose bytes only a completion is sure to follow, nor
// among several that gather, since those share a SEND.
func (e *endpoint) mayMail(n int) bool {
	d := e.d
	return n <= mailMax && !e.wrote && d.inline >= mailSize && e.mailed[e.mails%mailSlots] <= e.acked &&
		(e.burstPoll != d.polls || e.burst < lone) && (d.sends == 0 || !d.inPoll)
}

// letter is the words of a mail.
type letter [mailSize / 8]uint64

// mail sends a message that mayMail, from the work request itself. There is room
// for one more, since fewer than a batch wait.
func (e *endpoint) mail(kind uint8, imm uint64, hdr, body []byte) {
	d := e.d
	number, place := e.sent+1, e.mails%mailSlots
	e.mails++
	e.mailed[place] = number
	// The header of a message, with the number in place of half the length.
	head := uint64(kind) | uint64(len(hdr))<<8 | uint64(e.grant())<<16 | uint64(len(body))<<32 | number<<48
	s := &d.ring.sends[d.sends]
	s.work = work{op: opWriteNote}
	if e.mayWhisper() {
		s.op, head = opWrite, head|quiet
	} else if e.urgent(kind) {
		s.flags |= flagSolicited
	}
	s.setOwn(s.own.write(number, head, imm, hdr, body))
	s.remote, s.rkey = e.boxAddr+uint64(place*mailSize), e.creditKey
	e.sent, e.wrote = number, false
	e.queue(s, formPlain)
}

// write makes a letter of a message and answers its length in bytes.
func (l *letter) write(number, head, imm uint64, hdr, body []byte) uint32 {
	l[0], l[1] = head, imm
	sum := newSeal(number).add(head).add(imm)
	i := headerSize / 8
	if len(hdr) > 0 {
		l[i+(len(hdr)+len(body)-1)/8] = 0
		m := l.bytes()[headerSize:]
		n := copy(m, hdr)
		for n += copy(m[n:], body); n > 0; n -= 8 {
			sum = sum.add(l[i])
			i++
		}
	} else {
		for ; len(body) >= 8; body = body[8:] {
			l[i] = binary.LittleEndian.Uint64(body)
			sum = sum.add(l[i])
			i++
		}
		if len(body) > 0 {
			w := uint64(0)
			for k, b := range body {
				w |= uint64(b) << (8 * k)
			}
			l[i] = w
			sum = sum.add(w)
			i++
		}
	}
	l[i] = uint64(sum)
	return uint32(8*i + 8)
}

// seal is a sum over the words of a mail and its number. A device writes a mail
// in no order and SoftRoCE byte by byte, so a place may hold parts of two: a
// difference in one word always gives another sum, one in more of them but for
// one time in 2^64.
type seal uint64

func newSeal(number uint64) seal { return seal(number * 0xd6e8feb86659fd93) }

func (s seal) add(w uint64) seal {
	return seal(bits.RotateLeft64(uint64(s)^w, 29) * 0x9e3779b97f4a7c15)
}

// peek looks for mail of the hot peers and hands over one.
func (d *Domain) peek(h fabric.Handler) bool {
	peeks := 1
	if d.linger {
		peeks = max(d.peeks, 1)
	}
	for range peeks {
		for i, e := range d.hot {
			if uint16(loadWord(d.creditMem, e.place)>>48) != uint16(e.taken+1) {
				continue
			}
			if e.open(h) {
				d.heard++
				if e.lease.heat++; e.lease.heat == d.lendAfter {
					e.lend()
				}
				if len(d.hot) > 1 {
					d.last(i)
				}
				return true
			}
		}
	}
	d.vain = true
	return false
}

// last puts one of the hot behind the others.
func (d *Domain) last(i int) {
	e := d.hot[i]
	copy(d.hot[i:], d.hot[i+1:])
	d.hot[len(d.hot)-1] = e
}

// warmer makes the next Poll look for mail longer if a crossing in vain came
// before this one; colder cuts that short, since something else has come.
func (d *Domain) warmer() {
	if d.vain {
		d.vain, d.peeks = false, min(max(2*d.peeks, 16), maxPeeks)
	}
}

func (d *Domain) colder() { d.vain, d.peeks = false, d.peeks/4 }

// open hands over the peer's next mail, if it is all there and next in order,
// ahead of the completion if there is to be one.
func (e *endpoint) open(h fabric.Handler) bool {
	d := e.d
	box := letterAt(d.creditMem, e.place)
	head, imm := box.load(0), box.load(1)
	nh, nb := int(uint8(head>>8)), int(uint16(head>>32)&^(quiet>>32))
	if e.down != nil || e.cut || nh > fabric.MaxHeader || nh+nb > mailMax {
		return false
	}
	l := &d.letter
	sum, i := newSeal(e.taken+1).add(head).add(imm), headerSize/8
	for n := nh + nb; n > 0; n -= 8 {
		l[i] = box.load(i)
		sum = sum.add(l[i])
		i++
	}
	if seal(box.load(i)) != sum {
		return false
	}
	if e.opened++; head&quiet == 0 {
		e.ahead++
		d.ahead++
	}
	e.place = e.box + int(e.opened%mailSlots)*mailSize
	d.warmer()
	e.credited(uint16(head >> 16))
	m := l.bytes()[headerSize:]
	h.Deliver(e.peer, uint8(head), imm, m[:nh:nh], m[nh:nh+nb])
	e.owe()
	return true
}

// mailDone takes the completion of a mail, which has been handed over or is now.
func (e *endpoint) mailDone(h fabric.Handler) int {
	n := 0
	if e.ahead == 0 {
		e.warm()
		if e.open(h) {
			n = 1
		}
		if e.ahead == 0 { // or it was quiet
			e.fail(&fabric.Error{Op: "receive over verbs", Peer: e.peer, HasPeer: true,
				Err: fmt.Errorf("%w: what it wrote to its box can't be message %d", fabric.ErrPeerDown, e.taken+1)})
			return n
		}
	}
	e.ahead--
	e.d.ahead--
	return n
}

// warm makes the peer one of the hot, in place of the first without a lease. If
// all have one, the first is called back.
func (e *endpoint) warm() {
	d := e.d
	if slices.Contains(d.hot, e) {
		return
	}
	if len(d.hot) == maxHot {
		i := slices.IndexFunc(d.hot, func(x *endpoint) bool { return x.lease.state == unleased })
		if i < 0 {
			if !slices.ContainsFunc(d.hot, func(x *endpoint) bool { return x.lease.state == called }) {
				d.hot[0].callBack() // one at a time
			}
			return
		}
		d.hot = slices.Delete(d.hot, i, i+1)
	}
	d.hot = append(d.hot, e)
}

// cool ends the looks for the mail of a peer that has gone.
func (e *endpoint) cool() {
	d := e.d
	d.ahead -= e.ahead
	e.ahead = 0
	e.closeLease()
	if e.lease.answering {
		e.lease.answering = false
		d.answers--
	}
	if i := slices.Index(d.hot, e); i >= 0 {
		d.hot = slices.Delete(d.hot, i, i+1)
	}
}
