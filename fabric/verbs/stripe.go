package verbs

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

const (
	// The name of a work request on a rail: the rail's number from 1 on, the
	// peer, and the number in the rail's ring. Those of the first queue pair
	// have rail 0.
	railShift = 56
	peerMask  = 1<<(railShift-32) - 1
)

// transfer is a Get or Put that is under way in stripes, or a Flush.
type transfer struct {
	e       *endpoint // nil while the entry is free
	op      fabric.Op
	verb    ibv.Opcode
	left    int // work requests, and parts that wait, of which it consists
	err     error
	waiting []part // for the peer's keys, or transfers; the memory is used again
	local   uint64
	remote  uint64
	rkey    uint32 // on the peer's first port
	number  uint64 // among the endpoint's; of a Flush that of the last before it
	flush   bool
	before  int // transfers that a Flush waits for
}

// part is a stripe, or a piece of one where the device takes no more at once.
type part struct {
	rail int // 0: the first queue pair
	off  uint64
	n    uint32 // 0: a fence
	lkey uint32 // on the rail's port
	back uint32 // lkey on the first port
}

// stripe is a part that is under way on a rail, or was when that was lost.
type stripe struct {
	id uint32 // of the transfer
	part
}

// lanes are the rails that a transfer can take, 0 the first queue pair.
type lanes struct {
	n    int
	rail [maxRails]int
	lkey [maxRails]uint32
}

// lanesFor finds the rails that a transfer of a segment can take.
func (e *endpoint) lanesFor(verb ibv.Opcode, seg fabric.Segment, lkey uint32) (l lanes) {
	l.n, l.lkey[0] = 1, lkey
	for k, r := range e.rails {
		if r.fenced(verb) && (r.port == 0 || r.keysKey == 0) {
			continue // nothing to fence with
		}
		if r.lost != nil || l.n == maxRails || (l.n+1)*e.d.stripeMin > len(seg.Bytes) {
			continue
		}
		key := lkey
		if r.port > 0 {
			var ok bool
			if key, ok = e.d.regions.LocalAt(seg, r.port); !ok {
				continue
			}
		}
		l.rail[l.n], l.lkey[l.n] = k+1, key
		l.n++
	}
	return l
}

// fenced says whether a transfer ends on the rail with a fence: a READ behind
// its WRITEs. What two devices write comes in no order, so that a message over
// the first port could be seen before bytes that another has acknowledged. The
// answer to a READ comes when the WRITEs before it are in the memory.
func (r *rail) fenced(verb ibv.Opcode) bool { return verb != ibv.RDMARead && r.theirs != 0 }

// stripe moves a segment over several queue pairs. False says that it goes over
// the first alone.
//
// The keys of the peer's further ports are in a table of its memory: they are
// read first, while the stripes that need none of them are under way.
func (e *endpoint) stripe(verb ibv.Opcode, seg fabric.Segment, lkey uint32, m fabric.Remote, op fabric.Op, piece int) (bool, error) {
	d, n := e.d, len(seg.Bytes)
	l := e.lanesFor(verb, seg, lkey)
	if l.n < 2 {
		return false, nil
	}
	share := (n/l.n + stripeAlign) &^ (stripeAlign - 1)
	each := (share + piece - 1) / piece
	total := (each+1)*l.n + 1 // with fences
	if total > d.budget || total > queueDepth-sendReserve {
		return false, nil
	}
	if !e.room(total) {
		return true, fabric.ErrAgain
	}
	foreign := false
	for i := 1; i < l.n; i++ {
		r := e.rails[l.rail[i]-1]
		if !r.room(d, each+1) {
			return true, fabric.ErrAgain
		}
		foreign = foreign || r.theirs != 0
	}
	slot := uint32(0)
	if foreign {
		var ok bool
		if slot, ok = d.takeSlot(); !ok {
			return true, fabric.ErrAgain
		}
	}
	id := d.takeTransfer()
	t := &d.transfers[id]
	t.e, t.op, t.verb, t.left, t.err = e, op, verb, 0, nil
	t.local, t.remote, t.rkey = ibv.Addr(seg.Bytes), m.Addr, uint32(m.Key)
	e.number++
	e.moving++
	t.number, t.flush = e.number, false
	if foreign {
		t.left++
		e.readKeys(id, slot)
	}
	for i, off := 0, 0; i < l.n && off < n; i++ {
		for end := min(off+share, n); off < end; {
			p := part{rail: l.rail[i], off: uint64(off), n: uint32(min(piece, end-off)), lkey: l.lkey[i], back: lkey}
			off += int(p.n)
			t.left++
			if p.rail > 0 && e.rails[p.rail-1].theirs != 0 {
				t.waiting = append(t.waiting, p)
				e.reserve(e.rails[p.rail-1], 1)
			} else {
				e.postPart(id, p, t.rkey)
			}
		}
		if k := l.rail[i]; k > 0 && e.rails[k-1].fenced(verb) {
			t.left++
			t.waiting = append(t.waiting, part{rail: k})
			e.reserve(e.rails[k-1], 1)
		}
	}
	if !d.inPoll && d.sends > 0 {
		d.flush()
	}
	d.flushPorts()
	return true, nil
}

// takeTransfer finds a free entry.
func (d *Domain) takeTransfer() uint32 {
	if n := len(d.freeTransfers); n > 0 {
		id := d.freeTransfers[n-1]
		d.freeTransfers = d.freeTransfers[:n-1]
		return id
	}
	d.transfers = append(d.transfers, transfer{})
	return uint32(len(d.transfers) - 1)
}

// reserve keeps places for n parts that wait, on their rail and, should that be
// lost by then, on the first queue pair.
func (e *endpoint) reserve(r *rail, n int) {
	e.reserved += n
	e.d.outstanding += n
	r.reserved += n
	if r.port > 0 {
		e.d.ports[r.port-1].outstanding += n
	}
}

// readKeys reads what the peer's further ports call its memory.
func (e *endpoint) readKeys(id, slot uint32) {
	d := e.d
	s := d.next()
	s.Opcode, s.NumSGE = ibv.RDMARead, 1
	s.RemoteAddr, s.RKey = e.keysAddr+pin.KeyOffset(d.transfers[id].rkey), e.keysKey
	s.SGE[0] = ibv.SGE{Addr: ibv.Addr(d.slot(slot)), Length: pin.KeySize, LKey: d.sendMR.LKey}
	s.Flags |= ibv.Signaled
	e.submit(s, entry{op: fabric.Op(id), form: formKeys, slot: int32(slot)})
}

// postPart posts a part of a transfer.
func (e *endpoint) postPart(id uint32, p part, rkey uint32) {
	d, t := e.d, &e.d.transfers[id]
	var s *ibv.SendWR
	var r *rail
	if p.rail > 0 {
		r = e.rails[p.rail-1]
	}
	if r == nil || r.port == 0 {
		s = d.next()
	} else {
		s = d.ports[r.port-1].next(d)
	}
	s.Opcode, s.NumSGE, s.RemoteAddr, s.RKey = t.verb, 1, t.remote+p.off, rkey
	s.SGE[0] = ibv.SGE{Addr: t.local + p.off, Length: p.n, LKey: p.lkey}
	s.Flags |= ibv.Signaled
	if p.n == 0 {
		e.makeFence(s, r)
	}
	if r == nil {
		e.submit(s, entry{op: fabric.Op(id), form: formStripe, slot: -1})
		return
	}
	s.QP, s.ID = r.qp.Handle, uint64(p.rail)<<railShift|uint64(e.peer)<<32|uint64(r.tail)
	r.ring[r.tail%queueDepth] = stripe{id, p}
	r.tail++
	r.wrote = p.n > 0 && (r.wrote || t.verb == ibv.RDMAWrite)
	if r.port == 0 {
		d.outstanding++
		if d.sends++; d.sends >= batch {
			d.flush()
		}
		return
	}
	d.ports[r.port-1].outstanding++
	d.ports[r.port-1].sends++
}

// flushPorts posts what waits for the further ports.
func (d *Domain) flushPorts() {
	for _, p := range d.ports {
		if p.sends > 0 {
			d.flushPort(p)
		}
	}
}

// gotKeys lets the parts go that have waited for the peer's keys. One whose
// rail has none, or is lost, takes the first queue pair.
func (e *endpoint) gotKeys(h fabric.Handler, id uint32, entry []byte, err error) (n int) {
	d, t := e.d, &e.d.transfers[id]
	waiting := t.waiting
	t.waiting = t.waiting[:0]
	for _, p := range waiting {
		e.reserve(e.rails[p.rail-1], -1)
	}
	if err != nil || e.failing != nil || e.down != nil {
		if err == nil {
			err = e.failing
		}
		for range waiting {
			n += d.ended(h, id, err)
		}
		return n + d.ended(h, id, err)
	}
	keys, ok := pin.DecodeKeys(entry, t.rkey)
	for _, p := range waiting {
		r := e.rails[p.rail-1]
		key := keys[r.theirs%maxPorts]
		if p.n == 0 {
			switch {
			case r.lost != nil: // perhaps amid what was written before
				e.stranded = append(e.stranded, stripe{id, p})
				e.needFailover()
				continue
			case !ok || key == 0: // nothing was written there
				n += d.ended(h, id, nil)
				continue
			}
		} else if !ok || key == 0 || r.lost != nil {
			p.rail, p.lkey, key = 0, p.back, t.rkey
		}
		e.postPart(id, p, key)
	}
	d.flushPorts()
	return n + d.ended(h, id, nil)
}

// ended counts the end of a part, and ends the operation with the last. The
// first error is the operation's.
func (d *Domain) ended(h fabric.Handler, id uint32, err error) int {
	t := &d.transfers[id]
	if t.err == nil {
		t.err = err
	}
	if t.left--; t.left > 0 {
		return 0
	}
	e, op, number, err := t.e, t.op, t.number, t.err
	t.e, t.err = nil, nil
	d.freeTransfers = append(d.freeTransfers, id)
	if t.flush {
		return e.flushed(h, op, number, err)
	}
	e.moved(number)
	return e.complete(h, refusedOp{op: op, number: number}, err)
}
