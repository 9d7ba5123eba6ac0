package pt2pt

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric/mem"
)

var (
	simSeeds = flag.Int("seeds", 200, "seeds that TestSim runs")
	simSeed  = flag.Uint64("seed", 0, "the one seed that TestSim replays, with its whole trace")
	simFrom  = flag.Uint64("from", 1, "first seed of TestSim")
	simSoak  = flag.Duration("soak", 0, "how long TestSim goes on with new seeds")
)

// traceLines is how much of the trace of a failing seed is shown.
const traceLines = 120

// runSeed plays a seed and returns what broke.
func runSeed(seed uint64, tracing bool) (trace []byte, err error) {
	rng := rand.New(rand.NewPCG(seed, 0x5eed))
	p := drawPlan(rng)
	w := newSimWorld(rng, p.net, p.marks)
	w.tracing = tracing
	w.note("%+v", p)
	err = w.try(func() { w.play(p) })
	if err == nil {
		w.close()
	} else {
		w.note("BROKEN: %v", err)
		w.sim.Observe = nil
		for _, r := range w.ranks { // the loops may be owned still
			r.loop.Domain().Close()
		}
	}
	return w.trace, err
}

// tail returns the last lines of a trace.
func tail(trace []byte, n int) []byte {
	at := len(trace)
	for ; n >= 0 && at > 0; n-- {
		at = bytes.LastIndexByte(trace[:at], '\n')
	}
	return trace[max(at, 0):]
}

// Random jobs on random networks break no rule of MPI. A failing seed is
// replayed by `go test ./pt2pt -run TestSim -seed S -v`.
func TestSim(t *testing.T) {
	if *simSeed != 0 {
		trace, err := runSeed(*simSeed, true)
		t.Logf("%s", trace)
		if err != nil {
			t.Fatalf("seed %d: %v", *simSeed, err)
		}
		return
	}
	n := uint64(*simSeeds)
	if testing.Short() {
		n = min(n, 50)
	}
	start := time.Now()
	last, report := *simFrom, start.Add(10*time.Second)
	for ; last < *simFrom+n || time.Since(start) < *simSoak; last++ {
		if _, err := runSeed(last, false); err != nil {
			trace, again := runSeed(last, true)
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the replay is another: %v", again)
			}
			t.Fatalf("%s\nseed %d: %v\nreplay: go test ./pt2pt -run TestSim -seed %d -v", tail(trace, traceLines), last, err, last)
		}
		if *simSoak > 0 && time.Now().After(report) {
			report = report.Add(10 * time.Second)
			fmt.Printf("%8v: %d seeds\n", time.Since(start).Round(time.Second), last-*simFrom+1)
		}
	}
	took := time.Since(start)
	t.Logf("%d seeds in %v, %.0f a second", last-*simFrom, took.Round(time.Millisecond), float64(last-*simFrom)/took.Seconds())
}

func TestASeedOfTheSimulationGivesTheSameTraceAgain(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		a, _ := runSeed(seed, true)
		b, _ := runSeed(seed, true)
		if !bytes.Equal(a, b) {
			i := 0
			for i < min(len(a), len(b)) && a[i] == b[i] {
				i++
			}
			t.Fatalf("seed %d: the traces part at byte %d of %d and %d:\n%s\nand\n%s", seed, i, len(a), len(b),
				tail(a[:min(i+200, len(a))], 5), tail(b[:min(i+200, len(b))], 5))
		}
		if len(a) < 1000 {
			t.Errorf("seed %d: %d bytes of trace", seed, len(a))
		}
	}
}

// simPlan is what a seed draws before it begins.
type simPlan struct {
	net    mem.SimConfig
	marks  marks
	steps  int
	rests  int // the job comes to rest so often in between
	deaths []int
	tags   int
	cids   int
	speed  int // moves of the network for each operation, in 4
	wild   int // wildcards, in 256
	short  int // receives with any room, in 256
	cancel int // requests that may be cancelled, in 256
	weight []int
}

func drawPlan(rng *rand.Rand) (p simPlan) {
	size := 2 + rng.IntN(3)
	if rng.IntN(6) == 0 {
		size = 5 + rng.IntN(2)
	}
	p.net = mem.DrawSim(rng, size)
	p.marks = marks{highWater, lowWater, mostHeld, fewHeld}
	if rng.IntN(2) == 0 {
		high, most := 1+rng.IntN(400), 1+rng.IntN(12)
		p.marks = marks{uint64(high), uint64(rng.IntN(high)), most, rng.IntN(most)}
	}
	p.steps, p.rests = 20+rng.IntN(150), rng.IntN(3)
	if rng.IntN(4) == 0 {
		for range 1 + rng.IntN(min(2, size-1)) {
			p.deaths = append(p.deaths, rng.IntN(p.steps))
		}
	}
	p.tags, p.cids = 1+rng.IntN(4), 1+rng.IntN(3)
	p.speed = 1 + rng.IntN(12)
	p.wild, p.short, p.cancel = rng.IntN(200), rng.IntN(128), rng.IntN(160)
	if rng.IntN(4) == 0 {
		p.wild = 0
	}
	for _, o := range simOps {
		p.weight = append(p.weight, 1+rng.IntN(o.weight))
	}
	return p
}

// simOps are what a rank may do next, with how often at most. An operation of
// the engine that is not here is not tested by the simulation.
var simOps = []struct {
	name   string
	weight int
	do     func(*simRank, *simPlan)
}{
	{"isend", 16, func(r *simRank, p *simPlan) { r.drawSend(p, r.w.rng.IntN(len(r.w.ranks))) }},
	{"irecv", 20, (*simRank).drawRecv},
	{"burst", 2, func(r *simRank, p *simPlan) {
		dest := r.w.rng.IntN(len(r.w.ranks))
		for range 1 + r.w.rng.IntN(8) {
			r.drawSend(p, dest)
		}
	}},
	{"test", 12, func(r *simRank, p *simPlan) {
		if q := r.drawOpen(); q != nil {
			q.test()
		}
	}},
	{"testall", 4, func(r *simRank, p *simPlan) {
		var qs []*simReq
		for _, q := range r.open {
			if r.w.rng.IntN(2) == 0 {
				qs = append(qs, q)
			}
		}
		r.testAll(qs)
	}},
	{"cancel", 4, func(r *simRank, p *simPlan) {
		if q := r.drawOpen(); q != nil {
			q.withdraw()
		}
	}},
	{"poll", 10, func(r *simRank, p *simPlan) { r.poll() }},
}

func (r *simRank) drawOpen() *simReq {
	if len(r.open) == 0 {
		return nil
	}
	return r.open[r.w.rng.IntN(len(r.open))]
}

func (p *simPlan) draw(rng *rand.Rand, of256 int) bool { return rng.IntN(256) < of256 }

func (r *simRank) drawSend(p *simPlan, dest int) {
	rng := r.w.rng
	r.isend(dest, uint32(1+rng.IntN(p.cids)), int32(rng.IntN(p.tags)), p.drawSize(rng), p.draw(rng, p.cancel))
}

func (r *simRank) drawRecv(p *simPlan) {
	rng := r.w.rng
	source, tag := rng.IntN(len(r.w.ranks)), int32(rng.IntN(p.tags))
	if p.draw(rng, p.wild) && !r.w.check.Alone(r.id) {
		source = AnySource
	}
	if p.draw(rng, p.wild) {
		tag = AnyTag
	}
	room := p.drawSize(rng)
	if !p.draw(rng, p.short) {
		room = 8 * p.net.Caps.MaxEager
	}
	r.irecv(source, uint32(1+rng.IntN(p.cids)), tag, room, p.draw(rng, p.cancel))
}

// drawSize draws a length near a threshold of the protocols.
func (p *simPlan) drawSize(rng *rand.Rand) int {
	c := p.net.Caps
	edges := [...]int{0, 1, c.MaxShort, c.MaxEager, c.GetMin, c.GetMinMapped, c.Chunk, 2 * c.Chunk, 2 * c.MaxEager, 3 * c.MaxEager}
	if rng.IntN(3) == 0 {
		return rng.IntN(4*c.MaxEager + 1)
	}
	return max(0, edges[rng.IntN(len(edges))]+rng.IntN(3)-1)
}

// play runs the plan.
func (w *simWorld) play(p simPlan) {
	sum := 0
	for _, n := range p.weight {
		sum += n
	}
	for step := range p.steps {
		for _, at := range p.deaths {
			if live := w.living(); at == step && len(live) > 1 {
				w.kill(live[w.rng.IntN(len(live))])
			}
		}
		live := w.living()
		r := live[w.rng.IntN(len(live))]
		pick, i := w.rng.IntN(sum), 0
		for ; pick >= p.weight[i]; i++ {
			pick -= p.weight[i]
		}
		simOps[i].do(r, &p)
		for range (w.rng.IntN(2*p.speed) + 2) / 4 {
			w.sim.Step()
		}
		if p.rests > 0 && w.rng.IntN(p.steps) < p.rests {
			w.settle()
		}
	}
	w.settle()
	w.drain()
}
