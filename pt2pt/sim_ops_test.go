package pt2pt

import (
	"bytes"
	"context"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/oracle"
	"github.com/weft-mpi/weft/progress"
)

// The operations of a rank, as the driver and the scripts call them.

// background is a context that never ends, ended one that has.
var (
	background   = context.Background()
	ended, endIt = context.WithCancel(context.Background())
)

func init() { endIt() }

func (r *simRank) isend(dest int, cid uint32, tag int32, n int, cancellable bool) *simReq {
	w := r.w
	ctx, cancel := background, context.CancelFunc(nil)
	if cancellable {
		ctx, cancel = context.WithCancel(background)
	}
	q := w.request(r, false, payload(len(w.reqs), n), cancel)
	w.tell(oracle.Event{Kind: oracle.Send, Rank: r.id, Peer: dest, Context: cid, Tag: tag, Req: q.id, Data: q.buf})
	r.open = append(r.open, q)
	q.h = r.Isend(ctx, dest, cid, tag, q.buf)
	if q.h.Instant() {
		ok, st, err := progress.Test(&q.h)
		if !ok {
			w.fail("send #%d ended at once and has not ended: %w", q.id, err)
		}
		q.end(st, err)
	}
	return q
}

func (r *simRank) irecv(source int, cid uint32, tag int32, room int, cancellable bool) *simReq {
	w := r.w
	ctx, cancel := background, context.CancelFunc(nil)
	if cancellable {
		ctx, cancel = context.WithCancel(background)
	}
	q := w.request(r, true, bytes.Repeat([]byte{oracle.Fill}, room), cancel)
	w.tell(oracle.Event{Kind: oracle.Post, Rank: r.id, Peer: source, Context: cid, Tag: tag, Req: q.id, Room: room})
	r.open = append(r.open, q)
	q.h = r.Irecv(ctx, source, cid, tag, q.buf)
	return q
}

// withdraw asks to cancel a request and looks what became of it.
func (q *simReq) withdraw() {
	if q.cancel == nil || q.cancelled || q.ended {
		return
	}
	q.cancelled = true
	q.r.w.tell(oracle.Event{Kind: oracle.Cancel, Rank: q.r.id, Req: q.id})
	q.cancel()
	q.test()
}

// testAll asks whether all of some requests have ended.
func (r *simRank) testAll(qs []*simReq) {
	hs, out := make([]progress.Handle, len(qs)), make([]progress.Status, len(qs))
	for i, q := range qs {
		hs[i] = q.h
		r.w.note("rank %d tests #%d with others", r.id, q.id)
	}
	ok, err := progress.TestAll(hs, out)
	if err != nil {
		r.w.fail("TestAll of rank %d: %w", r.id, err)
	}
	if ok {
		for i, q := range qs {
			err := out[i].Err
			q.end(out[i], err)
		}
	}
}

// pumpContext is that of receives which no message matches.
const pumpContext = 1 << 20

// poll turns the rank's loop once: a receive that is over before it begins is
// tested.
func (r *simRank) poll() {
	r.w.note("rank %d polls", r.id)
	h := r.Irecv(ended, r.id, pumpContext, 0, nil)
	if ok, _, err := progress.Test(&h); !ok || err == nil {
		r.w.fail("a receive of nothing ended with %v", err)
	}
}

// settle brings the job to rest: no faults, and everything that can happen
// does. Then it asks the oracle.
func (w *simWorld) settle() {
	was := w.sim.SimConfig
	w.sim.Calm()
	w.note("settle")
	for round, quiet := 0, 0; quiet < 2; round++ {
		if round > 20000 {
			w.fail("the job does not come to rest")
		}
		before := w.changes
		for w.sim.Step() {
		}
		for _, r := range w.ranks {
			if r.dead {
				continue
			}
			r.poll()
			for _, q := range append([]*simReq(nil), r.open...) {
				q.test()
			}
		}
		if quiet++; w.changes != before {
			quiet = 0
		}
	}
	if !w.sim.Quiet() {
		w.fail("at rest: the network is not")
	}
	w.sim.SimConfig = was
	w.note("at rest")
	if err := w.check.Rest(); err != nil {
		w.fail("%w", err)
	}
}

// drain ends everything: messages are received, receives are served or
// cancelled. Then nothing may be left.
func (w *simWorld) drain() {
	for round := 0; ; round++ {
		if round == 100 {
			w.fail("the job can't be brought to its end")
		}
		left := 0
		for _, r := range w.living() {
			for _, q := range append([]*simReq(nil), r.open...) {
				if q.recv && w.rng.IntN(4) == 0 {
					q.withdraw()
				}
			}
			for _, m := range w.check.Unexpected(r.id) {
				r.irecv(m.Peer, m.Context, m.Tag, m.Bytes, false)
			}
			for _, p := range w.check.Posted(r.id) {
				from, tag := r, max(p.Tag, 0)
				if p.Peer != oracle.Any {
					from = w.ranks[p.Peer]
				} else if live := w.living(); w.rng.IntN(2) == 0 {
					from = live[w.rng.IntN(len(live))]
				}
				from.isend(r.id, p.Context, tag, w.rng.IntN(p.Bytes+1), false)
			}
		}
		w.settle()
		for _, r := range w.living() {
			left += len(r.open) + len(w.check.Unexpected(r.id))
		}
		if left == 0 {
			break
		}
	}
	if err := w.check.End(); err != nil {
		w.fail("%w", err)
	}
	for _, r := range w.living() {
		r.leftovers()
	}
	for _, q := range w.reqs {
		if q.ended && q.recv && !bytes.Equal(q.buf, q.after) {
			w.fail("the buffer of receive #%d was written after its end", q.id)
		}
	}
}

// leftovers tells the oracle what the engine still holds.
func (r *simRank) leftovers() {
	left := func(what string, n int) {
		if n != 0 {
			r.w.tell(oracle.Event{Kind: oracle.Left, Rank: r.id, What: what, Length: n})
		}
	}
	if !r.loop.Enter() {
		r.w.fail("somebody else owns the loop of rank %d", r.id)
	}
	defer r.loop.Leave()
	left("posted receives", r.match.Posted())
	left("unexpected messages", r.match.Unexpected())
	left("regions", r.w.sim.Regions(r.id))
	requests := 0
	r.loop.EachRequest(func(*progress.Request) { requests++ })
	left("requests", requests)
	arrivals := int(r.arrivals.used)
	for id := r.arrivals.free; id != 0; id = r.arrivals.at(id - 1).next {
		arrivals--
	}
	left("arrivals", arrivals)
	for p := range r.peers {
		s := &r.peers[p]
		left("bytes held for a peer", int(s.unexpected))
		left("messages held for a peer", s.held)
		left("bytes to come from a peer", int(s.in.total))
		if r.w.ranks[p].dead || p == r.id {
			continue
		}
		if s.stopped || s.xoff {
			left("peers that may not be eager", 1)
		}
		if c := r.loop.Conn(fabric.Peer(p)); c.Busy() {
			left("backlogs", 1)
		}
	}
}
