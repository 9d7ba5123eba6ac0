package partitioned

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// side is what a Send and a Recv have in common. Its fields are the owner's but
// for those that other goroutines load.
type side struct {
	e      *Engine
	r      *progress.Request
	h      progress.Handle
	send   *Send // of which it is the side, or nil
	recv   *Recv
	name   uint64
	peer   int32
	ranks  *group.Map // as its communicator numbers the peers
	theirs uint64     // the peer's name for its side, 0 until they have matched
	imm    uint64
	layout Layout // the user's memory, if that is not buf
	buf    []byte // the user's memory; with a layout, of a send what is packed, of a receive nil
	size   uint64 // of the message in bytes
	parts  int    // on this side
	region fabric.Region

	active bool         // a round is under way
	ending error        // the round fails with it once nobody uses the memory
	told   bool         // the peer has been told that the side is no more
	why    wire.PartEnd // what it is told

	// fault is why no round can complete any more. It is stored once, by the owner,
	// and loaded by every call on a partition.
	fault atomic.Pointer[fault]
}

type fault struct{ err error }

// following is the number of the round after one. No round is 0.
func following(round uint32) uint32 { return max(round+1, 1) }

// failed returns why no round can complete any more, or nil.
func (s *side) failed() error {
	if f := s.fault.Load(); f != nil {
		return f.err
	}
	return nil
}

// Request returns the persistent request of the side. Local; for any goroutine.
func (s *side) Request() progress.Handle { return s.h }

// Partitions returns how many partitions this side has. For any goroutine.
func (s *side) Partitions() int { return s.parts }

// check returns an error if a call names partitions that there are not. The last
// one is included.
func (s *side) check(first, last int) error {
	for _, i := range [...]int{first, last} {
		if i < 0 || i >= s.parts {
			return &PartitionError{Partition: i, Partitions: s.parts}
		}
	}
	return nil
}

// setUp fills in a side and makes r its request.
func (e *Engine) setUp(s *side, r *progress.Request, d *Data, parts int) {
	s.buf, s.size, s.ranks = d.Bytes, uint64(len(d.Bytes)), d.Ranks
	if d.Layout != nil && r.Peer != ProcNull {
		s.layout, s.size = d.Layout, d.Size
		if s.send != nil {
			s.buf = make([]byte, d.Size)
		}
	}
	r.Buf = s.buf
	of := any(s.send)
	if s.recv != nil {
		of = s.recv
	}
	s.e, s.imm, s.peer, s.parts = e, r.Imm, r.Peer, parts
	s.name = e.names.add(s)
	r.Persist(e, of, s.freed)
	s.r, s.h = r, r.Handle()
}

// post sends a packet to the peer.
func (s *side) post(kind uint8, imm uint64, hdr []byte) {
	s.e.post(fabric.Peer(s.peer), kind, imm, hdr)
}

// post sends a packet. One to this rank itself is delivered at once.
func (e *Engine) post(to fabric.Peer, kind uint8, imm uint64, hdr []byte) {
	if int(to) != e.rank {
		e.loop.Conn(to).Post(kind, imm, hdr)
		return
	}
	own := e.own[e.depth][:]
	e.depth++
	e.Deliver(fabric.Peer(e.rank), kind, imm, own[:copy(own, hdr)], nil)
	e.depth--
}

// end completes the round.
func (s *side) end(err error) {
	s.active, s.ending = false, nil
	s.e.loop.Finish(s.r, err)
}

// fail makes err the end of the round under way, and of every later one. The
// round ends when nobody uses its memory any more, see settle.
func (s *side) fail(err error) {
	if s.fault.Load() == nil {
		s.fault.Store(&fault{err})
	}
	if s.send != nil {
		s.send.stop()
	} else {
		s.recv.drop()
	}
	if s.active && s.ending == nil {
		s.ending = err
	}
	s.settle()
}

// because notes why the side gives itself up, for the peer, if it has not yet failed. Without
// another reason err says it.
func (s *side) because(err error) {
	switch {
	case s.fault.Load() != nil, s.why != wire.PartFreed:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		s.why = wire.PartContext
	default:
		s.why = wire.PartFailed
	}
}

func (s *side) settle() {
	if s.ending == nil {
		return
	}
	if s.send != nil && s.send.quiet() || s.recv != nil && s.recv.quiet() {
		s.end(s.ending)
	}
}

// broken fails the side because its peer is down. A freed receive waits for its
// PInit no longer.
func (s *side) broken(err error) {
	if s.recv != nil && s.recv.gone {
		s.e.table.Withdraw(s.recv.entry)
		s.forget()
		return
	}
	if s.send != nil {
		s.send.to.Store(nil)
		s.send.lent.Store(0)
	} else {
		s.recv.stopping = false
	}
	s.fail(err)
}

// freed is called when the request has been freed.
func (s *side) freed() {
	if r := s.recv; r != nil && r.posted {
		if s.e.downTo(s.peer) == nil {
			r.gone = true // it stays where it is in the order of matching, and takes its PInit
			return
		}
		s.e.table.Withdraw(r.entry)
	}
	s.tellFreed()
	s.forget()
}

// tellFreed tells the peer that the side is no more.
func (s *side) tellFreed() {
	switch {
	case s.peer == ProcNull || s.told:
		return
	case s.theirs != 0:
		s.post(wire.PFree, s.theirs, wire.MakePEnd(s.e.hdr[:], false, s.why))
	case s.send != nil:
		s.post(wire.PFree, s.name, wire.MakePEnd(s.e.hdr[:], true, s.why))
	}
	s.told = true
}

// forget gives up what the engine has of the side.
func (s *side) forget() {
	if s.region.Len > 0 {
		s.e.loop.Via(fabric.Peer(s.peer)).Deregister(s.region)
		s.region = fabric.Region{}
	}
	s.e.names.remove(s.name)
	s.buf, s.layout = nil, nil
}
