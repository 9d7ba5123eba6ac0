package pt2pt

import (
	"bytes"
	"fmt"
	"math/bits"
	"runtime"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/oracle"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// settle brings the job to rest: no faults, and everything that can happen
// does. Then it asks the oracle.
func (w *simWorld) settle() {
	rouse := w.nets.calm()
	w.note("settle")
	for round, quiet := 0, 0; quiet < 2; round++ {
		if w.nets.tired(round) {
			w.fail("the job does not come to rest")
		}
		before := w.changes
		for w.nets.step() {
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
		if quiet++; w.changes != before || w.nets.busy() {
			quiet = 0
		}
	}
	if !w.nets.quiet() {
		w.fail("at rest: the network is not")
	}
	rouse()
	w.note("at rest")
	for _, r := range w.living() {
		r.keepsLimits()
		if n := w.check.Late(r.id); r.log.late != bits.Len(uint(n)) || r.log.odd != "" {
			w.fail("rank %d has %d lines in its log of %d late ready sends, and %q", r.id, r.log.late, n, r.log.odd)
		}
	}
	if err := w.check.Rest(); err != nil {
		w.fail("%w", err)
	}
}

// keepsLimits checks that whoever has too much here has been told so.
func (r *simRank) keepsLimits() {
	holds := false
	for p := range r.peers {
		s := &r.peers[p]
		holds = holds || s.told == wire.Hold
		if p != r.id && !s.down && s.told == wire.Open && (s.unexpected > r.limits.PeerBytes || s.held > r.limits.PeerMessages) {
			r.w.fail("rank %d holds %d bytes, %d messages of rank %d, and has not told it", r.id, s.unexpected, s.held, p)
		}
	}
	if r.held.messages >= r.limits.Messages && !holds && len(r.w.living()) == len(r.w.ranks) {
		r.w.fail("rank %d holds %d messages and has told nobody", r.id, r.held.messages)
	}
}

// drain ends everything: messages are received, receives are served or
// cancelled. Then nothing may be left.
func (w *simWorld) drain() {
	for round := 0; ; round++ {
		if round == 1000 {
			w.fail("the job can't be brought to its end")
		}
		left := 0
		for _, r := range w.living() {
			for _, q := range append([]*simReq(nil), r.open...) {
				if w.rng.IntN(4) == 0 {
					q.withdraw()
				}
			}
			for len(r.claims) > 0 {
				r.imrecv(0, r.claims[0].bytes)
			}
			for _, m := range w.check.Unexpected(r.id) {
				r.irecv(m.Peer, m.Context, m.Tag, m.Bytes, false)
			}
			for _, p := range w.check.Posted(r.id) {
				from, tag := r, max(p.Tag, 0)
				if p.Peer != oracle.AnySource {
					from = w.ranks[p.Peer]
				} else if live := w.living(); w.rng.IntN(2) == 0 {
					from = live[w.rng.IntN(len(live))]
				}
				from.isend(Standard, r.id, p.Context, tag, w.rng.IntN(p.Bytes+1), false)
			}
		}
		w.settle()
		for _, r := range w.living() {
			left += len(r.open) + len(r.claims) + len(w.check.Unexpected(r.id)) + len(w.check.Posted(r.id))
		}
		if left == 0 {
			break
		}
	}
	if err := w.check.End(); err != nil {
		w.fail("%w", err)
	}
	for _, r := range w.living() {
		for _, q := range r.resting {
			if _, err := progress.Release(&q.h); err != nil {
				w.fail("free of a persistent request: %w", err)
			}
		}
		for i := range r.flushes {
			if ok, _, err := progress.Test(&r.flushes[i]); !ok || err != nil {
				w.fail("rank %d: a flush of attached memory: %t, %w", r.id, ok, err)
			}
		}
		r.leftovers()
	}
	for _, q := range w.reqs {
		if q != nil && q.after != nil && !bytes.Equal(q.memory(), q.after) {
			w.fail("the buffer of receive #%d was written after its end", q.id)
		}
	}
	w.checkFreed()
}

// leftovers tells the oracle what the engine still holds.
func (r *simRank) leftovers() {
	left := func(what string, n int) {
		if n != 0 {
			r.w.tell(oracle.Event{Kind: oracle.Left, Rank: r.id, What: what, Length: n})
		}
	}
	// A goroutine that ends the watch of a released request's context may own the
	// loop for a moment.
	for start := time.Now(); !r.loop.Enter(); runtime.Gosched() {
		if time.Since(start) > patience {
			r.w.fail("somebody else owns the loop of rank %d", r.id)
		}
	}
	defer r.loop.Leave()
	left("posted receives", r.match.Posted())
	left("unexpected messages", r.match.Unexpected())
	left("regions", r.w.nets.regions(r.id))
	requests := 0
	r.loop.EachOfAll(func(*progress.Request) { requests++ })
	left("requests", requests)
	arrivals := int(r.arrivals.used)
	for id := r.arrivals.free; id != 0; id = r.arrivals.at(id - 1).body {
		arrivals--
	}
	left("arrivals", arrivals)
	left("stored bodies", len(r.arrivals.bodies)-len(r.arrivals.freeBody))
	left("bytes held", int(r.held.bytes))
	left("messages held", r.held.messages)
	left("stopped peers", r.held.stopped)
	left("sends asked back", len(r.Engine.asked))
	if !r.probes.Empty() {
		left("probes", 1)
	}
	for _, a := range r.attached {
		left("buffered sends", a.used)
		left("bytes of attached memory in use", a.bytes)
		left("entries of attached memory in use", len(a.ring.entries))
	}
	for p := range r.peers {
		s := &r.peers[p]
		left("bytes held for a peer", int(s.unexpected))
		left("messages held for a peer", s.held)
		left("bytes to come from a peer", int(s.in.total))
		if r.w.ranks[p].dead || p == r.id {
			continue
		}
		if s.told != wire.Open || s.takes != wire.Open || s.gate != 0 || s.turn != nil || !s.waiting.Empty() {
			left(fmt.Sprintf("peer %d at told %d, takes %d, gate %d, waiting %t, turn %t", p, s.told, s.takes, s.gate, !s.waiting.Empty(), s.turn != nil), 1)
		}
		if c := r.loop.Conn(fabric.Peer(p)); c.Busy() {
			left("backlogs", 1)
		}
	}
}
