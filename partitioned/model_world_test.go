package partitioned

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/progress"
)

// modelWorld is a job over a simulated network, and what its ranks have asked for.
// One goroutine drives all ranks, by calls that do not block.
type modelWorld struct {
	rng, own *rand.Rand // own is for what happens amid calls
	net      *mem.Sim
	ranks    []*modelRank
	sides    []*modelSide
	matches  map[modelKey]*modelMatch
	faults   map[[2]int]bool // reads that have failed: of a rank, from a rank
	writers  bool            // ranks write to each other's memory
	layouts  bool            // sides may have layouts
	noWrite  int             // Writes that are refused, in 256
	slowNet  int             // calls for each move of the network
	phases   int
	plan     int // calls of a phase
	die      int // step of a death, or never
	steps    int
	amid     bool // a call is under way, see meanwhile
	changes  int  // events that bring the job on
	modelCounts

	tracing bool
	trace   []byte
}

// modelRank is one rank of it.
type modelRank struct {
	*Engine
	w     *modelWorld
	id    int
	dom   *modelDomain
	dead  bool
	inits []*modelSide // that the plan still makes, in order
	sides []*modelSide // that have not been freed
}

// modelKey is what sends and receives match by, and modelMatch those that there
// were: the first of one list matches the first of the other, and so on.
type modelKey struct {
	from, to int
	cid      uint32
	tag      int32
}

type modelMatch struct{ sends, recvs []*modelSide }

// never is a step that does not come.
const never = -1

func newModelWorld(t *testing.T, seed uint64, tracing bool) *modelWorld {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x9a47))
	size := 1 + rng.IntN(4)
	c := mem.DrawSim(rng, size)
	w := &modelWorld{rng: rng, own: rand.New(rand.NewPCG(seed, 0xa31d)), matches: map[modelKey]*modelMatch{}, faults: map[[2]int]bool{},
		writers: rng.IntN(2) == 0, layouts: rng.IntN(3) == 0, slowNet: 1 + rng.IntN(4), phases: 1 + rng.IntN(3), plan: 20 + rng.IntN(60*size), die: never, tracing: tracing}
	if rng.IntN(3) == 0 {
		w.noWrite = rng.IntN(100)
	}
	if size > 1 && rng.IntN(3) == 0 {
		w.die = rng.IntN(w.plan * w.phases)
	}
	w.net = mem.NewSim(rng, c)
	w.net.Observe = w.observe
	log := slog.New(slog.DiscardHandler)
	for i := range size {
		d, err := w.net.Open(w.net.Config(i))
		if err != nil {
			t.Fatal(err)
		}
		r := &modelRank{w: w, id: i}
		r.dom = &modelDomain{Domain: d, r: r, regions: map[uint64]modelRegion{}}
		l := progress.New(progress.Config{Domain: r.dom, Addrs: w.net.Addrs(), Log: log, NoThread: true})
		r.Engine = New(l, i)
		l.Go()
		w.ranks = append(w.ranks, r)
	}
	for range 1 + rng.IntN(3*size) {
		w.drawChannel()
	}
	return w
}

// drawChannel draws the two sides of a channel. Most are of the same size.
func (w *modelWorld) drawChannel() {
	counts := []int{1, 1, 2, 3, 4, 5, 8, 18, 64, 65, 130}
	sends, recvs := counts[w.rng.IntN(len(counts))], counts[w.rng.IntN(len(counts))]
	least := sends * recvs / gcd(sends, recvs)
	size := least * w.rng.IntN(4)
	if most := 1 + 1200/least; size > 0 {
		size = least * (1 + w.rng.IntN(most))
	}
	other := size
	if w.rng.IntN(8) == 0 {
		other = recvs * w.rng.IntN(5)
	}
	k := modelKey{w.rng.IntN(len(w.ranks)), w.rng.IntN(len(w.ranks)), 2 * uint32(1+w.rng.IntN(2)), int32(w.rng.IntN(2))}
	if w.rng.IntN(12) == 0 {
		k.to = ProcNull
	}
	if w.rng.IntN(16) > 0 {
		w.ranks[k.from].inits = append(w.ranks[k.from].inits, w.drawLayout(&modelSide{key: k, parts: sends, size: size, sends: true}))
	}
	if k.to == ProcNull {
		k.from, k.to = k.to, k.from
	}
	if w.rng.IntN(16) > 0 {
		w.ranks[k.to].inits = append(w.ranks[k.to].inits, w.drawLayout(&modelSide{key: k, parts: recvs, size: other}))
	}
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func (w *modelWorld) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(fmt.Appendf(w.trace, format, args...), '\n')
	}
}

// broken is the panic with which a run stops.
type broken struct{ err error }

func (w *modelWorld) fail(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

// run drives the ranks and closes the world. An error is a rule that was broken.
func (w *modelWorld) run() (err error) {
	defer func() {
		w.net.Observe = nil
		p := recover()
		switch b, is := p.(broken); {
		case is:
			err = b.err
		case p != nil:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		for _, r := range w.ranks {
			r.dom.Close()
			if p == nil { // else somebody may own a loop
				r.loop.Close()
			}
		}
		if err != nil {
			w.note("BROKEN: %v", err)
		}
	}()
	for range w.phases {
		for range w.plan {
			w.step()
		}
		w.settle()
	}
	w.drain()
	return nil
}

// step makes a move of the network, or a call of a rank's.
func (w *modelWorld) step() {
	if w.steps == w.die {
		w.kill(w.ranks[w.rng.IntN(len(w.ranks))])
	}
	w.steps++
	if w.rng.IntN(1+w.slowNet) > 0 {
		w.net.Step()
	}
	if r := w.ranks[w.rng.IntN(len(w.ranks))]; !r.dead {
		r.act(w.rng)
	}
}

func (w *modelWorld) kill(r *modelRank) {
	w.note("%d is dead", r.id)
	w.net.Kill(r.id)
	r.dead, r.sides, r.inits = true, nil, nil
}

// meanwhile lets others go on amid a call, once in so many times: the network,
// ranks, most of the time those whom the call is about, and goroutines of a rank
// whose loop is owned that make partitions ready.
func (w *modelWorld) meanwhile(one int, about ...*modelRank) {
	if w.amid || w.own.IntN(one) > 0 {
		return
	}
	w.amid = true
	defer func() { w.amid = false }()
	w.meantimes++
	w.note("meanwhile")
	most := 4
	if len(about) > 0 {
		most = 24 // enough for a question and its answer
	}
	for range 1 + w.own.IntN(most) {
		r := w.ranks[w.own.IntN(len(w.ranks))]
		if len(about) > 0 && w.own.IntN(4) > 0 {
			r = about[w.own.IntN(len(about))]
		}
		switch {
		case w.own.IntN(3) == 0:
			w.net.Step()
		case r.dead:
		case r.loop.Enter():
			r.loop.Leave()
			if len(r.sides) > 0 && w.own.IntN(4) == 0 {
				m := r.sides[w.own.IntN(len(r.sides))]
				m.abandon()
				m.test()
				continue
			}
			r.act(w.own)
		case len(r.sides) > 0:
			if m := r.sides[w.own.IntN(len(r.sides))]; m.send != nil && !m.starting {
				m.makeReady(w.own)
			}
		}
	}
	w.note("so far")
}

// act makes a call, drawn.
func (r *modelRank) act(rng *rand.Rand) {
	if len(r.inits) > 0 && (len(r.sides) == 0 || rng.IntN(4) == 0) {
		r.init(r.inits[rng.IntN(len(r.inits))])
		return
	}
	if len(r.sides) == 0 {
		r.poll()
		return
	}
	m := r.sides[rng.IntN(len(r.sides))]
	switch n := rng.IntN(40); {
	case n == 0:
		m.free(rng)
	case n == 1:
		m.abandon()
	case n < 10 && !m.active:
		m.start()
	case n < 25 && m.send != nil:
		m.makeReady(rng)
	case n < 25:
		m.hasArrived(rng.IntN(m.parts))
	case n < 35:
		m.test()
	default:
		r.poll()
	}
}

func (r *modelRank) poll() {
	r.loop.Glance(func() bool { return false })
	r.look()
}

// init makes a side: the first of the plan's that has its key.
func (r *modelRank) init(m *modelSide) {
	for i, x := range r.inits {
		if x.key == m.key && x.sends == m.sends {
			m = x
			r.inits = append(r.inits[:i:i], r.inits[i+1:]...)
			break
		}
	}
	w := r.w
	m.w, m.r, m.id = w, r, len(w.sides)
	m.buf = make([]byte, m.size)
	if m.lay != nil {
		m.buf = make([]byte, len(m.lay.places)+len(m.lay.gaps))
	}
	m.ready, m.arrived = make([]bool, m.parts), make([]bool, m.parts)
	k := m.key
	ctx := context.Background()
	if w.rng.IntN(2) == 0 {
		ctx, m.cancel = context.WithCancel(ctx)
	}
	if w.matches[k] == nil {
		w.matches[k] = &modelMatch{}
	}
	at, list := w.matches[k], &w.matches[k].recvs
	if m.sends {
		list = &at.sends
	}
	m.index = len(*list)
	*list = append(*list, m)
	w.sides = append(w.sides, m)
	w.note("%v: %d bytes in %d partitions, in %d of memory", m, m.size, m.parts, len(m.buf))
	if m.sends {
		fill(m.buf, garbage)
		m.send = r.PsendInitData(ctx, k.to, k.cid, k.tag, m.data(), m.parts)
		m.s = &m.send.side
	} else {
		fill(m.buf, unwritten)
		m.after = append([]byte(nil), m.buf...)
		m.recv = r.PrecvInitData(ctx, k.from, k.cid, k.tag, m.data(), m.parts)
		m.s = &m.recv.side
	}
	m.h = m.s.Request()
	r.sides = append(r.sides, m)
}

// settle has everything happen that can, and checks that nothing waits for what
// has been.
func (w *modelWorld) settle() {
	faults := w.net.SimConfig
	w.net.Calm()
	w.note("settle")
	for quiet, rounds := 0, 0; quiet < 2; rounds++ {
		if rounds == 10000 {
			w.fail("the job does not come to rest")
		}
		before := w.changes
		for w.net.Step() {
		}
		for _, r := range w.ranks {
			if r.dead {
				continue
			}
			r.poll()
			for _, m := range append([]*modelSide(nil), r.sides...) {
				m.test()
			}
		}
		if quiet++; w.changes != before {
			quiet = 0
		}
	}
	if !w.net.Quiet() {
		w.fail("at rest: the network is not")
	}
	w.note("at rest")
	for _, r := range w.ranks {
		for _, m := range r.sides {
			m.atRest()
		}
	}
	w.net.SimConfig = faults
}

// live reports whether a rank is there and alive.
func (w *modelWorld) live(rank int) bool { return rank >= 0 && !w.ranks[rank].dead }
