package tcp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
)

// The ways in which the hammer ends rank 2, or its connection with rank 0.
const (
	endCrash = iota
	endClose
	endReset
	endHalf
	ends
)

// hammer is a job of three ranks, each on a goroutine of its own, that exchange
// random messages and operations until one of them dies at a random moment.
type hammer struct {
	t     *testing.T
	seed  uint64
	ms    []*mate
	mem   []fabric.Segment
	end   int
	dies  int // rank 2's step at which it dies
	relay *tcpproxy.Relay
	done  atomic.Int32 // ranks that have nothing more to do; each Add pairs with the others' loads
}

// messages is how many each rank sends to each other.
const messages = 60

func newHammer(t *testing.T, seed uint64, change func(*fabric.Config)) *hammer {
	r := rand.New(rand.NewPCG(seed, 1))
	h := &hammer{t: t, seed: seed, ms: mates(t, 3, change), end: r.IntN(ends), dies: r.IntN(400)}
	for _, m := range h.ms {
		m.max = 1 + r.IntN(64)
		h.mem = append(h.mem, m.region(make([]byte, 2*bulkMin)))
	}
	var card []byte // of rank 2, as rank 0 knows it
	if h.end == endReset || h.end == endHalf {
		at, dir, n := r.Int64N(600<<10), tcpproxy.Direction(r.IntN(2)), r.IntN(3)
		act := tcpproxy.Reset
		if h.end == endHalf {
			act = tcpproxy.Half
		}
		card, h.relay = through(t, h.ms[2], func(k int) []tcpproxy.Fault {
			if k != n/2 { // mostly the connection for messages
				return nil
			}
			return []tcpproxy.Fault{{Dir: dir, At: at, Do: act}}
		})
	}
	for i, m := range h.ms {
		for _, p := range r.Perm(3) {
			switch {
			case i == 0 && p == 2:
				m.meet(h.ms[p], card)
			case i != p:
				m.meet(h.ms[p], nil)
			}
		}
	}
	return h
}

// run is one rank. It returns when it has died, or nobody needs it any more.
func (h *hammer) run(m *mate) {
	r := rand.New(rand.NewPCG(h.seed, 2+uint64(m.rank)))
	own := h.mem[m.rank].Bytes
	mortal := m.rank == 2 && (h.end == endCrash || h.end == endClose) // the run lasts until it has died
	finished := false
	end := time.Now().Add(patience)
	for step := 0; ; step++ {
		if mortal && step == h.dies {
			if h.end == endCrash {
				m.d.crash()
			} else {
				m.d.Close()
			}
			h.done.Add(1)
			return
		}
		m.d.Poll(m, m.max)
		all := true
		for _, p := range [...]int{0, 1, 2} {
			to := fabric.Peer(p)
			if to == m.rank || m.down[to] != nil {
				continue
			}
			if m.sent[to] < messages && r.IntN(4) == 0 {
				m.send(to, 1+r.IntN(1<<r.IntN(15)))
			}
			if r.IntN(20) == 0 && m.sent[to] < messages && m.with(to) < 8 {
				h.operate(m, to, r, own)
			}
			if m.sent[to] < messages || m.got[to] < messages || m.with(to) > 0 {
				all = false
			}
		}
		if all && !finished && !mortal {
			finished = true
			h.done.Add(1)
		}
		if h.done.Load() == 3 || h.t.Failed() {
			return
		}
		if step%64 == 0 {
			if time.Now().After(end) {
				h.t.Errorf("seed %d: rank %d hangs: it has %v, has sent %v, %d operations are under way, down: %v",
					h.seed, m.rank, m.got, m.sent, len(m.pending), m.down)
				return
			}
		}
		runtime.Gosched()
	}
}

func (h *hammer) operate(m *mate, to fabric.Peer, r *rand.Rand, own []byte) {
	ep := m.eps[to]
	n := 1 + r.IntN(len(own)>>r.IntN(18))
	s := fabric.Segment{Bytes: make([]byte, n)}
	at := h.mem[to].Region.Remote
	switch r.IntN(4) {
	case 0:
		m.begin(to, func(op fabric.Op) error { return ep.Get(s, at, op) })
	case 1:
		m.begin(to, func(op fabric.Op) error { return ep.Put(s, at, op) })
	case 2:
		m.begin(to, func(op fabric.Op) error {
			return ep.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: new(uint64)}, at, op)
		})
	case 3:
		m.begin(to, ep.Flush)
	}
}

// Of a rank that dies in the middle of anything each survivor has a prefix of what it
// has sent, its end once, and the end of each operation once before it. Survivors
// lose nothing of each other. The mates check each event.
func TestHammerOfDeaths(t *testing.T) { plainAndTLS(t, hammerOfDeaths) }

func hammerOfDeaths(t *testing.T, change func(*fabric.Config)) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			h := newHammer(t, seed, change)
			var wg sync.WaitGroup
			for _, m := range h.ms {
				wg.Go(func() { h.run(m) })
			}
			wg.Wait()
			if !t.Failed() {
				h.judge()
			}
			if t.Failed() {
				t.Fatalf("end %d at step %d", h.end, h.dies)
			}
		})
	}
}

func (h *hammer) judge() {
	t, z, o, d := h.t, h.ms[0], h.ms[1], h.ms[2]
	died := h.end == endCrash || h.end == endClose
	if died {
		pump(t, fmt.Sprintf("seed %d: PeerDown at the survivors", h.seed), func() bool { return z.down[2] != nil && o.down[2] != nil }, z, o)
		if h.end == endClose {
			for _, m := range []*mate{z, o} {
				if m.got[2] != d.sent[m.rank] && errors.Is(m.down[2], fabric.ErrPeerLeft) {
					t.Errorf("rank %d has %d messages of %d that a rank sent before it left", m.rank, m.got[2], d.sent[m.rank])
				}
			}
		}
	} else if z.down[2] != nil || d.down[0] != nil {
		pump(t, fmt.Sprintf("seed %d: both to know", h.seed), func() bool { return z.down[2] != nil && d.down[0] != nil }, h.ms...)
	}
	for _, m := range h.ms {
		if died && m == d {
			continue
		}
		if len(m.pending) > 0 {
			t.Errorf("rank %d has %d operations left", m.rank, len(m.pending))
		}
		for _, p := range h.ms {
			between := died && p == d || !died && m.rank+p.rank == 2 // where an end is due
			if p != m && m.got[p.rank] > p.sent[m.rank] {
				t.Errorf("rank %d has %d messages of %d from rank %d", m.rank, m.got[p.rank], p.sent[m.rank], p.rank)
			}
			if p != m && !between && (m.down[p.rank] != nil || m.got[p.rank] != messages) {
				t.Errorf("rank %d has %d messages of rank %d: %v", m.rank, m.got[p.rank], p.rank, m.down[p.rank])
			}
		}
	}
}
