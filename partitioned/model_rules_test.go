package partitioned

import (
	"bytes"
	"context"
	"errors"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// blame stops the run unless there is a reason for an error of a side. amid says
// that its round ends with it.
func (m *modelSide) blame(err error, amid bool) {
	w, p := m.w, m.partner()
	var size *SizeError
	var gone *GoneError
	var unread *UnreadError
	ok := false
	switch {
	case errors.As(err, &size):
		if p == nil || p.size == m.size {
			break
		}
		a, b := m, p
		if !m.sends {
			a, b = p, m
		}
		ok = *size == SizeError{Sent: uint64(a.size), SendParts: a.parts, Received: uint64(b.size), ReceiveParts: b.parts}
	case errors.As(err, &gone) && (gone.Rank != m.peer() || gone.Sends == m.sends):
	case errors.As(err, &unread):
		ok = unread.Rank == m.peer() && !errors.Is(err, ErrFreed) && m.sends && w.faults[[2]int{m.peer(), m.r.id}]
	case gone != nil: // but not if the other has completed this round
		ok = p != nil && (gone.why == wire.PartFreed && p.gone() || gone.why == wire.PartContext && p.cancelled) && (!amid || p.completed < m.round)
	case errors.Is(err, context.Canceled):
		ok = m.cancelled
	case errors.Is(err, fabric.ErrPeerDown):
		ok = m.peer() != ProcNull && w.ranks[m.peer()].dead
	case errors.Is(err, mem.ErrSim):
		ok = !m.sends && w.faults[[2]int{m.r.id, m.peer()}]
	}
	if !ok {
		w.fail("%v fails in round %d without a reason: %w", m, m.round, err)
	}
}

// count counts the reason for which a side has failed.
func (m *modelSide) count(err error) {
	if m.failed == nil {
		m.failed = err
	}
	c := &m.w.modelCounts
	switch {
	case errors.As(err, new(*SizeError)):
		c.sizes++
	case errors.Is(err, ErrFreed):
		c.freed++
	case errors.Is(err, context.Canceled):
		c.abandoned++
	case errors.Is(err, fabric.ErrPeerDown):
		c.deaths++
	default:
		c.unread++
	}
}

// outcome is how the round of a request ended that nobody can ask any more.
func (m *modelSide) outcome() error {
	whole := false
	switch {
	case m.doomed:
	case m.sends:
		whole = m.send.sent == m.send.shape.blocks()
	case m.recv.got.Load() != nil:
		whole = m.recv.count == m.recv.got.Load().shape.blocks()
	}
	if whole {
		return nil
	}
	return m.s.failed()
}

// atRest checks a side when nothing can move any more: it has ended, or waits for a
// call that nobody has made. What could arrive of it has.
func (m *modelSide) atRest() {
	if !m.active {
		return
	}
	w, p := m.w, m.partner()
	why := ""
	switch {
	case m.peer() == ProcNull:
		why = "has no peer"
	case m.failed != nil:
		why = "has failed before"
	case m.cancelled:
		why = "has been abandoned"
	case !w.live(m.peer()):
		why = "has a dead peer"
	case p == nil:
	case p.size != m.size:
		why = "has a peer of another size"
	case p.gone():
		why = "has a peer that is freed"
	case p.failed != nil:
		why = "has a peer that has failed"
	case m.sends && p.round >= m.round && m.allReady(m.round):
		why = "has all ready, and its peer has begun"
	case !m.sends && p.allReady(m.round):
		why = "has a peer with all ready"
	}
	if why != "" {
		w.fail("%v waits for ever in round %d: it %s", m, m.round, why)
	}
	if m.sends || p == nil || p.round != m.round {
		return
	}
	shape, part := p.send.shape, uint64(m.size/m.parts)
	for i := range m.parts {
		want := true
		first, last := shape.over(uint64(i)*part, uint64(i+1)*part)
		for b := first; b <= last; b++ {
			for j := b * shape.per; j < min((b+1)*shape.per, p.parts); j++ {
				want = want && p.ready[j]
			}
		}
		if got := m.recv.Has(i); got != want {
			w.fail("%v: at rest partition %d of round %d has arrived: %t, want %t", m, i, m.round, got, want)
		}
	}
}

// drain ends everything: what has no other side gets one, what is under way is
// completed, what rests is freed. Then nothing may be left.
func (w *modelWorld) drain() {
	w.note("drain")
	for round, left := 0, 1; left > 0; round++ {
		if round == 500 {
			w.fail("the job can't be brought to its end: %d sides are left", left)
		}
		for _, r := range w.ranks {
			for len(r.inits) > 0 && !r.dead {
				r.init(r.inits[0])
			}
		}
		left = w.complete()
		for _, r := range w.ranks {
			for _, m := range append([]*modelSide(nil), r.sides...) {
				left++
				m.finish()
			}
		}
		w.settle()
	}
	for _, m := range w.sides {
		if m.recv != nil && !m.r.dead && !bytes.Equal(m.buf, m.after) {
			w.fail("%v: its memory was written to after its end", m)
		}
	}
	for _, r := range w.ranks {
		if !r.dead {
			r.leftovers()
		}
	}
}

// complete gives each side without another one, and returns how many there were.
func (w *modelWorld) complete() (n int) {
	for _, m := range append([]*modelSide(nil), w.sides...) {
		if m.r.dead || !w.live(m.peer()) || m.partner() != nil {
			continue
		}
		n++
		r := w.ranks[m.peer()]
		x := &modelSide{key: m.key, parts: m.parts, size: m.size, sends: !m.sends}
		r.inits = append(r.inits, x)
		r.init(x)
	}
	return n
}

// finish brings a side nearer to its end.
func (m *modelSide) finish() {
	p := m.partner()
	switch {
	case m.active && m.sends:
		for i := range m.parts {
			if m.active && !m.ready[i] {
				m.makeRange(i, i)
			}
		}
	case m.active || m.released:
	case m.failed == nil && p != nil && p.active && p.round > m.round:
		m.start()
	case m.w.rng.IntN(3) > 0:
		m.free(nil)
	}
}

// leftovers checks that the engine holds nothing any more.
func (r *modelRank) leftovers() {
	left := func(what string, n int) {
		if n != 0 {
			r.w.fail("rank %d has %d %s left", r.id, n, what)
		}
	}
	r.loop.Exclusive(func() {
		names := 0
		r.names.each(func(*side) { names++ })
		left("names", names)
		left("free names too few", len(r.names.slots)-len(r.names.spare))
		left("receives that wait to be matched", r.table.Posted())
		left("sends that wait to be matched", r.table.Unexpected())
		left("descriptions of sends", len(r.Engine.inits)-len(r.spare))
		left("reads", len(r.reads)-len(r.idle))
		left("regions", r.w.net.Regions(r.id))
		left("headers in use", r.depth)
		requests := 0
		r.loop.EachOfAll(func(*progress.Request) { requests++ })
		left("requests", requests)
		for p := range r.w.ranks {
			if p != r.id && r.w.live(p) && r.loop.Conn(fabric.Peer(p)).Busy() {
				left("backlogs", 1)
			}
		}
	})
	for _, m := range r.w.sides {
		if m.r == r && m.send != nil {
			left("writers", int(m.send.writing.Load()))
			left("blocks that are lent", int(m.send.lent.Load()))
		}
	}
}
