package verbs

import (
	"cmp"
	"fmt"
	"syscall"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

const _ = uint(ibv.MaxSends - batch - 1) // what gathers fits

// takeSlot takes a send slot.
func (d *Domain) takeSlot() (uint32, bool) {
	n := len(d.freeSlots)
	if n == 0 {
		return 0, false
	}
	i := d.freeSlots[n-1]
	d.freeSlots = d.freeSlots[:n-1]
	return i, true
}

func (d *Domain) slot(i uint32) []byte {
	return d.sendMem[int(i)*slotSize:][:slotSize:slotSize]
}

// next is a clear descriptor, of which submit makes a work request. There is
// always one: who makes the batch full posts it.
func (d *Domain) next() *ibv.SendWR {
	return d.ring.Sends[d.sends].Reset()
}

// submit queues a work request to be posted, which is done now unless more is
// expected: within Poll its end, else the next Poll once several sends to the
// peer have gone by themselves. Where the rank's thread sleeps, its doorbell
// makes it come and Poll; where it has none, nothing gathers: the next Poll may
// never come.
func (e *endpoint) submit(s *ibv.SendWR, w entry) {
	d := e.d
	if w.slot >= 0 {
		if s.Flags&ibv.Inline != 0 {
			d.inlined = append(d.inlined, uint32(w.slot))
			w.slot = -1
		} else {
			e.held++
			d.uncovered++
		}
	}
	e.ring[e.tail%queueDepth] = w
	e.queue(s, w.form)
}

// queue is submit of a descriptor whose entry is noted down; that of a plain one
// which holds no slot needs no note.
func (e *endpoint) queue(s *ibv.SendWR, f form) {
	d := e.d
	s.QP, s.ID = e.qp.Handle, uint64(e.peer)<<32|uint64(e.tail)
	e.tail++
	e.unsignaled++
	// Slots that wait for a later signal must not be all there are.
	if f == formOp || e.unsignaled >= signalEvery || d.uncovered >= sendSlots/4 {
		s.Flags |= ibv.Signaled
		d.uncovered -= e.held
		e.unsignaled, e.held = 0, 0
	}
	d.outstanding++
	d.sends++
	if d.inPoll {
		if d.sends < batch {
			return
		}
	} else {
		if e.burstPoll != d.polls {
			e.burst, e.burstPoll = 0, d.polls
		}
		if e.burst++; e.burst > lone && !d.cfg.Unattended && d.sends+d.coalescing.messages < batch {
			if d.bell.armed != 0 && d.rungPoll != d.polls {
				d.rungPoll = d.polls
				d.bell.Ring()
			}
			return
		}
	}
	d.flush()
}

// flush posts what waits.
func (d *Domain) flush() { d.postPoll(0, 0, 1) }

// postPoll posts what waits and polls. Slots are given back many at a time: each
// call costs what several of them do.
func (d *Domain) postPoll(maxRecv, maxSend, looks int) ibv.Polled {
	sends, recvs := d.sends, 0
	if d.recvs > d.hold {
		recvs, d.recvs = d.recvs, 0
	}
	p := d.hca.PostPoll(sends, recvs, maxRecv, maxSend, looks)
	d.sends, d.coalescing = 0, coalescing{}
	if len(d.inlined) > 0 {
		d.freeSlots = append(d.freeSlots, d.inlined...)
		d.inlined = d.inlined[:0]
	}
	if !p.OK() {
		d.refused(sends)
		if err := p.Err(); err != nil {
			d.failAll(err)
		}
	}
	return p
}

// refused ends the peers whose work requests the library would not take: its
// queues have the room that we count, so something is broken.
func (d *Domain) refused(sends int) {
	for i := range sends {
		s := &d.ring.Sends[i]
		if s.Refused == 0 {
			continue
		}
		why := syscall.Errno(s.Refused)
		if s.ID>>railShift != 0 {
			d.refusedRail(s)
		} else if e := d.peers[s.ID>>32]; e != nil {
			e.fail(&fabric.Error{Op: "post to the device", Peer: e.peer, HasPeer: true,
				Err: fmt.Errorf("%w: ibv_post_send: %w", fabric.ErrPeerDown, why)})
			e.failBy = e.failBy.Add(-flushTime) // what was refused is never flushed
		}
		s.Refused = 0
	}
}

// repost gives a receive slot back to the device with a later postPoll.
func (d *Domain) repost(slot uint32) {
	if d.recvs == ibv.MaxRecvs {
		d.flush()
	}
	d.ring.Recvs[d.recvs] = slot
	d.recvs++
}

// retire ends what a completion stands for: the work request it names and
// those before, which went well. It returns how many events that made.
func (d *Domain) retire(h fabric.Handler, c *ibv.WC) int {
	if c.ID>>railShift != 0 {
		return d.retireRail(h, c)
	}
	e := d.peers[c.ID>>32]
	seq := uint32(c.ID)
	if e == nil || seq-e.head >= e.tail-e.head {
		return 0 // of a queue pair that is gone
	}
	w := &e.ring[seq%queueDepth]
	if e.head == seq && c.Status == 0 && w.form == formOp && w.slot < 0 && e.lost == nil {
		// The commonest by far: an operation with nothing before it.
		op := w.op
		w.op, w.form = 0, formPlain // noEntry again: there is no result without a slot
		e.head++
		d.outstanding--
		h.Complete(op, nil)
		return 1
	}
	var err error
	if c.Status != 0 {
		err = e.completionError(c)
	}
	n := 0
	for e.head != seq+1 {
		if e.ring[e.head%queueDepth].bare() {
			e.head++
			e.d.outstanding--
			continue
		}
		last := e.head == seq
		if last && err != nil {
			n += e.end(h, err)
		} else {
			n += e.end(h, nil)
		}
	}
	return n
}

// end takes the first entry off the ring.
func (e *endpoint) end(h fabric.Handler, err error) int {
	w := &e.ring[e.head%queueDepth]
	e.head++
	d := e.d
	d.outstanding--
	if w.result != nil && err == nil {
		*w.result = loadWord(d.slot(uint32(w.slot)), 0)
	}
	if w.slot >= 0 {
		d.freeSlots = append(d.freeSlots, uint32(w.slot))
	}
	op, f, slot := w.op, w.form, w.slot
	if w.op, w.form, w.slot = 0, formPlain, -1; w.result != nil {
		w.result = nil
	}
	switch f {
	case formPiece:
		e.lost = cmp.Or(e.lost, err)
	case formOp, formQuiet:
		if e.lost != nil {
			err, e.lost = e.lost, nil
		}
		return e.complete(h, refusedOp{op: op}, err)
	case formStripe:
		return d.ended(h, uint32(op), err)
	case formKeys:
		return e.gotKeys(h, uint32(op), d.slot(uint32(slot))[:pin.KeySize], err)
	}
	return 0
}
