package comm

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// modelWorld is a job over a simulated network that runs a random program: creations
// and collective calls, all nonblocking, on communicators that overlap, messages of
// the program's own, and the end of each communicator at each rank. One goroutine
// drives all ranks. The model is what MPI says of the program: who gets which
// communicator, what each call gives, and that each message is received once, or
// dropped once.
type modelWorld struct {
	rng   *rand.Rand
	net   *mem.Sim
	prog  *modelProgram
	ranks []*modelRank
	sent  []*modelMessage

	cancels, torn, leaves, quits bool // faults, besides deaths
	dies                         []int
	slow                         int // a rank that seldom goes on, or -1
	steps, step                  int
	changes                      int

	modelCounts
	tracing bool
	trace   []byte
}

// modelRank is one rank of it.
type modelRank struct {
	w     *modelWorld
	id    int
	in    *Instance
	dom   fabric.Domain
	ops   []*modelOp // under way
	reqs  []*modelReq
	dead  bool
	left  bool
	quit  bool // left, and not all its calls had ended
	order int  // receives so far
	drops uint64
}

// modelOp is a member's part in a call.
type modelOp struct {
	r         *modelRank
	call      *modelCall
	member    int
	h         progress.Handle
	buf       *modelBuffers
	cancel    context.CancelFunc // nil: it can't be
	cancelled bool
	ended     bool
	err       error
	made      *Comm
	told      int
}

// broken is the panic with which a run stops.
type broken struct{ err error }

func (w *modelWorld) fail(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

func newModelWorld(seed uint64, tracing bool) *modelWorld {
	return drawModelWorld(seed, tracing, false)
}

// drawModelWorld draws a world in which a rank dies, or may die.
func drawModelWorld(seed uint64, tracing, dies bool) *modelWorld {
	rng := rand.New(rand.NewPCG(seed, 0xc0117))
	size := 2 + rng.IntN(5)
	c := mem.DrawSim(rng, size)
	w := &modelWorld{rng: rng, slow: -1, tracing: tracing}
	w.cancels, w.leaves = rng.IntN(4) == 0, rng.IntN(5) == 0
	w.quits = w.leaves && rng.IntN(2) == 0
	if w.torn = rng.IntN(8) == 0; !w.torn {
		c.BadGet = 0
	}
	dies = rng.IntN(3) == 0 || dies
	w.prog = drawProgram(rng, size, dies || w.cancels || w.torn || w.quits)
	w.steps = 20 + rng.IntN(250*size)
	if dies {
		for range 1 + rng.IntN(2) {
			w.dies = append(w.dies, rng.IntN(w.steps))
		}
	}
	if rng.IntN(3) == 0 {
		w.slow = rng.IntN(size)
	}
	few, ids := 0, rand.New(rand.NewPCG(seed, 0x1d5))
	// News of a failure names an id, and may come when the id is another's.
	if rng.IntN(2) == 0 && !w.cancels && !w.torn && !w.quits && w.dies == nil {
		few = 1 + rng.IntN(12)
	}
	drawn := map[uint32]bool{}
	draw := func() uint32 {
		id := ids.Uint32()
		if few > 0 && ids.IntN(8) > 0 {
			id = 4 + 2*ids.Uint32N(uint32(few))
		}
		if drawn[id] {
			w.clashes++
		}
		drawn[id] = true
		return id
	}
	lim := pt2pt.DefaultLimits
	lim.Stall = 0 // there is no time here
	if rng.IntN(2) == 0 {
		lim.PeerMessages, lim.PeerBytes = 1+rng.IntN(4), uint64(rng.IntN(200))
	}
	w.net = mem.NewSim(rng, c)
	w.net.Observe = w.observe
	log := slog.New(slog.DiscardHandler)
	for i := range size {
		d, err := w.net.Open(w.net.Config(i))
		if err != nil {
			w.fail("%w", err)
		}
		in := New(Config{Rank: i, Limits: lim, Classify: modelCode, Draw: draw, Beat: noBeat, // as above
			Progress: progress.Config{Domain: d, Addrs: w.net.Addrs(), Log: log, NoThread: true}})
		in.Self.Announce()
		w.prog.comms[0].places[i].c, w.prog.comms[1+i].places[i].c = in.World, in.Self
		w.prog.comms[1+i].number = selfID
		w.ranks = append(w.ranks, &modelRank{w: w, id: i, in: in, dom: d})
		for _, c := range w.prog.comms {
			if c.meets && c.places[i] != nil {
				c.places[i].c = in.World // any
			}
		}
	}
	return w
}

// close ends all ranks. The domains go first: the progress threads are asleep in
// them.
func (w *modelWorld) close() {
	w.net.Observe = nil
	for _, r := range w.ranks {
		r.dom.Close()
		r.in.End()
		if !r.left {
			r.in.Close()
		}
	}
}

func (w *modelWorld) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(fmt.Appendf(w.trace, format, args...), '\n')
	}
}

func (w *modelWorld) observe(e mem.SimEvent) {
	if e.What != mem.SimAgain {
		w.changes++
		w.note("    %v at %d with %d: kind %#x, %#x, %v", e.What, e.Rank, e.Peer, e.Kind, e.Imm, e.Err)
	}
	if e.What == mem.SimMisuse {
		w.fail("rank %d: %w", e.Rank, e.Err)
	}
}

// run drives the ranks until the program has ended, and then closes the world.
func (w *modelWorld) run() (err error) {
	owned := false // somebody owns a loop still
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			err = p.err
		default:
			err, owned = fmt.Errorf("panic: %v\n%s", p, debug.Stack()), true
		}
		if !owned {
			w.close()
		}
		if err != nil {
			w.note("BROKEN: %v", err)
		}
	}()
	for w.step = 0; w.step < w.steps; w.step++ {
		for _, at := range w.dies {
			if live := w.living(); at == w.step && len(live) > 0 {
				w.kill(live[w.rng.IntN(len(live))])
			}
		}
		live := w.living()
		if len(live) == 0 {
			break
		}
		if r := live[w.rng.IntN(len(live))]; r.id != w.slow || w.rng.IntN(10) == 0 {
			r.go1()
		}
		for range w.rng.IntN(8) {
			w.net.Step()
		}
	}
	w.end()
	return nil
}

// living are the ranks that go on.
func (w *modelWorld) living() (live []*modelRank) {
	for _, r := range w.ranks {
		if !r.dead && !r.left {
			live = append(live, r)
		}
	}
	return live
}

func (w *modelWorld) kill(r *modelRank) {
	w.note("rank %d dies", r.id)
	w.deaths++
	r.dead = true
	w.net.Kill(r.id)
}

// go1 has a rank take a step.
func (r *modelRank) go1() {
	w := r.w
	switch w.rng.IntN(20) {
	case 0, 1, 2, 3:
		if ready := r.startable(); len(ready) > 0 {
			r.start(ready[w.rng.IntN(len(ready))])
		}
	case 4, 5:
		r.send()
	case 6, 11:
		r.recv()
	case 7:
		r.free(w.rng.IntN(len(w.prog.comms)))
	case 8:
		r.cancel()
	case 9:
		if w.leaves && w.rng.IntN(3) == 0 {
			r.leave()
		}
	case 10:
		if r.testReqs(); w.quits && w.rng.IntN(60) == 0 {
			r.exit()
		}
	default:
		if n := len(r.ops); n > 0 {
			r.ops[w.rng.IntN(n)].test()
		}
	}
}

// startable are the communicators on which the rank has a call to begin.
func (r *modelRank) startable() (ready []*modelComm) {
	for _, c := range r.w.prog.comms {
		if p := c.places[r.id]; p != nil && p.c != nil && !p.freed && p.next < len(c.calls) {
			ready = append(ready, c)
		}
	}
	return ready
}

// start begins the next call on a communicator.
func (r *modelRank) start(c *modelComm) {
	w, p := r.w, c.places[r.id]
	k := c.calls[p.next]
	p.next++
	op := &modelOp{r: r, call: k, member: slices.Index(c.worlds, r.id)}
	k.ops[op.member] = op
	ctx := context.Background()
	if w.cancels && w.rng.IntN(10) == 0 {
		ctx, op.cancel = context.WithCancel(ctx)
	}
	w.note("rank %d starts %v", r.id, k)
	r.ops = append(r.ops, op)
	if c.meets {
		w.meetings++
		op.h = op.meet(ctx)
		return
	}
	if k.data == nil {
		w.creations++
		if k.connect != nil {
			w.connects++
			op.h = op.join(ctx, p.c)
			return
		}
		if k.high != nil {
			op.h = op.merge(ctx, p.c)
			return
		}
		op.h = p.c.Icreate(ctx, k.specs[op.member], func(c *Comm) { op.made = c }, func() { op.told++ })
		return
	}
	w.collectives++
	s, b := k.data.prepare(op.member)
	op.buf = b
	op.h = p.c.Icollective(ctx, k.data.call, k.data.plan(p.c, &s), &b.o)
}

// merge begins a Merge, as a nonblocking call.
func (op *modelOp) merge(ctx context.Context, c *Comm) progress.Handle {
	k := c.creationOfAll(coll.Merge, op.call.specs[op.member].Failed)
	k.part, k.high = k.tell, op.call.high[op.member]
	k.made, k.told = func(c *Comm) { op.made = c }, func() { op.told++ }
	return k.x.begin(ctx, [3]uintptr{})
}

// meet begins a Meet, as a nonblocking call.
func (op *modelOp) meet(ctx context.Context) progress.Handle {
	k := &creation{in: op.r.in, failed: op.call.specs[op.member].Failed}
	own, remote := op.call.comm.groupsOf(op.r.id)
	mt := k.meet(op.call.comm.key(), own, remote)
	k.of(mt.all)
	k.makeOf(own, remote)
	k.part = k.draw
	k.schedule(mt)
	k.made, k.told = func(c *Comm) { op.made = c }, func() { op.told++ }
	return k.x.begin(ctx, [3]uintptr{})
}

// cancel ends the context of a call under way.
func (r *modelRank) cancel() {
	for _, op := range r.ops {
		if op.cancel != nil && !op.cancelled && r.w.rng.IntN(2) == 0 {
			r.w.note("rank %d ends the context of %v", r.id, op.call)
			op.cancelled = true
			op.cancel()
			return
		}
	}
}

// test takes the end of a call, if there is one.
func (op *modelOp) test() {
	r := op.r
	ended, _, err := progress.Test(&op.h)
	if !ended {
		return
	}
	r.w.changes++
	r.ops = slices.DeleteFunc(r.ops, func(o *modelOp) bool { return o == op })
	op.ended, op.err = true, err
	r.w.note("rank %d ends %v: %v", r.id, op.call, err)
	if op.cancel != nil {
		op.cancel()
	}
	op.check()
}

// free ends a communicator on which the rank has begun all calls.
func (r *modelRank) free(i int) {
	c := r.w.prog.comms[i]
	if p := c.places[r.id]; p != nil && p.c != nil && !p.freed && p.next == len(c.calls) && c.maker != nil {
		r.w.note("rank %d frees communicator %d", r.id, c.id)
		for _, op := range r.ops {
			if op.call.comm == c {
				r.w.freedAmid++
				break
			}
		}
		p.freed = true
		p.c.Free()
	}
}

// leave ends a rank that has done everything, in order.
func (r *modelRank) leave() {
	w := r.w
	for i := range w.prog.comms {
		r.free(i)
	}
	if len(r.ops) > 0 || len(r.startable()) > 0 {
		return
	}
	r.giveUp()
	r.in.Loop.Glance(func() bool { return false })
	r.testReqs()
	if len(r.reqs) > 0 {
		return
	}
	if !r.owes() {
		r.exit()
	}
}

// owes reports whether packets wait to be sent.
func (r *modelRank) owes() bool {
	return slices.ContainsFunc(r.w.ranks, func(o *modelRank) bool { return o != r && r.in.Loop.Conn(fabric.Peer(o.id)).Busy() })
}

// exit ends a rank whatever is under way.
func (r *modelRank) exit() {
	w := r.w
	r.quit = len(r.ops) > 0 || len(r.startable()) > 0 || r.owes()
	w.note("rank %d leaves, amid its calls %t", r.id, r.quit)
	w.left++
	r.left, r.drops = true, r.dropped()
	r.in.End()
	r.dom.Close() // first: the progress thread is asleep in it
	r.in.Close()
}
