package comm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// modelMessage is a message of the program's.
type modelMessage struct {
	comm     *modelComm
	from, to int // in the job
	tag      int32
	n        int
	mode     pt2pt.Mode
	ended    bool // its send has
	refused  bool // and was told that the communicator is freed
	failed   bool
	recv     *modelReq // that has received it
}

func (m *modelMessage) String() string {
	return fmt.Sprintf("from %d to %d in communicator %d, tag %d, %d bytes, mode %d: ended %t, refused %t, failed %t, received %t", m.from, m.to, m.comm.id, m.tag, m.n, m.mode, m.ended, m.refused, m.failed, m.recv != nil)
}

func (q *modelReq) String() string {
	if q.send != nil {
		return q.send.String()
	}
	return fmt.Sprintf("a receive from %d in communicator %d, tag %d", q.source, q.comm.id, q.tag)
}

// modelReq is a send or a receive under way.
type modelReq struct {
	h      progress.Handle
	send   *modelMessage // nil: a receive
	comm   *modelComm
	source int // in the job, or AnySource
	tag    int32
	order  int // among the rank's receives
	buf    []byte
}

// messageBody is what message id carries.
func messageBody(id, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(id*31 + i*7 + i>>4)
	}
	binary.LittleEndian.PutUint32(b, uint32(id))
	return b
}

// usable is a communicator in which the rank may send and receive, or nil.
func (r *modelRank) usable() *modelComm {
	var live []*modelComm
	for _, c := range r.w.prog.comms {
		if p := c.places[r.id]; p != nil && p.c != nil && !p.freed && c.maker != nil {
			live = append(live, c)
		}
	}
	if len(live) == 0 {
		return nil
	}
	return live[r.w.rng.IntN(len(live))]
}

// send sends to a member of a communicator, which may not have made it yet, or may
// have freed it.
func (r *modelRank) send() {
	w, c := r.w, r.usable()
	if c == nil {
		return
	}
	caps := w.net.Caps
	_, peers := c.sides(r.id)
	edges := []int{4, caps.MaxEager, caps.RndvMin, 3 * caps.MaxEager}
	m := &modelMessage{comm: c, from: r.id, to: peers[w.rng.IntN(len(peers))], tag: w.rng.Int32N(3),
		n: max(4, edges[w.rng.IntN(4)]+w.rng.IntN(3)-1), mode: []pt2pt.Mode{pt2pt.Standard, pt2pt.Synchronous}[w.rng.IntN(2)]}
	w.note("rank %d sends message %d to rank %d in communicator %d, tag %d, %d bytes", r.id, len(w.sent), m.to, c.id, m.tag, m.n)
	switch p := c.places[m.to]; {
	case p.freed:
		w.late++
	case p.c == nil:
		w.early++
	}
	b := messageBody(len(w.sent), m.n)
	w.sent = append(w.sent, m)
	h := r.in.P2P.Isend(context.Background(), m.mode, m.to, c.places[r.id].c.ID, m.tag, b)
	r.reqs = append(r.reqs, &modelReq{h: h, send: m, comm: c})
}

func (r *modelRank) recv() {
	w, c := r.w, r.usable()
	if c == nil {
		return
	}
	q := &modelReq{comm: c, source: pt2pt.AnySource, tag: pt2pt.AnyTag, order: r.order, buf: make([]byte, 4*w.net.Caps.MaxEager+w.net.Caps.RndvMin+8)}
	if w.rng.IntN(2) == 0 {
		_, peers := c.sides(r.id)
		q.source = peers[w.rng.IntN(len(peers))]
	}
	if w.rng.IntN(2) == 0 {
		q.tag = w.rng.Int32N(3)
	}
	r.order++
	w.note("rank %d receives from %d in communicator %d, tag %d", r.id, q.source, c.id, q.tag)
	q.h = r.in.P2P.Irecv(context.Background(), q.source, c.places[r.id].c.ID, q.tag, q.buf)
	r.reqs = append(r.reqs, q)
}

// testReqs looks which sends and receives have ended.
func (r *modelRank) testReqs() {
	open := r.reqs[:0]
	for _, q := range r.reqs {
		ended, st, err := progress.Test(&q.h)
		switch {
		case !ended:
			open = append(open, q)
			continue
		case q.send != nil:
			r.sent(q.send, err)
		case err == nil:
			r.received(q, st)
		case err != progress.ErrCancelled && !errors.Is(err, pt2pt.ErrFreed):
			r.mayFail(q, q.source, err)
		}
		r.w.changes++
	}
	r.reqs = open
}

func (r *modelRank) sent(m *modelMessage, err error) {
	m.ended = true
	if m.refused = errors.Is(err, pt2pt.ErrFreed); err == nil || m.refused {
		return
	}
	m.failed = true
	r.mayFail(&modelReq{send: m, comm: m.comm}, m.to, err)
}

// mayFail checks the failure of an operation with a peer.
func (r *modelRank) mayFail(q *modelReq, peer int, err error) {
	w := r.w
	gone := func(i int) bool { return w.ranks[i].dead || w.ranks[i].left }
	switch {
	case w.torn && (errors.Is(err, mem.ErrSim) || errors.Is(err, pt2pt.ErrNotFetched) || errors.Is(err, pt2pt.ErrNotWritten)):
	case !errors.Is(err, fabric.ErrPeerDown):
		w.fail("rank %d, %v: %w", r.id, q, err)
	case peer != pt2pt.AnySource && gone(peer):
	case peer == pt2pt.AnySource && slices.ContainsFunc(q.comm.worlds, gone): // the rank whose message it has got, or the last
	default:
		w.fail("rank %d, communicator %d, an operation with %d has failed: %w", r.id, q.comm.id, peer, err)
	}
}

// received checks a message that has been received.
func (r *modelRank) received(q *modelReq, st progress.Status) {
	w := r.w
	id := int(binary.LittleEndian.Uint32(q.buf))
	if id >= len(w.sent) {
		w.fail("rank %d has received a message that is none", r.id)
	}
	m := w.sent[id]
	_, peers := q.comm.sides(r.id)
	source := slices.Index(peers, m.from)
	switch {
	case m.recv != nil, m.comm != q.comm, m.to != r.id, int(st.Bytes) != m.n, int32(st.Tag) != m.tag, st.Source != source,
		q.source != pt2pt.AnySource && q.source != m.from, q.tag != pt2pt.AnyTag && q.tag != m.tag:
		w.fail("rank %d has received message %d %v by %v, with %+v", r.id, id, m, q, st)
	case string(q.buf[:m.n]) != string(messageBody(id, m.n)):
		w.fail("rank %d has received other bytes of message %d", r.id, id)
	}
	m.recv = q
	w.messages++
}

// giveUp withdraws the rank's receives.
func (r *modelRank) giveUp() {
	for _, q := range r.reqs {
		if q.send == nil {
			progress.Cancel(q.h)
		}
	}
}

// dropped is how many messages the rank has dropped.
func (r *modelRank) dropped() uint64 {
	s := r.in.Loop.Snapshot()
	return s.Value("weft_dropped_messages_total")
}

// checkMessages checks what has become of all messages.
func (w *modelWorld) checkMessages() {
	received, dropped := 0, uint64(0)
	gone := func(i int) bool { return w.ranks[i].dead || w.ranks[i].left }
	for _, r := range w.ranks {
		if !r.dead && !r.left {
			r.drops = r.dropped()
		}
		dropped += r.drops
	}
	last := map[[5]int]int{} // of a sender's messages by receives of one kind
	for i, m := range w.sent {
		if m.recv != nil {
			received++
			from := [5]int{m.to, m.comm.id, m.from, m.recv.source, int(m.recv.tag)}
			if order, again := last[from]; again && order > m.recv.order {
				w.fail("message %d %v was received by an earlier receive than one that was sent before", i, m)
			}
			last[from] = m.recv.order
		}
		if m.recv != nil && m.refused || m.ended && !m.refused && !m.failed && m.recv == nil && m.mode == pt2pt.Synchronous && !gone(m.from) && !gone(m.to) {
			w.fail("message %d has ended: %v", i, m)
		}
	}
	w.drops += int(dropped)
	if sum := int(dropped) + received; w.faultless() && sum != len(w.sent) {
		w.fail("%d messages: %d were received and %d dropped", len(w.sent), received, dropped)
	}
}

// faultless reports whether nothing has gone wrong but what the program does.
func (w *modelWorld) faultless() bool {
	return w.deaths+w.left+w.cancelled == 0 && !w.torn
}
