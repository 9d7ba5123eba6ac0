package mem

import "github.com/weft-mpi/weft/fabric"

// Poll begins with the completions, then the deaths, which a stream of messages
// must not delay, then the peer after the one it ended with.
func (d *domain) Poll(h fabric.Handler, max int) int {
	if max <= 0 || !d.guard.live(0) {
		return 0
	}
	if d.chaos != nil {
		return d.pollSeeded(h, max)
	}
	n := 0
	if d.done.len > 0 {
		n = d.pollDone(h, max)
	}
	n += d.pollDeaths(h, max-n)
	d.ready.collect()
	if d.ready.count == 0 {
		return n
	}
	// Each peer at most once, from d.next around to it.
	from := d.next
	n = d.pollReady(h, from, len(d.peers), n, max)
	return d.pollReady(h, 0, from, n, max)
}

// pollReady polls the peers in the set from lo to below hi. n of at most max
// events have been delivered; it returns the new n.
func (d *domain) pollReady(h fabric.Handler, lo, hi, n, max int) int {
	for n < max {
		p := d.ready.next(lo, hi)
		if p < 0 {
			break
		}
		lo, d.next = p+1, p+1
		s := &d.peers[p]
		stays := d.ready.count <= maxWatched && s.vain < maxVain
		if !stays {
			d.ready.remove(p)
		}
		if got := d.pollPeer(h, fabric.Peer(p), max-n); got > 0 {
			n += got
			s.vain = 0
		} else {
			s.vain++
		}
		if n == max && !stays {
			d.ready.restore(p)
		}
	}
	return n
}

// pollSeeded takes some events of each source, in the order that the seed
// says.
func (d *domain) pollSeeded(h fabric.Handler, max int) int {
	budget, n := d.chaos.budget(max), 0
	for _, s := range d.chaos.shuffle() {
		if n == budget {
			break
		}
		switch some := 1 + d.chaos.below(budget-n); s {
		case len(d.in):
			n += d.pollDone(h, some)
		case len(d.in) + 1:
			n += d.pollDeaths(h, some)
		default:
			n += d.pollPeer(h, fabric.Peer(s), some)
		}
	}
	if n < max && d.backlog() {
		d.bell.ring() // the caller must not sleep on what was held back
	}
	return n
}

// backlog reports whether Poll would find something.
func (d *domain) backlog() bool {
	if d.done.len > 0 || d.noticeDeaths() {
		return true
	}
	for p := range d.in {
		if q := d.inbound(fabric.Peer(p)); q != nil && q.peek() != nil {
			return true
		}
	}
	return false
}

func (d *domain) pollDone(h fabric.Handler, max int) int {
	n := 0
	for ; n < max && d.done.len > 0; n++ {
		f := d.done.pop()
		d.peers[f.peer].inflight--
		h.Complete(f.op, nil)
	}
	return n
}

// inbound returns the queue from p, nil if it has nothing.
func (d *domain) inbound(p fabric.Peer) *queue {
	if d.peers[p].down != nil {
		return nil
	}
	q := d.in[p]
	if q == nil {
		q = d.net.queues[int(p)*len(d.in)+int(d.rank)].Load()
		d.in[p] = q
	}
	return q
}

// pollPeer delivers the messages of p. It stops where a handler has
// ended p.
func (d *domain) pollPeer(h fabric.Handler, p fabric.Peer, max int) int {
	q := d.inbound(p)
	if q == nil {
		return 0
	}
	n := 0
	for n < max && d.peers[p].down == nil {
		s := q.peek()
		if s == nil {
			break
		}
		h.Deliver(p, s.kind, s.imm, s.hdr[:s.hdrLen], s.body)
		n++
		if q.release() {
			d.net.domains[p].bell.ring()
		}
	}
	return n
}

// noticeDeaths lists ranks that have left as dying and reports whether there are
// any.
func (d *domain) noticeDeaths() bool {
	if n := d.net.deaths.Load(); n != d.deathsSeen {
		d.deathsSeen = n
		for p, o := range d.net.domains {
			if s := &d.peers[p]; o != d && !s.dying && s.down == nil && o.leftWhy(d.rank) != nil {
				s.dying = true
				d.dying = append(d.dying, fabric.Peer(p))
			}
		}
	}
	return len(d.dying) > 0
}

// pollDeaths finishes the dying: delivers their messages, completes every
// operation with them, calls PeerDown.
func (d *domain) pollDeaths(h fabric.Handler, max int) int {
	n := 0
	if max <= 0 || !d.noticeDeaths() {
		return 0
	}
	for i := 0; i < len(d.dying) && n < max; {
		p := d.dying[i]
		s := &d.peers[p]
		n += d.pollPeer(h, p, max-n)
		if n == max {
			break // there may be messages left
		}
		if s.down == nil && s.inflight > 0 {
			i++ // completions are still in done
			continue
		}
		d.dying = append(d.dying[:i], d.dying[i+1:]...)
		if s.down != nil {
			continue // this rank has ended it meanwhile
		}
		s.down = d.net.domains[p].leftWhy(d.rank)
		h.PeerDown(p, s.down)
		n++
	}
	return n
}
