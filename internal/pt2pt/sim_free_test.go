package pt2pt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Communicators that each rank makes and frees at steps of its own, with messages
// that come before and behind. The model is small: every message is received once,
// or dropped once and counted, and then nothing is left of it; nothing crosses from
// one communicator to another.

// freeWorld is a job over a simulated network.
type freeWorld struct {
	rng   *rand.Rand
	net   *mem.Sim
	ranks []*freeRank
	ids   []uint32
	sent  []freeMessage
	died  bool
}

// freeMessage is what became of a message.
type freeMessage struct {
	cid      uint32
	mode     Mode
	n        int
	received bool
	ended    bool // its send has
	refused  bool // and was told that the communicator is freed
}

type freeRank struct {
	*Engine
	w      *freeWorld
	dom    fabric.Domain
	made   []bool // by communicator
	freed  []bool
	reqs   []*freeReq
	claims []freeClaim
	dead   bool
}

type freeReq struct {
	h    progress.Handle
	send int // message, or -1
	cid  uint32
	buf  []byte
}

type freeClaim struct {
	m   Message
	cid uint32
	n   uint64
}

func newFreeWorld(seed uint64) *freeWorld {
	w := &freeWorld{rng: rand.New(rand.NewPCG(seed, 0xf4ee))}
	size := 2 + w.rng.IntN(2)
	c := mem.DrawSim(w.rng, size)
	c.BadGet = 0
	w.net = mem.NewSim(w.rng, c)
	for range 1 + w.rng.IntN(3) {
		w.ids = append(w.ids, uint32(2+2*len(w.ids)))
	}
	lim := DefaultLimits
	lim.Stall = 0
	if w.rng.IntN(2) == 0 {
		lim.PeerMessages, lim.Messages = 1+w.rng.IntN(4), 4+w.rng.IntN(20)
	}
	for i := range size {
		cfg := w.net.Config(i)
		d, err := w.net.Open(cfg)
		if err != nil {
			panic(err)
		}
		l := progress.New(progress.Config{Domain: d, Addrs: w.net.Addrs(), Log: cfg.Log, NoThread: true})
		r := &freeRank{Engine: New(l, i, size), w: w, dom: d, made: make([]bool, len(w.ids)), freed: make([]bool, len(w.ids))}
		l.Go()
		r.Limit(lim)
		r.AttachBuffer(Everywhere, make([]byte, 1<<16))
		w.ranks = append(w.ranks, r)
	}
	return w
}

func (w *freeWorld) close() {
	for _, r := range w.ranks {
		r.dom.Close()
		r.loop.Close()
	}
}

// life makes a communicator, or frees it.
func (r *freeRank) life(i int) {
	id := r.w.ids[i]
	switch {
	case !r.made[i]:
		r.made[i] = true
		r.loop.Exclusive(func() {
			if !r.Reserve(id) || !r.Open(id, nil, nil) {
				panic(broken{fmt.Errorf("rank %d can't make %d", r.rank, id)})
			}
		})
	case !r.freed[i]:
		r.freed[i] = true
		r.loop.Exclusive(func() { r.Close(id) })
	}
}

// use sends, receives or probes in a communicator that is live.
func (r *freeRank) use(i int) {
	w := r.w
	if !r.made[i] || r.freed[i] {
		return
	}
	cid, peer := w.ids[i]+uint32(w.rng.IntN(2)), w.rng.IntN(len(w.ranks))
	caps := r.peers[peer].caps
	switch w.rng.IntN(5) {
	case 0, 1:
		edges := []int{4, caps.MaxEager, caps.RndvMin, 3 * caps.MaxEager}
		m := freeMessage{cid: cid, mode: []Mode{Standard, Synchronous, Buffered}[w.rng.IntN(3)], n: max(4, edges[w.rng.IntN(4)]+w.rng.IntN(3)-1)}
		b := make([]byte, m.n)
		binary.LittleEndian.PutUint32(b, uint32(len(w.sent)))
		w.sent = append(w.sent, m)
		r.reqs = append(r.reqs, &freeReq{r.Isend(background, m.mode, peer, cid, 1, b), len(w.sent) - 1, cid, b})
	case 2, 3:
		source := peer
		if w.rng.IntN(2) == 0 {
			source = AnySource
		}
		b := make([]byte, 8*caps.MaxEager+caps.RndvMin)
		r.reqs = append(r.reqs, &freeReq{r.Irecv(background, source, cid, AnyTag, b), -1, cid, b})
	default:
		if m, res, ok, _ := r.Improbe(AnySource, cid, AnyTag); ok {
			r.claims = append(r.claims, freeClaim{m, cid, res.Bytes})
		}
	}
}

// claim receives a message that a probe has taken, whether its communicator is live
// or not.
func (r *freeRank) claim() {
	if n := len(r.claims); n > 0 {
		c := &r.claims[n-1]
		b := make([]byte, c.n)
		r.reqs = append(r.reqs, &freeReq{r.Imrecv(background, &c.m, b), -1, c.cid, b})
		r.claims = r.claims[:n-1]
	}
}

// test looks which requests have ended.
func (r *freeRank) test() {
	open := r.reqs[:0]
	for _, q := range r.reqs {
		ended, st, err := progress.Test(&q.h)
		switch {
		case !ended:
			open = append(open, q)
		case q.send >= 0:
			m := &r.w.sent[q.send]
			m.ended, m.refused = true, errors.Is(err, ErrFreed)
			if err != nil && !m.refused && !(r.w.died && errors.Is(err, fabric.ErrPeerDown)) {
				panic(broken{fmt.Errorf("rank %d: message %d %+v: %w", r.rank, q.send, *m, err)})
			}
		case err == nil:
			m := &r.w.sent[binary.LittleEndian.Uint32(q.buf)]
			if m.received || m.cid != q.cid || m.n != int(st.Bytes) {
				panic(broken{fmt.Errorf("rank %d has received %+v in context %d, of %d bytes", r.rank, *m, q.cid, st.Bytes)})
			}
			m.received = true
		case err != progress.ErrCancelled && !(r.w.died && errors.Is(err, fabric.ErrPeerDown)):
			panic(broken{fmt.Errorf("a receive of rank %d: %w", r.rank, err)})
		}
	}
	r.reqs = open
}

// rest lets everything happen that can.
func (w *freeWorld) rest() {
	w.net.Calm()
	for quiet := 0; quiet < 4; quiet++ {
		for w.net.Step() {
			quiet = 0
		}
		for _, r := range w.living() {
			before := len(r.reqs)
			r.loop.Glance(func() bool { return false })
			if r.test(); len(r.reqs) != before || !w.net.Quiet() {
				quiet = 0
			}
		}
	}
}

func (w *freeWorld) living() (live []*freeRank) {
	for _, r := range w.ranks {
		if !r.dead {
			live = append(live, r)
		}
	}
	return live
}

// play runs a seed.
func (w *freeWorld) play() {
	steps, death := 30+w.rng.IntN(120), -1
	if w.rng.IntN(4) == 0 {
		death = w.rng.IntN(steps)
	}
	lives := 2 + w.rng.IntN(20)
	for step := range steps {
		live := w.living()
		r := live[w.rng.IntN(len(live))]
		i := w.rng.IntN(len(w.ids))
		switch {
		case step == death:
			r.dead, w.died = true, true
			w.net.Kill(r.rank)
			continue
		case w.rng.IntN(lives) == 0:
			r.life(i)
		case w.rng.IntN(4) == 0:
			r.claim()
		case w.rng.IntN(4) == 0:
			r.test()
		default:
			r.use(i)
		}
		for range w.rng.IntN(6) {
			w.net.Step()
		}
	}
	w.rest()
	// Each rank makes what it has not, and frees what it has; what still waits for a
	// message gives up.
	for _, r := range w.living() {
		for len(r.claims) > 0 {
			r.claim()
		}
		for i := range w.ids {
			for range 2 {
				r.life(i)
			}
		}
	}
	w.rest()
	for _, r := range w.living() {
		for _, q := range r.reqs {
			if q.send < 0 {
				progress.Cancel(q.h)
			}
		}
	}
	w.rest()
	w.check()
}

func (w *freeWorld) check() {
	fail := func(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }
	dropped, received := uint64(0), 0
	for _, r := range w.living() {
		if len(r.reqs) > 0 {
			q := r.reqs[0]
			fail("rank %d waits for %d operations, such as that of message %d in context %d", r.rank, len(r.reqs), q.send, q.cid)
		}
		for _, id := range w.ids {
			if c := r.contexts.known[id]; c == nil || c.phase != phaseFreed {
				fail("rank %d: communicator %d is left as %+v", r.rank, id, c)
			}
		}
		used := int(r.arrivals.used)
		for id := r.arrivals.free; id != 0; id = r.arrivals.at(id - 1).body {
			used--
		}
		left := []int{r.match.Posted(), r.match.Unexpected(), used, len(r.arrivals.bodies) - len(r.arrivals.freeBody), int(r.held.bytes), r.held.messages,
			r.held.stopped, r.contexts.claimed, int(r.unlike), r.attached[Everywhere].used, w.net.Regions(r.rank)}
		for _, n := range left {
			if n != 0 {
				fail("rank %d has left %v", r.rank, left)
			}
		}
		for i := range r.peers {
			if p := &r.peers[i]; !w.ranks[i].dead && (p.told != wire.Open || p.gate != 0 || p.in.total != 0) {
				fail("rank %d has left rank %d at level %d and %d, with %d bytes to come", r.rank, i, p.told, p.takes, p.in.total)
			}
		}
		dropped += r.contexts.dropped
	}
	for i, m := range w.sent {
		if m.received {
			received++
		}
		if m.received && m.refused || m.ended && !m.refused && !m.received && m.mode == Synchronous && !w.died {
			fail("message %d ended as %+v", i, m)
		}
	}
	if sum := int(dropped) + received; !w.died && sum != len(w.sent) {
		fail("%d messages: %d were received and %d dropped", len(w.sent), received, dropped)
	}
}

// Whatever comes when, a freed communicator leaves nothing behind.
func TestSimFree(t *testing.T) {
	dropped := uint64(0)
	for seed := *simFrom; seed < *simFrom+uint64(*simSeeds); seed++ {
		w := newFreeWorld(seed)
		err := (&simWorld{}).try(w.play)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, r := range w.living() {
			dropped += r.contexts.dropped
		}
		w.close()
	}
	if dropped < uint64(*simSeeds) {
		t.Errorf("%d messages were dropped in %d seeds", dropped, *simSeeds)
	}
}
