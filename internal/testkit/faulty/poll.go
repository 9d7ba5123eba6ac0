package faulty

import "github.com/weft-mpi/weft/fabric"

// event is a completion that waits for a later Poll.
type event struct {
	op  fabric.Op
	err error
}

// Poll hands over what it held back, and then what there is, or some of it.
// What it holds back it counts as done, so it never answers 0 with something
// in hand.
func (d *domain) Poll(h fabric.Handler, max int) int {
	if max <= 0 || d.closed.Load() {
		return d.Domain.Poll(h, max)
	}
	d.h = h
	n := 0
	for ; n < max && len(d.held) > 0; n++ {
		d.handOne()
	}
	if n < max {
		if chance(&d.rng, d.faults.Split) {
			max = n + 1 + int(d.rng.Uint64()>>1%uint64(max-n))
		}
		n += d.Domain.Poll((*holder)(d), max-n)
	}
	return n
}

// handOne hands over the oldest event held back.
func (d *domain) handOne() {
	e := d.held[0]
	d.held = d.held[:copy(d.held, d.held[1:])]
	d.h.Complete(e.op, e.err)
}

// hold keeps an event for later, now and then, and always behind another that
// is kept.
func (d *domain) hold(e event) bool {
	if len(d.held) == 0 && !chance(&d.rng, d.faults.Hold) {
		return false
	}
	d.held = append(d.held, e)
	return true
}

// holder is the domain as the handler of the domain it wraps.
type holder domain

func (d *holder) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	d.h.Deliver(from, kind, imm, hdr, body)
}

func (d *holder) Complete(op fabric.Op, err error) {
	if !(*domain)(d).hold(event{op, err}) {
		d.h.Complete(op, err)
	}
}

// PeerDown comes after everything of the peer's.
func (d *holder) PeerDown(p fabric.Peer, err error) {
	for len(d.held) > 0 {
		(*domain)(d).handOne()
	}
	if e := d.eps[p]; e != nil {
		e.down = true
	}
	d.h.PeerDown(p, err)
}
