package verbs

import (
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// Quiet mail is a plain WRITE: it takes no receive slot, and makes no completion
// and no event, so its receiver has to look for it. A peer sends it while it has
// a lease, which it gets after lendAfter mails that were found by looking, and
// which is called back before this rank sleeps. The peer answers the call behind
// its last quiet mail. A mail that it had begun to send when the call came may
// so arrive while this rank sleeps: until the answer, which wakes it, the rank
// looks again after leaseTick, then less often.
//
// A lease is a word of the peer's memory that this rank writes: leased or 0. A
// call is that word with a note of 0, an answer such a note without bytes.
const (
	lendAfter    = 32
	leaseTick    = time.Millisecond
	maxLeaseTick = 16 * time.Millisecond
)

// leased is the word of a lease. A device may write it byte by byte.
const leased = 0xffff_ffff_ffff_ffff

// lease is what lies between a rank and a peer.
type lease struct {
	state     leaseState // of the peer's
	answering bool       // the answer to the peer's call could not be sent yet
	heat      int        // mails found by looking, since we slept last
	at        int        // of ours, in creditMem
	addr      uint64     // of the peer's, in its memory
}

type leaseState uint8

const (
	unleased leaseState = iota
	lent
	called // and not answered: there may be quiet mail
)

// mayWhisper says whether our mail may be quiet.
func (e *endpoint) mayWhisper() bool { return loadWord(e.d.creditMem, e.lease.at) == leased }

// lend gives the peer a lease.
func (e *endpoint) lend() {
	l := &e.lease
	if l.state != unleased {
		return
	}
	if !e.note(opWrite, 8, leased) {
		l.heat-- // the next mail tries again
		return
	}
	l.state = lent
	e.d.leases++
}

// callBack calls the peer's lease back, if it has one. Where it can't be told
// now it keeps the lease, and the next call tries again.
func (e *endpoint) callBack() {
	if e.lease.state == lent && e.note(opWriteNote, 8, 0) {
		e.lease.state = called
	}
}

// callLeases calls all leases back, before the rank sleeps, and makes sure that
// it looks again while they are not answered, nor calls of the peers'.
func (d *Domain) callLeases() {
	for _, e := range d.hot {
		e.lease.heat = 0
		e.callBack()
	}
	if d.leases+d.answers == 0 {
		d.tick = leaseTick
		return
	}
	if d.sends > 0 {
		d.flush()
	}
	d.ticker.Reset(d.tick)
	d.tick = min(2*d.tick, maxLeaseTick)
}

// leaseNote takes a note of 0 that is no mail's.
func (e *endpoint) leaseNote(bytes uint32) {
	switch l := &e.lease; {
	case bytes > 0:
		if !l.answering {
			l.answering = true
			e.d.answers++
		}
		if e.answer(); l.answering && !e.owing {
			e.owing = true
			e.d.owing = append(e.d.owing, e)
		}
	case l.state == called:
		e.closeLease()
	}
}

// answer sends an answer that is due, if it can be sent now.
func (e *endpoint) answer() {
	if e.lease.answering && e.note(opWriteNote, 0, 0) {
		e.lease.answering = false
		e.d.answers--
	}
}

// closeLease notes that the peer sends no quiet mail any more.
func (e *endpoint) closeLease() {
	if e.lease.state == unleased {
		return
	}
	e.lease.state, e.lease.heat = unleased, 0
	if e.d.leases--; e.d.leases == 0 {
		e.d.tick = leaseTick
		e.d.ticker.Stop()
	}
}

// note writes so many bytes of a word to the peer's lease, silently or with a
// note, which wakes the peer and counts as a message.
func (e *endpoint) note(op opcode, bytes uint32, word uint64) bool {
	d := e.d
	if !e.up || d.inline < mailSize || !e.room(1) || op == opWriteNote && !e.credit() {
		return false
	}
	s := d.next()
	s.op, s.remote, s.rkey = op, e.lease.addr, e.creditKey
	if bytes > 0 {
		s.own[0] = word
		s.setOwn(bytes)
	}
	if op == opWriteNote {
		s.flags |= flagSolicited
		e.sent++
	}
	e.queue(s, formPlain)
	return true
}

// overheard hands over the peer's next mail if it is quiet. One that was sent
// before whatever has a completion is there before that.
func (e *endpoint) overheard(h fabric.Handler) bool {
	head := loadWord(e.d.creditMem, e.place)
	return head&quiet != 0 && uint16(head>>48) == uint16(e.taken+1) && e.open(h)
}
