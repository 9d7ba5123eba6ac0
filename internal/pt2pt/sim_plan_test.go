package pt2pt

import (
	"math/rand/v2"

	"github.com/weft-mpi/weft/fabric/mem"
)

// simPlan is what a seed draws before it begins.
type simPlan struct {
	nets   []mem.SimConfig
	limits Limits
	steps  int
	rests  int // the job comes to rest so often in between
	deaths []int
	tags   int
	cids   int
	speed  int // moves of the network for each operation, in 4
	wild   int // wildcards, in 256
	short  int // receives with any room, in 256
	cancel int // requests that may be cancelled, in 256
	modes  int // sends that are not standard, in 256
	attach int // bytes of attached memory
	weight []int
	born   [][]int // step at which each rank makes each of the contexts that come late
}

func drawPlan(rng *rand.Rand) (p simPlan) {
	size := 2 + rng.IntN(3)
	if rng.IntN(6) == 0 {
		size = 5 + rng.IntN(2)
	}
	p.nets = []mem.SimConfig{mem.DrawSim(rng, size)}
	if rng.IntN(3) == 0 {
		p.nets = append(p.nets, mem.DrawSim(rng, size))
	}
	p.limits = DefaultLimits
	if rng.IntN(2) == 0 {
		p.limits.PeerBytes, p.limits.PeerMessages = uint64(1+rng.IntN(400)), 1+rng.IntN(12)
	}
	if rng.IntN(4) == 0 {
		p.limits.Messages = 1 + rng.IntN(20)
	}
	if rng.IntN(2) == 0 {
		p.attach = 64 * (1 + rng.IntN(40))
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
	if rng.IntN(2) == 0 {
		p.modes = rng.IntN(256)
	}
	// Some plans do a few things only, and those often.
	few := rng.IntN(2) == 0
	for i, o := range simOps {
		n := 1 + rng.IntN(o.weight)
		if few && i > 0 && rng.IntN(2) == 0 {
			n = 0
		} else if few {
			n = 1 + rng.IntN(16)
		}
		p.weight = append(p.weight, n)
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
	{"isend", 16, func(r *simRank, p *simPlan) {
		dest, cid, tag, n := r.drawMessage(p)
		r.isend(p.drawMode(r.w.rng), dest, cid, tag, n, p.draw(r.w.rng, p.cancel))
	}},
	{"irecv", 20, func(r *simRank, p *simPlan) {
		source, cid, tag, room := r.drawPattern(p)
		r.irecv(source, cid, tag, room, p.draw(r.w.rng, p.cancel))
	}},
	{"burst", 2, func(r *simRank, p *simPlan) {
		dest, _, _, _ := r.drawMessage(p)
		for range 1 + r.w.rng.IntN(8) {
			_, cid, tag, n := r.drawMessage(p)
			r.isend(p.drawMode(r.w.rng), dest, cid, tag, n, false)
		}
	}},
	{"test", 12, func(r *simRank, p *simPlan) {
		if q := r.drawOpen(); q != nil {
			q.test()
		}
	}},
	{"testall", 3, func(r *simRank, p *simPlan) { r.testAll(r.drawSome()) }},
	{"testsome", 3, func(r *simRank, p *simPlan) { r.testSome(r.drawSome()) }},
	{"testany", 3, func(r *simRank, p *simPlan) { r.testAny(r.drawSome()) }},
	{"cancel", 4, func(r *simRank, p *simPlan) {
		if q := r.drawOpen(); q != nil {
			q.withdraw()
		}
	}},
	{"persistent", 2, func(r *simRank, p *simPlan) {
		if r.w.rng.IntN(2) == 0 {
			source, cid, tag, room := r.drawPattern(p)
			r.recvInit(source, cid, tag, room)
			return
		}
		dest, cid, tag, n := r.drawMessage(p)
		r.sendInit(p.drawMode(r.w.rng), dest, cid, tag, n)
	}},
	{"sendrecv", 3, func(r *simRank, p *simPlan) {
		if len(p.deaths) > 0 {
			return // when a half is taken back because of a death is not told to the oracle
		}
		dest, cid, sendTag, n := r.drawMessage(p)
		source, _, recvTag, room := r.drawPattern(p)
		r.isendrecv(dest, cid, sendTag, n, source, recvTag, room)
	}},
	{"release", 2, func(r *simRank, p *simPlan) {
		if q := r.drawOpen(); q != nil && q.start == nil && q.pair == nil && !q.probe {
			q.release()
		}
	}},
	{"start", 6, func(r *simRank, p *simPlan) {
		if n := len(r.resting); n > 0 {
			i := r.w.rng.IntN(n)
			q := r.resting[i]
			r.resting = append(r.resting[:i], r.resting[i+1:]...)
			r.startAgain(q)
		}
	}},
	{"iprobe", 4, func(r *simRank, p *simPlan) {
		source, cid, tag, _ := r.drawPattern(p)
		r.iprobe(source, cid, tag, false)
	}},
	{"improbe", 4, func(r *simRank, p *simPlan) {
		source, cid, tag, _ := r.drawPattern(p)
		r.iprobe(source, cid, tag, true)
	}},
	{"imrecv", 5, func(r *simRank, p *simPlan) {
		if n := len(r.claims); n > 0 {
			i := r.w.rng.IntN(n)
			r.imrecv(i, p.drawRoom(r.w.rng))
		}
	}},
	{"probe", 2, func(r *simRank, p *simPlan) {
		source, cid, tag, _ := r.drawPattern(p)
		r.await(source, cid, tag)
	}},
	{"pending", 1, func(r *simRank, p *simPlan) { r.pending() }},
	{"flush", 1, func(r *simRank, p *simPlan) {
		if p.attach > 0 {
			r.flushes = append(r.flushes, r.IflushBuffer(background, Everywhere))
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

func (r *simRank) drawSome() (qs []*simReq) {
	for _, q := range r.open {
		if r.w.rng.IntN(2) == 0 {
			qs = append(qs, q)
		}
	}
	return qs
}

// drawMessage draws what a send sends.
func (r *simRank) drawMessage(p *simPlan) (dest int, cid uint32, tag int32, n int) {
	rng := r.w.rng
	dest, cid, tag = rng.IntN(len(r.w.ranks)), uint32(2+2*rng.IntN(p.cids)), int32(rng.IntN(p.tags))
	return dest, r.drawLate(cid), tag, p.drawSize(rng)
}

// drawPattern draws what a receive or a probe matches, and the room for it.
func (r *simRank) drawPattern(p *simPlan) (source int, cid uint32, tag int32, room int) {
	rng := r.w.rng
	source, cid, tag, _ = r.drawMessage(p)
	if p.draw(rng, p.wild) {
		source = AnySource
	}
	if p.draw(rng, p.wild) {
		tag = AnyTag
	}
	return source, cid, tag, p.drawRoom(rng)
}

func (p *simPlan) drawRoom(rng *rand.Rand) int {
	if p.draw(rng, p.short) {
		return p.drawSize(rng)
	}
	return 8 * max(p.nets[0].Caps.MaxEager, p.nets[len(p.nets)-1].Caps.MaxEager)
}

func (p *simPlan) drawMode(rng *rand.Rand) Mode {
	if !p.draw(rng, p.modes) {
		return Standard
	}
	return Mode(rng.IntN(4))
}

// drawSize draws a length near a threshold of the protocols.
func (p *simPlan) drawSize(rng *rand.Rand) int {
	c := p.nets[rng.IntN(len(p.nets))].Caps
	edges := [...]int{0, 1, c.MaxEager, c.RndvMin, c.RndvMinMapped, c.Chunk, 2 * c.Chunk, 2 * c.MaxEager, 3 * c.MaxEager}
	if rng.IntN(3) == 0 {
		return rng.IntN(4*c.MaxEager + 1)
	}
	return max(0, edges[rng.IntN(len(edges))]+rng.IntN(3)-1)
}

// play runs the plan.
func (w *simWorld) play(p simPlan) {
	if p.attach > 0 {
		for _, r := range w.ranks {
			r.AttachBuffer(Everywhere, make([]byte, p.attach))
		}
	}
	sum := 0
	for _, n := range p.weight {
		sum += n
	}
	w.born = p.born
	for w.step = range p.steps {
		step := w.step
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
			w.nets.step()
		}
		if p.rests > 0 && w.rng.IntN(p.steps) < p.rests {
			w.settle()
		}
	}
	w.step = p.steps
	w.settle()
	w.drain()
}
