package shm

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// burst is how many messages of one peer are handed over before the next
// peer's turn.
const burst = 64

// Poll hands over news of connections, completions and messages, and moves
// large transfers on by a block.
func (d *Domain) Poll(h fabric.Handler, max int) int {
	own := 0
	if d.pending.Load() {
		d.takeEvents()
		own++
	}
	if atomic.LoadUint32(d.left) != d.leftSeen {
		d.findLeft()
		own++
	}
	if len(d.jobs)+len(d.helps) > 0 && d.work() {
		own++
	}
	n := 0
	if d.dying > 0 {
		n = d.mourn(h, max)
	}
	if len(d.done) > 0 {
		n += d.complete(h, max-n)
	}
	if len(d.rx) == 1 {
		if r := d.rx[0]; r.waiting() {
			n += r.poll(d, h, max-n)
		}
		return own + n
	}
	for range d.rx {
		if n >= max {
			break
		}
		if d.turn >= len(d.rx) {
			d.turn = 0
		}
		if r := d.rx[d.turn]; r.waiting() {
			got := r.poll(d, h, min(burst-d.row, max-n))
			n += got
			if d.row += got; d.row < burst {
				continue
			}
		}
		d.turn++
		d.row = 0
	}
	return own + n
}

// mourn ends the peers that have died once their rings are empty.
func (d *Domain) mourn(h fabric.Handler, max int) int {
	n := 0
	for _, r := range d.rx {
		if r.peer.dying == nil || n >= max {
			continue
		}
		if n += r.poll(d, h, max-n); n < max && r.peer.dying != nil {
			d.fail(r.peer, r.peer.dying)
		}
	}
	return n
}

// waiting reports whether the ring has a message. It is all that an idle Poll
// does for a peer.
func (r *inbound) waiting() bool {
	return uint32(r.line(r.head).control()) == uint32(r.head+1)
}

// poll hands over what the ring holds.
func (r *inbound) poll(d *Domain, h fabric.Handler, max int) int {
	n := 0
	d.delivering = true
	for n < max {
		line := r.line(r.head)
		ctl := line.control()
		if uint32(ctl) != uint32(r.head+1) {
			break
		}
		if n > 0 {
			if n == 1 {
				r.expectBurst()
			}
			r.expect()
		}
		hl, bl := int(ctl>>ctlHdrShift&ctlHdrMask), int(ctl>>ctlBodyShift&ctlBodyMask)
		var body []byte
		if ctl&ctlPayload == 0 {
			if hl+bl > maxInline {
				d.corrupt(r, ctl)
				return n + 1 // the next Poll tells of it
			}
			body = line.data(hl, bl)
		} else {
			if hl > maxInline || bl > maxEager {
				d.corrupt(r, ctl)
				return n + 1 // the next Poll tells of it
			}
			var off uint64
			off, r.payHead = payloadAt(r.payHead, bl)
			body = r.payload(off, bl)
		}
		// A header is decoded, so it is read once: the peer could change it.
		hdr := d.hdr[:hl]
		if hl > 0 {
			copy(hdr, line.data(0, hl))
		}
		r.head++
		if bl == 0 && hl > 0 && n+1 == max {
			r.expectNext()
		}
		if ctl&ctlInternal != 0 {
			d.internal(h, r, uint8(ctl>>ctlKindShift), line.imm(), hdr)
		} else {
			h.Deliver(r.peer.peer, uint8(ctl>>ctlKindShift), line.imm(), hdr, body)
		}
		if r.head == r.peer.heard+1 && r.peer.tx.inline && len(d.reads) == 0 {
			r.peer.tx.claimNext() // for an answer, which is likely to be as short
		}
		r.tell()
		n++
		if len(d.reads) > 0 {
			n += d.readBrief(h)
		}
		if len(d.done) > 0 {
			// A Get that the handler began is over already: its end must not
			// wait for the messages behind this one.
			n += d.complete(h, max-n)
		}
	}
	d.delivering = false
	return n + d.readBrief(h)
}

func (d *Domain) corrupt(r *inbound, ctl uint64) {
	d.delivering = false
	d.fail(r.peer, &fabric.Error{Op: "receive over shared memory", Peer: r.peer.peer, HasPeer: true,
		Err: fmt.Errorf("%w: its ring holds the impossible control word %#x", fabric.ErrPeerDown, ctl)})
}

// takeEvents applies what the set-up goroutines have found.
func (d *Domain) takeEvents() {
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.pending.Store(false)
	d.mu.Unlock()
	for i := range events {
		ev := &events[i]
		e := d.endpoint(ev.peer)
		if e.down != nil {
			ev.refuse()
			continue
		}
		if ev.err != nil {
			d.die(e, ev.err)
			continue
		}
		if e.info == nil {
			e.info, e.wake = ev.known, word64(ev.known.control, offWake)
			d.watch(ev.peer, ev.known)
		} else {
			ev.known.close()
		}
		switch {
		case ev.tx != nil:
			e.tx = producer{ringMem: newRingMem(ev.tx), fenced: ev.fenced}
			e.up = true
		case ev.rx != nil && e.rx == nil:
			e.rx = &inbound{consumer: consumer{ringMem: newRingMem(ev.rx)}, peer: e}
			d.rx = append(d.rx, e.rx)
		default:
			unix.Munmap(ev.rx)
		}
		d.leftSeen = atomic.LoadUint32(d.left) - 1 // its peer may have closed already
	}
}

// complete hands over finished operations, oldest first.
func (d *Domain) complete(h fabric.Handler, max int) int {
	n := 0
	for n < len(d.done) && n < max {
		c := d.done[n]
		d.done[n] = completion{}
		n++
		if c.down {
			h.PeerDown(c.peer, c.err)
		} else {
			h.Complete(c.op, c.err)
		}
	}
	d.done = d.done[:copy(d.done, d.done[n:])]
	return n
}

// fail ends a peer: its operations first, then the peer.
func (d *Domain) fail(e *endpoint, err error) {
	if e.down != nil {
		return
	}
	if e.dying != nil {
		d.dying--
	}
	lives := e.rx != nil && e.dying == nil
	e.down, e.dying, e.up = err, nil, false
	if e.rx != nil {
		e.rx.sever()
	}
	for i := 0; i < len(d.jobs); {
		if j := d.jobs[i]; j.e == e {
			if lives {
				j.revoke()
			}
			d.finish(i, err)
		} else {
			i++
		}
	}
	helps := d.helps[:0]
	for _, j := range d.helps {
		if j.e != e {
			helps = append(helps, j)
		} else {
			j.answer(coopAnswered) // it may live, and wait
		}
	}
	clear(d.helps[len(helps):])
	d.helps = helps
	d.done = append(d.done, completion{peer: e.peer, err: err, down: true})
}
