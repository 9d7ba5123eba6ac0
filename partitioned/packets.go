package partitioned

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// sendPackets sends blocks in packets as far as there is room. resumed says that
// the send is at the head of its peer's backlog.
func (s *Send) sendPackets(resumed bool) error {
	if s.packets.empty() || s.r.Queued() { // it comes to its turn
		return nil
	}
	c := s.e.loop.Conn(fabric.Peer(s.peer))
	if err := c.Down(); err != nil {
		return err
	}
	if !resumed && c.Busy() {
		c.Enqueue(s.r)
		return nil
	}
	most := uint64(s.e.loop.Via(fabric.Peer(s.peer)).Caps().MaxEager)
	for !s.packets.empty() {
		x := s.packets.first()
		lo, hi := s.shape.span(x.first, x.count)
		n := min(most, hi-lo-s.at)
		err := c.Endpoint().Send(wire.PData, s.theirs, wire.MakePData(s.e.hdr[:], lo+s.at, s.round.Load()), s.buf[lo+s.at:lo+s.at+n])
		if err == fabric.ErrAgain {
			if !resumed {
				c.Enqueue(s.r)
			}
			return err
		}
		if err != nil {
			return err // which ends in PeerDown
		}
		s.r.Moved += n // progress, for the backlog
		if s.at += n; lo+s.at == hi {
			s.at = 0
			s.packets.pop()
			s.sent += x.count
		}
	}
	if resumed {
		s.finished()
	}
	return nil
}

// onData puts bytes of blocks in their places.
func (e *Engine) onData(from fabric.Peer, name uint64, h wire.PDataHeader, body []byte) bool {
	r := e.names.recv(name, from)
	if r == nil || r.fault.Load() != nil {
		return true
	}
	got := r.got.Load()
	lo, n := h.Offset(), uint64(len(body))
	if got == nil || !r.active || h.Round() != r.round || lo > got.shape.bytes || n > got.shape.bytes-lo || n == 0 && got.shape.bytes > 0 {
		return false
	}
	first, last := got.shape.over(lo, lo+n)
	part := func(b int) uint64 { // bytes of block b
		from, to := got.shape.span(b, 1)
		return min(to, lo+n) - max(from, lo)
	}
	for b := first; b <= last; b++ {
		if r.missing[b] == got.shape.room(b) && r.asked.has(b) || part(b) > r.missing[b] {
			return false // it comes in another way, or has come
		}
	}
	r.put(lo, body)
	for b := first; b <= last; b++ {
		r.asked.add(b)
		if r.missing[b] -= part(b); r.missing[b] == 0 {
			r.land(b, 1)
		}
	}
	return true
}
