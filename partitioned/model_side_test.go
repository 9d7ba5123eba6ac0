package partitioned

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/weft-mpi/weft/progress"
)

// modelSide is a Send or a Recv, and what it has been asked for.
type modelSide struct {
	w     *modelWorld
	r     *modelRank
	id    int
	key   modelKey
	index int // among those of its key
	sends bool
	parts int
	size  int
	buf   []byte       // its memory
	lay   *modelLayout // or nil: how the message lies there

	send *Send
	recv *Recv
	s    *side
	h    progress.Handle

	cancel    context.CancelFunc // nil: it can't be
	cancelled bool
	starting  bool // its Start has not returned
	readying  bool // nor a Ready
	active    bool // it has been started, and not seen to end
	released  bool // its request has been freed
	doomed    bool // it could not begin another round
	failed    error

	round     int    // the last that it has begun, from 1 on
	completed int    // rounds
	ready     []bool // of a send, in its round
	arrived   []bool // of a receive: seen to, in its round
	after     []byte // of a receive at rest: what nobody but the user changes
}

// What buffers hold apart from payload, which has no byte above 127: the sends', of
// partitions that are not ready, and the receives', of those that have not arrived.
const (
	garbage   = 0xee
	unwritten = 0xff
)

func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// payload is what a send sends in a round at a place.
func (m *modelSide) payload(round, at int) byte {
	return byte(m.id*37+round*101+at*7+at>>7*13) & 0x7f
}

func (m *modelSide) String() string {
	what, with := "receive", "from"
	if m.sends {
		what, with = "send", "to"
	}
	return fmt.Sprintf("%s #%d of %d %s %d (context %d tag %d number %d)", what, m.id, m.r.id, with, m.peer(), m.key.cid, m.key.tag, m.index)
}

func (m *modelSide) peer() int {
	if m.sends {
		return m.key.to
	}
	return m.key.from
}

// partner is the other side of its channel, or nil while there is none.
func (m *modelSide) partner() *modelSide {
	list := m.w.matches[m.key].sends
	if m.sends {
		list = m.w.matches[m.key].recvs
	}
	if m.peer() == ProcNull || m.index >= len(list) {
		return nil
	}
	return list[m.index]
}

// gone reports whether nothing comes of it any more: freed, and not under way.
func (m *modelSide) gone() bool { return m.released && !m.s.active }

// isReady reports whether the send's partition i was made ready in a round.
func (m *modelSide) isReady(round, i int) bool {
	return m.round > round || m.round == round && m.ready[i]
}

// allReady reports whether that was all.
func (m *modelSide) allReady(round int) bool {
	for i := range m.parts {
		if !m.isReady(round, i) {
			return false
		}
	}
	return true
}

func (m *modelSide) start() {
	w := m.w
	m.bytes()
	if m.doomed = m.s.failed() != nil; !m.doomed {
		m.round++
		clear(m.ready)
	}
	clear(m.arrived)
	if m.recv != nil {
		fill(m.buf, unwritten)
	}
	w.note("%v starts round %d", m, m.round)
	m.active, m.starting = true, true
	err := progress.Restart(m.h)
	if m.starting = false; err != nil {
		w.fail("Start of %v: %w", m, err)
	}
}

// makeReady makes partitions ready: one, a range or a list, or none, in a call that
// has to fail.
func (m *modelSide) makeReady(rng *rand.Rand) {
	var open []int
	for i, is := range m.ready {
		if !is {
			open = append(open, i)
		}
	}
	i := rng.IntN(m.parts)
	switch {
	case !m.active:
		if m.peer() != ProcNull {
			m.refused(m.send.Ready(i, i), m.round > 0)
		}
	case rng.IntN(16) == 0:
		m.outside(m.send.Ready([...]int{-1, 0, i}[rng.IntN(3)], m.parts+rng.IntN(2)))
		if i > 0 {
			m.outside(m.send.Ready(i, i-1))
		}
	case len(open) == 0 || rng.IntN(16) == 0 && m.ready[i]:
		if m.ready[i] && !m.readying { // else it may be the one that the call under way gets to
			m.refused(m.send.Ready(max(i-rng.IntN(3), 0), min(i+rng.IntN(3), m.parts-1)), true)
		}
	case rng.IntN(3) == 0:
		for n := rng.IntN(4); n >= 0 && len(open) > 0; n-- {
			at := rng.IntN(len(open))
			i := open[at]
			open = append(open[:at], open[at+1:]...)
			if !m.ready[i] {
				m.makeRange(i, i)
			}
		}
	default:
		first := open[rng.IntN(len(open))]
		last := first
		for most := rng.IntN(m.parts); last+1 < m.parts && !m.ready[last+1] && last-first < most; {
			last++
		}
		m.makeRange(first, last)
	}
}

// makeRange writes partitions and makes them ready.
func (m *modelSide) makeRange(first, last int) {
	if m.doomed {
		m.blame(m.send.Ready(first, last), false)
		return
	}
	m.w.note("%v: %d to %d are ready", m, first, last)
	part := m.size / m.parts
	for at := first * part; at < (last+1)*part; at++ {
		*m.at(at) = m.payload(m.round, at)
	}
	for i := first; i <= last; i++ {
		m.ready[i] = true
	}
	within := m.readying
	m.readying = true
	err := m.send.Ready(first, last)
	if m.readying = within; err != nil {
		m.blame(err, m.s.active)
	}
}

// refused checks the error of a partition that is ready, or of a send that has not
// been started.
func (m *modelSide) refused(err error, twice bool) {
	var bad *PartitionError
	switch {
	case err == nil:
		m.w.fail("%v: a partition was made ready twice, or before a start", m)
	case twice && errors.As(err, &bad) && bad.Twice && bad.Partition >= 0 && bad.Partition < m.parts && m.ready[bad.Partition],
		!twice && errors.Is(err, ErrNotStarted):
	default:
		m.blame(err, m.s.active)
	}
}

// outside checks the error of a call that names no partitions.
func (m *modelSide) outside(err error) {
	var bad *PartitionError
	if !errors.As(err, &bad) || bad.Twice || bad.Partitions != m.parts {
		m.w.fail("%v: partitions that there are not: %w", m, err)
	}
}

// hasArrived asks for a partition of a receive, and checks the answer.
func (m *modelSide) hasArrived(i int) {
	_, err := m.recv.Arrived(m.parts)
	m.outside(err)
	there, err := m.recv.Arrived(i)
	m.w.note("%v: %d has arrived: %t, %v", m, i, there, err)
	switch {
	case err != nil:
		m.blame(err, m.s.active)
	case !m.active && m.failed == nil && !there:
		m.w.fail("%v is at rest, and partition %d has not arrived", m, i)
	}
	if m.arrived[i] && !there {
		m.w.fail("%v: partition %d, which had arrived, has not", m, i)
	}
	if there && m.active && m.peer() != ProcNull && m.s.failed() == nil {
		m.here(i)
	}
	m.r.look()
}

// here checks a partition that has arrived.
func (m *modelSide) here(i int) {
	p := m.partner()
	if p == nil || p.size != m.size {
		m.w.fail("%v: partition %d has arrived out of nothing", m, i)
	}
	part := m.size / m.parts
	for at := i * part; at < (i+1)*part; at++ {
		if from := at / (p.size / p.parts); *m.at(at) != p.payload(m.round, at) || !p.isReady(m.round, from) {
			m.w.fail("%v: partition %d of round %d has arrived with byte %d at %d, want %d, ready: %t",
				m, i, m.round, *m.at(at), at, p.payload(m.round, at), p.isReady(m.round, from))
		}
	}
	whole := p.allReady(m.round)
	if m.size == 0 && !whole {
		m.w.fail("%v: partition %d of no bytes has arrived before all are ready", m, i)
	}
	if !m.arrived[i] && !whole {
		m.w.early++
	}
	m.arrived[i] = true
}

// bytes checks what a receive's buffer holds: at rest what it held, in a round
// bytes of partitions that are ready, or nothing.
func (m *modelSide) bytes() {
	if m.recv == nil {
		return
	}
	if !m.active || m.starting {
		if !m.starting && !bytes.Equal(m.buf, m.after) {
			m.w.fail("%v: its memory was written to while it is at rest", m)
		}
		return
	}
	p := m.partner()
	if m.lay != nil {
		for _, p := range m.lay.gaps {
			if m.buf[p] != unwritten {
				m.w.fail("%v: byte %d, which is none of the message, was written to in round %d", m, p, m.round)
			}
		}
	}
	for at := range m.size {
		b := *m.at(at)
		if b == unwritten {
			continue
		}
		if p == nil || p.size != m.size || b != p.payload(m.round, at) || !p.isReady(m.round, at/(p.size/p.parts)) {
			m.w.fail("%v: byte %d of round %d is %#x", m, at, m.round, b)
		}
	}
}

// look checks the memory of a rank's receives, and sees the end of requests that
// were freed before.
func (r *modelRank) look() {
	for _, m := range append([]*modelSide(nil), r.sides...) {
		m.bytes()
		if m.active && m.gone() {
			m.over(progress.Status{Source: m.key.from, Tag: int(m.key.tag), Bytes: uint64(m.size)}, m.outcome())
		}
		if !m.active && m.released {
			r.remove(m)
		}
	}
}

func (r *modelRank) remove(m *modelSide) {
	for i := range r.sides {
		if r.sides[i] == m {
			r.sides = append(r.sides[:i:i], r.sides[i+1:]...)
			return
		}
	}
}

func (m *modelSide) test() {
	if m.released || m.starting {
		return
	}
	ended, st, err := progress.Test(&m.h)
	m.r.look()
	switch {
	case !m.active && (!ended || err != nil):
		m.w.fail("%v is at rest, and Test says %t, %w", m, ended, err)
	case m.active && ended:
		m.over(st, err)
	}
}

// over checks the end of a round.
func (m *modelSide) over(st progress.Status, err error) {
	w, p := m.w, m.partner()
	w.note("%v: round %d ends: %v", m, m.round, err)
	w.changes++
	switch {
	case err != nil:
		m.blame(err, !m.doomed)
		m.count(err)
	case m.failed != nil:
		w.fail("%v has failed, and completes a round", m)
	case m.peer() == ProcNull:
	case p == nil || p.size != m.size || p.round < m.round:
		w.fail("%v completes round %d, which its peer has not begun", m, m.round)
	case m.sends:
		if !m.allReady(m.round) {
			w.fail("%v completes round %d before all is ready", m, m.round)
		}
	default:
		for i := range m.parts {
			m.here(i)
		}
		if st.Source != m.key.from || st.Tag != int(m.key.tag) || st.Bytes != uint64(m.size) {
			w.fail("%v: status %+v", m, st)
		}
	}
	if m.active = false; err == nil {
		m.completed++
		w.rounds++
	}
	if m.sends {
		fill(m.buf, garbage) // it is the user's
	} else {
		m.after = append(m.after[:0], m.buf...)
	}
}

// abandon ends its context, if it has one. Test then ends the request.
func (m *modelSide) abandon() {
	if m.cancel != nil && !m.cancelled && !m.released {
		m.w.note("%v is abandoned", m)
		m.cancelled = true
		m.cancel()
	}
}

// free gives the request up, which is refused while it is active.
func (m *modelSide) free(*rand.Rand) {
	if m.released || m.starting {
		return
	}
	m.bytes()
	if m.active {
		was := m.h
		_, released := progress.Release(&m.h)
		if _, _, cancelled := progress.Cancel(m.h); released != progress.ErrFirm || cancelled != released || m.h != was {
			m.w.fail("free of %v, which is active: %w, and Cancel: %w", m, released, cancelled)
		}
		return
	}
	m.w.note("%v is freed", m)
	m.released = true
	if _, err := progress.Release(&m.h); err != nil {
		m.w.fail("free of %v: %w", m, err)
	}
	m.r.look()
}
