package verbs

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// Poll posts what waits and looks for completions, in one crossing. It hands
// over the ends of operations first, which make room.
func (d *Domain) Poll(h fabric.Handler, max int) int {
	if d.closed.Load() {
		return 0
	}
	own := 0
	if d.pending.Load() {
		d.takeEvents()
		own++
	}
	d.inPoll = true
	d.polls++
	n, turned, drained := 0, false, false
	for n < max {
		switch {
		case !d.sdone.empty():
			n += d.retire(h, &d.ring.SendWC[d.sdone.next])
			d.sdone.next++
			own = 1
		case d.inbound.e != nil:
			n += d.deliver(h)
			own = 1
		case !d.rdone.empty():
			n += d.take(h)
			own = 1
		case !turned:
			turned = true
			if d.starved {
				m, busy := d.rest(h, max-n, false)
				if n, own = n+m, own+busy; n == max {
					continue
				}
			}
			looks := 1
			if d.linger && n+own == 0 {
				looks = lingerLooks
			}
			drained = d.look(looks)
			continue
		}
		if turned && d.sdone.empty() && d.rdone.empty() && d.inbound.e == nil {
			break
		}
	}
	if d.starved = n == max; !d.starved {
		m, busy := d.rest(h, max-n, drained)
		n, own = n+m, own+busy
	}
	if len(d.owed) > 0 {
		d.writeCredits()
	}
	if d.sends > 0 {
		d.flush()
	}
	d.inPoll = false
	if n > 0 {
		return n + own
	}
	return own
}

// rest does what comes after the messages: the ends of stripes on further ports,
// rails that are lost, peers that end. It is called when the stashes are empty:
// after the messages, or before the next ones if they left no room in the Poll
// before, as in a Poll for one event beside a flood. drained says that the queues
// behind the stashes are empty, too.
func (d *Domain) rest(h fabric.Handler, max int, drained bool) (n, busy int) {
	if d.ports != nil {
		n = d.pollPorts(h, max)
	}
	if len(d.failovers)+len(d.draining)+len(d.failing) == 0 {
		return n, 0
	}
	// Otherwise what was in the queue when the last of them ended has been taken: it
	// holds one message for each slot at most.
	if n == max || !drained && d.taken-d.endedAt < uint64(len(d.recvMem)/slotSize) {
		return n, 0
	}
	if len(d.failovers) > 0 {
		m, left := d.failOver(h, max-n)
		if n += m; left {
			busy++
		}
	}
	if n < max && len(d.draining)+len(d.failing) > 0 {
		busy++
		n += d.finishFailed(h, max-n)
	}
	return n, busy
}

// Linger is the switch that makes a Poll which finds nothing look again, several
// times in its one crossing. It is the owner's, for a waiter that polls this
// domain only.
func (d *Domain) Linger() *bool { return &d.linger }

// look refills the stashes and says whether the queues are empty behind them.
func (d *Domain) look(looks int) bool {
	maxSend := 0
	if d.outstanding > 0 {
		maxSend = ibv.MaxWC
	}
	p := d.postPoll(ibv.MaxWC, maxSend, looks)
	d.rdone, d.sdone = stash{0, p.Recvs()}, stash{0, p.Sends()}
	return p.Recvs() < ibv.MaxWC && p.Sends() < ibv.MaxWC
}

// take hands over the next message.
func (d *Domain) take(h fabric.Handler) int {
	c := &d.ring.RecvWC[d.rdone.next]
	d.rdone.next++
	d.taken++
	slot := uint32(c.ID)
	e := d.byQPN.find(c.QPNum)
	if e == nil || e.qp.Num != c.QPNum {
		d.takeEvents() // of a connection just made
		e = d.byQPN.find(c.QPNum)
	}
	switch {
	case e == nil || e.qp.Num != c.QPNum || e.down != nil || e.cut:
		d.repost(slot)
		return 0
	case c.Status != 0:
		d.repost(slot)
		if e.failing == nil && e.draining == nil {
			e.fail(e.statusError("receive over verbs", c))
		}
		return 0
	case c.WithImm():
		d.repost(slot)
		e.fail(e.downError("receive over verbs", errors.New("it wrote with immediate data, which no rank does")))
		return 0
	}
	d.inbound = inbound{e, slot, d.recvMem[int(slot)*slotSize:][:min(c.ByteLen, slotSize)]}
	return d.deliver(h)
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
		switch {
		case ev.port > 0 && ev.all:
			d.losePort(ev.port, ev.err)
			continue
		case ev.all:
			d.failAll(ev.err)
			continue
		case ev.rail > 0:
			d.endpoint(ev.peer).railGone(ev.rail)
			continue
		case ev.port > 0:
			d.loseNumber(ev.port, ev.qpn, ev.err)
			continue
		case ev.qpn != 0:
			d.loseNumber(0, ev.qpn, ev.err)
			if e := d.byQPN.find(ev.qpn); e != nil && e.qp.Num == ev.qpn && e.down == nil {
				e.drain(e.downError("talk over verbs", ev.err))
			}
			continue
		}
		e := d.endpoint(ev.peer)
		if ev.here || ev.ended {
			e.answered(ev.ended)
			continue
		}
		if e.down != nil || e.failing != nil {
			e.processEnded(ev.err)
			if ev.made {
				d.destroyQP(0, ev.qp)
				d.discard(ev.rails)
				d.hangUp(ev.peer)
			}
			continue
		}
		if ev.made {
			e.adopt(ev.qp, ev.card)
			e.rails, e.keysAddr, e.keysKey = ev.rails, ev.card.keys, ev.card.keysKey
		}
		if ev.up && e.draining == nil {
			e.up = true
		}
		if ev.err != nil {
			e.gone = true
			e.drain(ev.err)
		}
	}
}

// adopt makes a queue pair the endpoint's.
func (e *endpoint) adopt(q ibv.QP, c card) {
	e.qp = q
	e.ring = make([]entry, queueDepth)
	for i := range e.ring {
		e.ring[i] = noEntry
	}
	e.window = uint64(c.window)
	e.scarce = scarce(e.window)
	e.creditAddr, e.creditKey = c.credit, c.creditKey
	e.d.byQPN.add(q.Num, e)
}
