package verbs

import (
	"fmt"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// loseRail takes a rail out of use. What is under way on it goes on over the
// first queue pair, later transfers take the rails that are left.
func (e *endpoint) loseRail(r *rail, err error) {
	if r.lost != nil {
		return
	}
	d := e.d
	d.lostPaths++
	r.lostBy = time.Now().Add(flushTime)
	if r.lost = e.failing; r.lost == nil {
		r.lost = &fabric.Error{Op: "use a further path to the peer", Peer: e.peer, HasPeer: true,
			Err: fmt.Errorf("%w (port %d of %s): %w", ErrPathLost, d.infoAt(r.port).number, d.infoAt(r.port).device, err)}
		d.cfg.Log.Warn("verbs: a path to a peer is lost, the others are used", "rank", e.peer, "err", r.lost)
	}
	if r.qp.Handle == 0 || d.hcaAt(r.port).FailQP(r.qp) != nil {
		r.lostBy = time.Now()
	}
	e.needFailover()
}

// needFailover makes failOver look at the endpoint.
func (e *endpoint) needFailover() {
	if !e.inFailover {
		e.inFailover = true
		e.d.failovers = append(e.d.failovers, e)
		e.d.endedAt = e.d.taken
	}
}

// losePort takes all rails of a port out of use, which is not the first.
func (d *Domain) losePort(port int, err error) {
	for _, e := range d.peers {
		if e == nil {
			continue
		}
		for _, r := range e.rails {
			if r.port == port {
				e.loseRail(r, err)
			}
		}
	}
}

// loseNumber takes the rail with a queue pair out of use.
func (d *Domain) loseNumber(port int, qpn uint32, err error) {
	for _, e := range d.peers {
		if e == nil {
			continue
		}
		for _, r := range e.rails {
			if r.port == port && r.qp.Num == qpn && r.qp.Handle != 0 {
				e.loseRail(r, err)
			}
		}
	}
}

// railGone takes the word of the peer that its end of a rail is destroyed.
func (e *endpoint) railGone(rail int) {
	switch {
	case e.failing != nil || e.down != nil:
	case rail > len(e.rails):
		e.drain(e.downError("talk over verbs", fmt.Errorf("it has lost path %d of %d", rail, len(e.rails))))
	default:
		r := e.rails[rail-1]
		r.gone = true
		e.loseRail(r, errRailGone)
		e.needFailover() // stripes may wait for this
	}
}

// retireRail ends what a completion on a rail stands for.
func (d *Domain) retireRail(h fabric.Handler, c *ibv.WC) (n int) {
	e := d.peers[c.ID>>32&peerMask]
	k := int(c.ID >> railShift)
	if e == nil || k > len(e.rails) {
		return 0
	}
	r, seq := e.rails[k-1], uint32(c.ID)
	if seq-r.head >= r.tail-r.head {
		return 0
	}
	for r.head != seq {
		n += e.endRail(h, r, nil)
	}
	if c.Status == 0 {
		return n + e.endRail(h, r, nil)
	}
	err := e.railError(r, c)
	if err == nil {
		return n + e.strand(h, r)
	}
	return n + e.endRail(h, r, err)
}

// take is the first stripe that is outstanding on a rail, which it is no more.
func (r *rail) take(d *Domain) stripe {
	s := r.ring[r.head%queueDepth]
	r.head++
	if r.port == 0 {
		d.outstanding--
	} else {
		d.ports[r.port-1].outstanding--
	}
	return s
}

// endRail ends the first stripe that is outstanding on a rail.
func (e *endpoint) endRail(h fabric.Handler, r *rail, err error) int {
	return e.d.ended(h, r.take(e.d).id, err)
}

// strand keeps the first stripe that is outstanding on a lost rail for another
// path, unless its transfer has failed for another reason.
func (e *endpoint) strand(h fabric.Handler, r *rail) int {
	s := r.take(e.d)
	if e.d.transfers[s.id].err != nil {
		return e.d.ended(h, s.id, nil)
	}
	e.stranded = append(e.stranded, s)
	return 0
}

// railError takes a completion that is an error and says what its operation
// ends with, nil if it goes on over another path.
func (e *endpoint) railError(r *rail, c *ibv.WC) error {
	if e.failing != nil {
		return e.failing
	}
	if r.lost == nil {
		s := statuses[min(int(c.Status), len(statuses)-1)]
		e.loseRail(r, fmt.Errorf("%s (status %d, vendor %#x)", s.what, c.Status, c.VendorErr))
	}
	switch c.Status {
	case ibv.LocQPOpErr, ibv.WRFlushErr, ibv.RetryExcErr, ibv.RNRRetryExcErr, ibv.FatalErr, ibv.RespTimeoutErr:
		return nil // the path's: SoftRoCE calls a port that is down statusLocal
	case ibv.RemAccessErr:
		return errRefused
	}
	return r.lost // the request's own: over the first queue pair it would cost the connection
}

// failOver destroys rails that are lost once everything on them is flushed, and
// lets their stripes go on. It is called when the queues are empty, and says
// whether it has to be called again though nothing comes from outside.
func (d *Domain) failOver(h fabric.Handler, max int) (n int, busy bool) {
	failovers := d.failovers
	d.failovers = nil // what is lost meanwhile joins it
	for _, e := range failovers {
		e.inFailover = false
		left := false
		for k, r := range e.rails {
			switch {
			case r.lost == nil || r.qp.Handle == 0 && r.head == r.tail:
				continue
			case r.head != r.tail && time.Now().Before(r.lostBy) || n == max:
				left = true
				continue
			}
			if r.qp.Handle != 0 {
				if d.sends > 0 {
					d.flush() // what waits may name the queue pair
				}
				if err := d.destroyRail(r); err != nil {
					e.fail(e.downError("end a path to the peer", err)) // what it wrote there may still come
				} else if e.failing == nil && e.down == nil {
					d.tellGone(e.peer, k+1)
				}
			}
			for r.head != r.tail && n < max {
				if e.failing != nil {
					n += e.endRail(h, r, e.failing)
				} else {
					n += e.strand(h, r)
				}
			}
			left = left || r.head != r.tail
		}
		busy = busy || left || len(e.refused) > 0
		n += e.settle(h, max-n)
		if n += e.resume(h); left || len(e.stranded)+len(e.refused) > 0 {
			e.needFailover()
		}
	}
	return n, busy
}

// resume posts on the first queue pair what has been under way on rails that are
// lost. Our queue pair is destroyed by then, so that no answer to a READ comes
// any more. A WRITE waits until the peer's is, too: one that is still on its
// way could land after the operation, on what the memory is used for next. What
// has landed by then can be seen, so that a fence is over.
func (e *endpoint) resume(h fabric.Handler) (n int) {
	if e.failing != nil || e.down != nil {
		return 0 // finishFailed ends them
	}
	stranded := e.stranded
	keep := stranded[:0]
	e.stranded = nil // what the end of a transfer adds goes behind
	for _, s := range stranded {
		r, t := e.rails[s.rail-1], &e.d.transfers[s.id]
		if r.qp.Handle != 0 || t.verb != ibv.RDMARead && !r.gone || !e.room(1) {
			keep = append(keep, s)
			continue
		}
		if s.n == 0 {
			n += e.d.ended(h, s.id, nil)
			continue
		}
		s.rail, s.lkey = 0, s.back
		e.postPart(s.id, s.part, t.rkey)
	}
	e.stranded = append(keep, e.stranded...)
	return n
}
