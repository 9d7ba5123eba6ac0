package partitioned

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// target is the receiver's memory, where this process can write to it.
type target struct {
	at     fabric.Remote
	ep     fabric.Endpoint
	memory []byte // of this rank itself, without ep
	layout Layout // or that
}

// aim finds out whether this process can write to the receiver's memory.
func (s *Send) aim(m wire.PartRecv) {
	if int(s.peer) == s.e.rank {
		r := s.e.names.recv(s.theirs, fabric.Peer(s.peer))
		s.to.Store(&target{memory: r.buf, layout: r.layout})
		return
	}
	if m.Verdict != wire.Writable {
		return
	}
	p := fabric.Peer(s.peer)
	if ep := s.e.loop.Conn(p).Endpoint(); ep != nil && s.e.loop.Via(p).Caps().Write {
		s.to.Store(&target{at: fabric.Remote{Addr: m.Addr, Len: m.Bytes, Key: m.Key}, ep: ep})
	}
}

// write copies blocks to the receiver's memory. For any goroutine that has taken
// them out of due; it kicks afterwards.
func (s *Send) write(to *target, first, count int, round uint32) {
	s.writing.Add(1)
	if s.began.Load() == round { // else the receiver may use its memory again
		lo, hi := s.shape.span(first, count)
		switch err := to.write(s.buf[lo:hi], lo); {
		case err == nil:
			for b := first; b < first+count; b++ {
				s.landed.add(b)
			}
		case errors.Is(err, fabric.ErrUnsupported):
			s.to.Store(nil)
			for b := first; b < first+count; b++ {
				s.due.add(b)
			}
		case !errors.Is(err, fabric.ErrPeerDown): // which ends in PeerDown
			s.unwritten.CompareAndSwap(nil, &fault{err})
		}
	}
	s.writing.Add(-1)
}

func (t *target) write(b []byte, at uint64) error {
	switch {
	case t.layout != nil:
		t.layout.Unpack(b, at)
		return nil
	case t.ep == nil:
		copy(t.memory[at:], b)
		return nil
	}
	return t.ep.Write(fabric.Remote{Addr: t.at.Addr + at, Len: t.at.Len - at, Key: t.at.Key}, b)
}

// tellLanded tells the receiver of blocks that have been written.
func (s *Send) tellLanded(first, count int, round uint32) {
	s.sent += count
	s.post(wire.PLanded, s.theirs, wire.MakePBlocks(s.e.hdr[:], round, uint32(first), uint32(count), 0))
}
