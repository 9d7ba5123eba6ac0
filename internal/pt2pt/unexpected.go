package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// arrival is a message, or an announcement, without a receive. It is a cache
// line without pointers: a rank may have a million.
type arrival struct {
	imm   uint64
	total uint64 // bytes of the message

	addr, key uint64 // RTS: where the message lies
	req       uint64 // RTS, EagerSync: the sender's request; kindOwn: ours

	from  uint32
	began uint32 // in seconds of the loop's clock
	gen   uint32 // counts the uses of the slot
	body  uint32 // index of bodies, if it is stored; next in the free list

	kind    uint8 // Eager, EagerFirst, EagerSync, RTS, or kindOwn
	ready   bool  // of a ready send that came too early
	matched bool  // a matched probe has taken it out of the table

	unreadable bool // RTS: the fabric can't read the message
}

// kindOwn is the arrival of a rank's long message to itself.
const kindOwn uint8 = 0x40

// arrivals is the slab of arrivals, by index, and of their stored bytes.
type arrivals struct {
	slab []*[256]arrival
	free uint32 // index plus one
	used uint32

	bodies   [][]byte
	freeBody []uint32
}

func (s *arrivals) at(id uint32) *arrival { return &s.slab[id/256][id%256] }

func (s *arrivals) take() (uint32, *arrival) {
	if s.free != 0 {
		id := s.free - 1
		a := s.at(id)
		s.free = a.body
		return id, a
	}
	id := s.used
	if int(id/256) == len(s.slab) {
		s.slab = append(s.slab, new([256]arrival))
	}
	s.used++
	return id, s.at(id)
}

func (s *arrivals) give(id uint32) {
	a := s.at(id)
	*a = arrival{gen: a.gen + 1, body: s.free}
	s.free = id + 1
}

// store keeps the bytes of a message that have arrived.
func (s *arrivals) store(a *arrival, b []byte) {
	if n := len(s.freeBody); n > 0 {
		a.body = s.freeBody[n-1]
		s.freeBody = s.freeBody[:n-1]
		s.bodies[a.body] = b
		return
	}
	a.body = uint32(len(s.bodies))
	s.bodies = append(s.bodies, b)
}

// stored are the bytes of a message that have arrived.
func (s *arrivals) stored(a *arrival) []byte { return s.bodies[a.body] }

func (s *arrivals) unstore(a *arrival) {
	s.bodies[a.body] = nil
	s.freeBody = append(s.freeBody, a.body)
}

// partly reports whether more bytes of the message are to come.
func (e *Engine) partly(a *arrival) bool {
	return a.kind == wire.EagerFirst && uint64(len(e.arrivals.stored(a))) < a.total
}

// keep stores an arrival until a receive or a probe takes it, unless a probe
// waits for it already.
func (e *Engine) keep(id uint32, a *arrival) match.Entry {
	cid, tag := wire.Match(a.imm)
	if a.ready {
		e.tooEarly(a)
	}
	a.began = coarseclock.Now()
	if e.tracer != nil {
		e.tracer.keeps(id)
	}
	e.hold(a)
	if !e.probes.Empty() && e.offer(id, a) {
		return 0
	}
	entry := e.match.AddUnexpected(cid, int32(a.from), tag, id)
	if e.named != nil {
		e.nameOf(a, entry)
	}
	return entry
}

// takeArrival gives an arrival, out of the matching table already, to a
// receive.
func (e *Engine) takeArrival(r *progress.Request, id uint32) {
	a := e.arrivals.at(id)
	_, tag := wire.Match(a.imm)
	from := fabric.Peer(a.from)
	if e.tracer != nil {
		e.tracer.gives(r, id)
	}
	switch {
	case a.kind == wire.RTS:
		r.Remote, r.Length, r.Other = fabric.Remote{Addr: a.addr, Len: a.total, Key: a.key}, a.total, a.req
		outcome := wire.Received
		if a.ready {
			outcome = wire.Late
		}
		e.receiveRTS(r, from, tag, outcome, !a.unreadable)
	case a.kind == kindOwn:
		own := e.loop.Named(e, a.req)
		e.move(r, own)
		var err error
		if a.ready {
			err = &fabric.Error{Op: "ready send", Peer: from, HasPeer: true, Err: cause.ErrNotReady}
		}
		e.finishSend(own, err)
		e.finishRecv(r, int(from), tag, a.total)
	case e.partly(a):
		if err := e.loop.Conn(from).Down(); err != nil {
			e.failRecv(r, err)
			break
		}
		e.receiveChunks(r, from, tag, e.arrivals.stored(a))
	default:
		put(r, 0, e.arrivals.stored(a))
		if a.kind == wire.EagerSync {
			e.acknowledge(from, a.req, wire.Received)
		}
		e.finishRecv(r, int(from), tag, a.total)
	}
	e.drop(id)
}

// drop frees the memory of an arrival that is out of the matching table.
func (e *Engine) drop(id uint32) {
	a := e.arrivals.at(id)
	if e.tracer != nil {
		delete(e.tracer.kept, id)
	}
	if a.stored() {
		e.buffers.give(e.arrivals.stored(a))
		e.arrivals.unstore(a)
	}
	if e.named != nil {
		e.unname(a)
	}
	if a.matched {
		e.claim(a, -1)
	}
	e.unhold(a)
	e.arrivals.give(id)
}

// forget removes an arrival that is still in the matching table.
func (e *Engine) forget(entry match.Entry) bool {
	id, ok := e.match.DropUnexpected(entry)
	if ok {
		e.drop(id)
	}
	return ok
}
