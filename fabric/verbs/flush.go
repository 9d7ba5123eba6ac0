package verbs

import (
	"cmp"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// An acknowledgement says that the peer's device has the bytes of a WRITE; on
// their way to the memory a message over another device, or another fabric, can
// overtake them. The answer to a READ that is behind the WRITE on its queue pair
// comes when they are there (IBTA specification, volume 1, 9.5, the ordering of
// transactions), as long as memory is registered without relaxed ordering.

// Flush is a fence, such a READ, on the first queue pair and on each of the
// others that has written since its last one. Transfers in stripes may still be
// about to post: it waits for those that have begun before.
func (e *endpoint) Flush(op fabric.Op) error {
	d := e.d
	if !e.up {
		return e.notUp()
	}
	if !e.room(1 + len(e.rails)) {
		return fabric.ErrAgain
	}
	for _, r := range e.rails {
		if !r.room(d, 1) {
			return fabric.ErrAgain
		}
	}
	id := d.takeTransfer()
	t := &d.transfers[id]
	t.e, t.op, t.verb, t.left, t.err = e, op, ibv.RDMAWrite, 1+len(e.rails), nil
	t.number, t.flush, t.before = e.number, true, e.moving
	t.waiting = append(t.waiting[:0], part{})
	e.reserveFirst(1)
	for k, r := range e.rails {
		t.waiting = append(t.waiting, part{rail: k + 1})
		e.reserve(r, 1)
	}
	if t.before > 0 {
		e.flushes = append(e.flushes, id)
	} else {
		e.postFences(id)
	}
	return nil
}

// postFences posts the parts of a Flush that waits for nothing any more. Of a
// peer that fails finishFailed ends them.
func (e *endpoint) postFences(id uint32) {
	d, t := e.d, &e.d.transfers[id]
	waiting := t.waiting
	t.waiting = t.waiting[:0]
	e.reserveFirst(-1)
	for _, r := range e.rails {
		e.reserve(r, -1)
	}
	for _, p := range waiting {
		switch {
		case e.failing != nil:
			e.stranded = append(e.stranded, stripe{id, p})
		case p.rail == 0:
			e.postPart(id, p, 0)
		default:
			switch r := e.rails[p.rail-1]; {
			case !r.wrote || r.qp.Handle == 0 && r.gone:
				t.left-- // the first queue pair's is outstanding
			case r.lost != nil: // what was written there has landed once both ends are destroyed
				e.stranded = append(e.stranded, stripe{id, p})
				e.needFailover()
			default:
				e.postPart(id, p, 0)
			}
		}
	}
	if !d.inPoll && d.sends > 0 {
		d.flush()
	}
	d.flushPorts()
}

// reserveFirst keeps places on the first queue pair.
func (e *endpoint) reserveFirst(n int) {
	e.reserved += n
	e.d.outstanding += n
}

// makeFence makes a READ of 8 bytes over a rail, or the first queue pair (nil):
// of what the peer's port there lets us read, to where nobody looks.
func (e *endpoint) makeFence(s *ibv.SendWR, r *rail) {
	d := e.d
	s.Opcode, s.RemoteAddr, s.RKey = ibv.RDMARead, e.creditAddr, e.creditKey
	if r != nil && r.theirs != 0 {
		s.RemoteAddr, s.RKey = e.keysAddr, r.keysKey
	}
	s.SGE[0] = ibv.SGE{Addr: ibv.Addr(d.sendMem) + sendSlots*slotSize, Length: 8, LKey: d.sendMR.LKey}
	if r != nil && r.port != 0 {
		s.SGE[0] = ibv.SGE{Addr: ibv.Addr(d.keysMem) + pin.KeyEntries*pin.KeySize, Length: 8, LKey: d.ports[r.port-1].keysMR.LKey}
	}
}

// moved notes the end of a transfer in stripes, and lets the Flushes go that
// have waited for it only.
func (e *endpoint) moved(number uint64) {
	d := e.d
	e.moving--
	for _, id := range e.flushes {
		if t := &d.transfers[id]; t.number >= number {
			t.before--
		}
	}
	for len(e.flushes) > 0 && d.transfers[e.flushes[0]].before == 0 { // a later one waits for at least as many
		id := e.flushes[0]
		e.flushes = e.flushes[:copy(e.flushes, e.flushes[1:])]
		e.postFences(id)
	}
}

// keep notes the failure of a NoOp for the next Flush.
func (e *endpoint) keep(number uint64, err error) {
	if e.unsaid == nil && err != nil {
		e.unsaid, e.unsaidOf = err, number
	}
}

// flushed ends a Flush. One of a NoOp that was refused ends as that does.
func (e *endpoint) flushed(h fabric.Handler, op fabric.Op, number uint64, err error) int {
	if slices.ContainsFunc(e.refused, func(o refusedOp) bool { return o.op == fabric.NoOp && o.number <= number }) {
		return e.complete(h, refusedOp{op, number, true}, errRefused)
	}
	if e.unsaid != nil && e.unsaidOf <= number {
		err = cmp.Or(err, e.unsaid)
		e.unsaid = nil
	}
	return e.complete(h, refusedOp{op: op}, err)
}

// Share answers that loads and stores do not reach other machines.
func (d *Domain) Share(int) (fabric.Segment, error) {
	return fabric.Segment{}, fabric.ErrUnsupported
}
