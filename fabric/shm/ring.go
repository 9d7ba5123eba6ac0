package shm

import "github.com/weft-mpi/weft/fabric"

// A ring segment holds two rings: the first, with which a ring begins, and the
// full one, whose pages are taken when the ring grows (grow.go). In small jobs it
// begins with the full one. The
// layout, in bytes; the producer makes the segment, and both sides check it
// against the handshake.
//
//	0       consumed  a line for each ring, the first's before the full one's,
//	                  written by the consumer: descriptors, payload position
//	128     coop      coopSlots lines, see coop.go
//	1152    in flight a word of the producer's side, see inflight.go
//	1216    ends      a word of each side, the producer's first: it has left
//	1280    settled   a word of the dialler's, see handshake.go
//	2048    lines     firstLines descriptors of 64 bytes
//	4096    payload   firstPayload bytes
//	12288   lines     ringLines descriptors of the full ring
//	45056   payload   of the full ring, as many bytes as payloadFor says
const (
	lineSize = 64

	offConsumed     = 0
	offFullConsumed = 64
	offCoop         = 128
	offInFlight     = 1152
	offEnds         = 1216
	offSettled      = 1280
	offFirstLines   = 2048
	offFirstPayload = offFirstLines + firstLines*lineSize
	offLines        = offFirstPayload + firstPayload // and the end of the first ring
	offPayload      = offLines + ringLines*lineSize

	maxInline = 48 // header and body bytes inside a line
)

// payloadFor is the length of the payload area of each full ring in a job of so
// many ranks.
func payloadFor(ranks int) int {
	n := mostPayload
	for n > leastPayload && n*ranks > inPayload {
		n /= 2
	}
	return n
}

// segmentFor is the length of the segment of each ring in such a job.
func segmentFor(ranks int) int { return offPayload + payloadFor(ranks) }

// A descriptor line is 8 bytes of control, 8 of imm and 48 of data. The
// control word is the publish word: its low half is the line's position plus
// one, so a line of an earlier lap is never taken for a new one and nothing
// has to be cleared.
//
//	bits  0-31  position + 1
//	     32-39  kind
//	     40-45  header length
//	     46-61  body length
//	     62     body is in the payload area
//	     63     for the transport itself, not the handler
const (
	ctlKindShift = 32
	ctlHdrShift  = 40
	ctlBodyShift = 46
	ctlHdrMask   = 1<<6 - 1
	ctlBodyMask  = 1<<16 - 1
	ctlPayload   = 1 << 62
	ctlInternal  = 1 << 63
)

func control(pos uint64, kind uint8, hdr, body int) uint64 {
	return uint64(uint32(pos+1)) | uint64(kind)<<ctlKindShift | uint64(hdr)<<ctlHdrShift | uint64(body)<<ctlBodyShift
}

// place returns where n bytes go in the payload area when pos bytes have gone
// before, and the position after them. A body is never split: one that does not
// fit before the end starts at the beginning. Both sides compute this for
// themselves, so a peer can't point outside the area.
func (m *ringMem) place(pos uint64, n int) (off, next uint64) {
	size := uint64(n+lineSize-1) &^ (lineSize - 1)
	off = pos & (m.area - 1)
	if off+size > m.area {
		pos += m.area - off
		off = 0
	}
	return off, pos + size
}

// producer is the sender's end of a ring.
type producer struct {
	tail, payTail uint64
	// What the consumer was last seen to have consumed.
	seen, paySeen uint64
	ringMem
	haste
	fenced  bool // the peer can't issue membarrier: publish with a full fence
	answers bool // the peer has sent since the last message to it
	inline  bool // the last message was inside its line
}

// consumer is the receiver's end of a ring.
type consumer struct {
	head, payHead uint64
	ringMem
	told, payTold uint64 // the counts that the producer has been sent
}

// room reports whether a line and, if n > 0, n bytes of payload are free. It
// reads the consumer's line only if the last value does not suffice, and not in
// a ring that is to grow before that.
func (p *producer) room(n int) bool {
	next := p.payTail
	if n > 0 {
		_, next = p.place(p.payTail, n)
	}
	if p.tail-p.seen < p.limit && next-p.paySeen <= p.area {
		return true
	}
	if p.hasty {
		return false
	}
	p.seen, p.paySeen = p.consumed()
	// An empty area takes every body, also where it starts anew.
	return p.tail-p.seen < p.limit && (next-p.paySeen <= p.area || p.paySeen == p.payTail)
}

// scribbled reports whether the consumer claims to have consumed more than was
// sent. A body that starts at the beginning counts with the bytes it has left
// free.
func (p *producer) scribbled() bool {
	return p.tail-p.seen > p.limit || p.payTail-p.paySeen > p.area+maxEager
}

// halfFull reads the consumer's line, so it is for the slow path. A ring that
// can grow does not stay full for long.
func (p *producer) halfFull() bool {
	if p.mayGrow() {
		return false
	}
	p.seen, p.paySeen = p.consumed()
	return p.tail-p.seen >= p.limit/2 || p.payTail-p.paySeen >= p.area/2
}

// put writes one message and publishes it, or returns false when the ring is
// full: enlarge then decides whether to try again. hdr and body are within their
// limits.
func (p *producer) put(kind uint8, imm uint64, hdr, body []byte) bool {
	return p.write(control(p.tail, kind, len(hdr), len(body)), imm, hdr, body)
}

func (p *producer) write(ctl, imm uint64, hdr, body []byte) bool {
	if len(hdr)+len(body) <= maxInline {
		if p.tail-p.seen >= p.limit && !p.room(0) {
			return false
		}
		line := p.line(p.tail)
		line.setImm(imm)
		if len(hdr) > 0 {
			copy(line.data(0, len(hdr)), hdr)
		}
		copy(line.data(len(hdr), len(body)), body)
		line.publish(ctl, p.fenced)
		p.tail++
		p.inline = true
		p.claimLines()
		return true
	}
	if !p.room(len(body)) {
		return false
	}
	off, next := p.place(p.payTail, len(body))
	long := fastStrings && len(body) >= stringMin
	if long {
		p.putString(off, body)
	} else {
		copy(p.payload(off, len(body)), body)
	}
	p.publishBody(ctl, imm, hdr, off, next, len(body))
	if !long { // whose lines need not be fetched
		p.claimPayload(len(body))
	}
	return true
}

// putPacked is put for n bytes of a body, more than none, that is packed into the ring.
func (p *producer) putPacked(kind uint8, imm uint64, hdr []byte, body fabric.Packed, at uint64, n int) bool {
	if !p.room(n) {
		return false
	}
	off, next := p.place(p.payTail, n)
	body.Pack(p.payload(off, n), at)
	p.publishBody(control(p.tail, kind, len(hdr), n), imm, hdr, off, next, n)
	p.claimPayload(min(n, claimPacked))
	return true
}

// publishBody publishes a message whose body is in the payload area: n bytes at off, behind
// which the area is free from next on.
func (p *producer) publishBody(ctl, imm uint64, hdr []byte, off, next uint64, n int) {
	p.claimNext()
	if p.answers && n <= maxDemote {
		p.demotePayload(off, n)
	}
	line := p.line(p.tail)
	line.setImm(imm)
	copy(line.data(0, len(hdr)), hdr)
	line.publish(ctl|ctlPayload, p.fenced)
	p.tail++
	p.payTail = next
	p.inline = false
	p.claimLines()
}

// tell publishes the consumer's counts once a quarter of the ring has been
// consumed, so that the consumer's line seldom moves between the cores. For the
// first ring's area, which one body may need as a whole, it publishes at once.
func (c *consumer) tell() {
	if c.head-c.told > c.mask/4 || c.payHead-c.payTold >= c.quarter {
		c.told, c.payTold = c.head, c.payHead
		c.setConsumed(c.told, c.payTold)
	}
}
