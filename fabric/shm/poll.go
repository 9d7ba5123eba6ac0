package shm

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// Poll delivers events of connections, completions and messages, and moves large
// transfers on by a block.
func (d *Domain) Poll(h fabric.Handler, max int) int {
	own, n := 0, 0
	if d.pending.Load() || atomic.LoadUint32(d.left) != d.leftSeen ||
		len(d.parting)+len(d.jobs)+len(d.helps)+d.dying+len(d.done) > 0 {
		own, n = d.besides(h, max)
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

// besides does what there is beside messages: own is what is no completion.
func (d *Domain) besides(h fabric.Handler, max int) (own, n int) {
	if d.pending.Load() {
		d.takeEvents()
		own++
	}
	if atomic.LoadUint32(d.left) != d.leftSeen {
		d.findLeft()
		own++
	}
	if len(d.parting) > 0 {
		own += d.part()
	}
	if len(d.jobs)+len(d.helps) > 0 && d.work() {
		own++
	}
	if d.dying > 0 {
		n = d.mourn(h, max)
	}
	if len(d.done) > 0 {
		n += d.complete(h, max-n)
	}
	return own, n
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

// waiting reports whether the ring has a message. An idle Poll does only this
// for a peer.
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
				return n + 1 // the next Poll reports it
			}
			body = line.data(hl, bl)
		} else {
			if hl > maxInline || bl > maxEager {
				d.corrupt(r, ctl)
				return n + 1 // the next Poll reports it
			}
			var off uint64
			off, r.payHead = r.place(r.payHead, bl)
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
			d.internal(r, uint8(ctl>>ctlKindShift), hdr)
		} else {
			h.Deliver(r.peer.peer, uint8(ctl>>ctlKindShift), line.imm(), hdr, body)
		}
		if r.head == r.peer.heard+1 && r.peer.tx.inline && len(d.reads) == 0 {
			r.peer.tx.claimNext() // for a reply, which is likely to be as short
		}
		r.tell()
		n++
		if len(d.reads)+len(d.done) > 0 {
			// A Get that the handler began has completed already: its completion
			// must not wait for the messages behind this one.
			n += d.readBrief(h)
			n += d.complete(h, max-n)
		}
	}
	d.delivering = false
	if len(d.reads) > 0 {
		n += d.readBrief(h)
	}
	return n
}

func (d *Domain) corrupt(r *inbound, ctl uint64) {
	d.delivering = false
	d.fail(r.peer, &fabric.Error{Op: "receive over shared memory", Peer: r.peer.peer, HasPeer: true,
		Err: fmt.Errorf("%w: its ring holds the impossible control word %#x", fabric.ErrPeerDown, ctl)})
}

// takeEvents applies the greeter's events.
func (d *Domain) takeEvents() {
	for {
		d.mu.Lock()
		if len(d.events) == 0 {
			d.events = nil
			d.pending.Store(false)
			d.mu.Unlock()
			return
		}
		ev := d.events[0]
		d.events = d.events[1:]
		d.mu.Unlock()
		d.take(&ev)
	}
}

// takeLast applies the events of a peer that is being ended, and rejects its
// connections from now on.
func (d *Domain) takeLast(e *endpoint) {
	d.mu.Lock()
	if d.ended == nil {
		d.ended = map[fabric.Peer]bool{}
	}
	d.ended[e.peer] = true
	var last []event
	d.events = slices.DeleteFunc(d.events, func(ev event) bool {
		if ev.peer == e.peer {
			last = append(last, ev)
		}
		return ev.peer == e.peer
	})
	d.mu.Unlock()
	for i := range last {
		switch ev := &last[i]; {
		case ev.err != nil:
			e.died = e.died || ev.died
		case !ev.undone: // there is no need to forget a peer that ends
			d.take(ev)
		}
	}
}

// take applies an event. It takes a ring even from a peer that has ended: leave
// needs it.
func (d *Domain) take(ev *event) {
	e := d.endpoint(ev.peer)
	if ev.err != nil {
		e.died = e.died || ev.died
		err := ev.err
		if ev.died && !e.up { // it may have left before it knew of the connection
			err = &fabric.Error{Op: "connect over shared memory", Peer: e.peer, HasPeer: true, Err: fabric.ErrPeerLeft}
		}
		if !d.closed.Load() {
			d.die(e, err)
		}
		return
	}
	switch {
	case ev.stands:
		if e.info != nil && e.down == nil {
			e.stand()
		}
		return
	case ev.undone:
		if e.down == nil {
			d.unmeet(e)
		}
		return
	}
	e.info, e.wake, e.seg = ev.known, word64(ev.known.control, offWake), ev.seg
	e.tx = producer{ringMem: d.newRing(ev.tx), haste: haste{hasty: !d.full}, fenced: ev.fenced}
	e.rx = &inbound{consumer: consumer{ringMem: d.newRing(ev.rx)}, peer: e}
	d.rx = append(d.rx, e.rx)
	e.fenced = ev.fenced
	if !ev.early {
		e.stand()
	}
	d.leftSeen = atomic.LoadUint32(d.left) - 1 // its peer may have left already
}

// unmeet forgets a peer that has begun a connection and dropped it: the peer has
// used none of the rings and has hung up.
func (d *Domain) unmeet(e *endpoint) {
	if e.dying != nil {
		e.dying = nil
		d.dying--
	}
	d.rx = slices.DeleteFunc(d.rx, func(r *inbound) bool { return r == e.rx })
	e.left, e.died = false, false
	e.close()
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
