package pt2pt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/oracle"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// simWorld is a job over a simulated network, and the oracle that watches it.
// One goroutine drives all ranks, by calls that do not block.
type simWorld struct {
	rng   *rand.Rand
	nets  simWires
	check *oracle.Checker
	ranks []*simRank
	reqs  []*simReq // by name, from 0

	own   *rand.Rand // for contexts that come late
	born  [][]int    // see simPlan
	step  int        // of the plan
	early int        // messages that came before their context

	shapes *rand.Rand // for layouts, nil: there are none
	shaped int        // operations with other memory than a slice, in 256

	changes int // events that bring the job on
	tracing bool
	raw     bool // the trace shows every byte
	trace   []byte
}

// simRank is one rank of it.
type simRank struct {
	*Engine
	w    *simWorld
	id   int
	doms []fabric.Domain
	dead bool
	log  *simLog
	open []*simReq // not seen to end

	resting []*simReq  // persistent requests that are not active
	claims  []simClaim // messages of matched probes
	flushes []progress.Handle

	coming []struct{ total, got int } // the message in pieces from each rank
	names  []map[uint64]int           // of each rank: sends by the name that the engine gave them
	takes  []wire.Level               // what each rank has told this one

	mourned []bool // the oracle has been told that this rank knows of the death
	worded  []bool // it has another's word for it, and takes nothing more from the dead
}

// simClaim is a message that a matched probe has taken.
type simClaim struct {
	id, bytes int
	msg       Message
}

// simReq is a send or a receive.
type simReq struct {
	id        int
	r         *simRank
	recv      bool
	probe     bool
	mode      Mode
	h         progress.Handle
	buf       []byte             // the message's bytes
	lay       *simLayout         // where they are, if not in buf
	cancel    context.CancelFunc // nil: it can't be
	cancelled bool
	ended     bool
	after     []byte        // what buf was when a receive ended
	start     func(*simReq) // of a persistent request: tells the oracle
	pair      *simReq       // the send that is one request with this receive
}

// broken is the panic with which a run stops.
type broken struct{ err error }

func (w *simWorld) fail(format string, args ...any) { panic(broken{fmt.Errorf(format, args...)}) }

// simWires are what joins the ranks: simNets, or realNets.
type simWires interface {
	// open returns a rank's domains, and which of them leads to each rank,
	// where it has which address.
	open(rank int) (ds []fabric.Domain, via []int, addrs [][]byte)
	watch(func(mem.SimEvent)) // nil: nobody watches any more
	step() bool               // a move, false if there is none
	calm() (rouse func())     // ends all faults until rouse is called
	quiet() bool              // nothing is on its way
	busy() bool               // something may come although there is no move
	tired(round int) bool     // the job should have come to rest
	regions(rank int) int     // that the rank has registered
	kill(rank int)
}

func newSimWorld(rng *rand.Rand, size int, nets simWires, lim Limits) *simWorld {
	w := &simWorld{rng: rng, check: oracle.New(size), nets: nets}
	w.check.Most = lim.Messages
	nets.watch(w.observe)
	for i := range size {
		ds, via, addrs := w.nets.open(i)
		log := &simLog{}
		l := progress.New(progress.Config{Domain: ds[0], More: ds[1:], Via: via, Addrs: addrs, Log: slog.New(log), NoThread: true})
		e := New(l, i, size)
		lim.Stall = 0 // there is no time here
		e.Limit(lim)
		l.Go()
		r := &simRank{Engine: e, w: w, id: i, log: log, doms: ds, coming: make([]struct{ total, got int }, size), takes: make([]wire.Level, size), mourned: make([]bool, size), worded: make([]bool, size)}
		for range size {
			r.names = append(r.names, map[uint64]int{})
		}
		w.ranks = append(w.ranks, r)
	}
	return w
}

// close ends all ranks. The domains go first: the progress threads are asleep
// in them.
func (w *simWorld) close() {
	w.nets.watch(nil)
	for _, r := range w.ranks {
		r.shut()
		r.loop.Close()
	}
}

// shut closes a rank's domains.
func (r *simRank) shut() {
	for _, d := range r.doms {
		d.Close()
	}
}

// try calls f and returns what broke in it.
func (w *simWorld) try(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			err = p.err
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	f()
	return nil
}

func (w *simWorld) note(format string, args ...any) {
	if w.tracing {
		w.trace = append(fmt.Appendf(w.trace, format, args...), '\n')
	}
}

// tell hands an event to the oracle.
func (w *simWorld) tell(e oracle.Event) {
	w.note("%v", e)
	if err := w.check.Add(e); err != nil {
		w.fail("%w", err)
	}
}

// observe takes what happens in the network.
func (w *simWorld) observe(e mem.SimEvent) {
	if w.tracing {
		w.noteNet(e)
	}
	if e.What != mem.SimAgain {
		w.changes++
	}
	switch e.What {
	case mem.SimSent:
		w.obeys(e)
	case mem.SimDeliver:
		w.arrive(e)
	case mem.SimDown:
		w.down(e.Rank, e.Peer)
	case mem.SimTransfer:
		switch {
		case errors.Is(e.Err, mem.ErrSim) && e.Put:
			w.tell(oracle.Event{Kind: oracle.Fault, Rank: e.Peer, Peer: e.Rank})
		case errors.Is(e.Err, mem.ErrSim):
			w.tell(oracle.Event{Kind: oracle.Fault, Rank: e.Rank, Peer: e.Peer})
		case e.Err != nil && !errors.Is(e.Err, fabric.ErrPeerDown):
			w.fail("a transfer of rank %d from %d: %w", e.Rank, e.Peer, e.Err)
		}
	case mem.SimNoGet:
		if !errors.Is(e.Err, fabric.ErrUnsupported) && !errors.Is(e.Err, fabric.ErrPeerDown) {
			w.fail("a Get of rank %d from %d: %w", e.Rank, e.Peer, e.Err)
		}
	case mem.SimMisuse:
		w.fail("rank %d: %w", e.Rank, e.Err)
	}
}

// obeys checks that a rank sends what its peer takes. The one whose turn it is
// was let go before.
func (w *simWorld) obeys(e mem.SimEvent) {
	level := wire.Open
	switch e.Kind {
	case wire.Eager, wire.EagerReady, wire.EagerSync, wire.EagerFirst:
	case wire.RTS:
		level = wire.Announce
	default:
		return
	}
	if takes := w.ranks[e.Rank].takes[e.Peer]; takes > level && w.ranks[e.Rank].peers[e.Peer].turn == nil {
		w.fail("rank %d sent %s to %d, which has told it that it takes level %d", e.Rank, simKinds[e.Kind], e.Peer, takes)
	}
}

// arrive tells the oracle which messages reach their rank.
func (w *simWorld) arrive(e mem.SimEvent) {
	r := w.ranks[e.Rank]
	if r.worded[e.Peer] {
		return
	}
	in := &r.coming[e.Peer]
	named := uint64(0)
	cid, tag := wire.Match(e.Imm)
	a := oracle.Event{Kind: oracle.Arrive, Rank: e.Rank, Peer: e.Peer, Context: cid, Tag: tag}
	switch e.Kind {
	case wire.Eager, wire.EagerReady:
		a.Whole = true
	case wire.EagerSync:
		a.Whole, named = true, wire.NumberHeader(e.Hdr).Number()
	case wire.EagerFirst:
		in.total, in.got = int(wire.First(e.Hdr).Length()), len(e.Body)
	case wire.EagerMore:
		if in.got += len(e.Body); in.got == in.total {
			w.tell(oracle.Event{Kind: oracle.Whole, Rank: e.Rank, Peer: e.Peer})
		}
		return
	case wire.RTS:
		named = wire.RTSHeader(e.Hdr).Request()
	case wire.Flow:
		r.takes[e.Peer] = wire.Level(e.Imm)
		return
	case wire.Dead:
		if dead := int(e.Imm); !r.loop.Connected(fabric.Peer(dead)) {
			r.worded[dead] = true
			w.down(e.Rank, dead)
		}
		return
	case wire.Cancel:
		// One that overtook nothing and finds nothing is about a send that is over.
		if id, ok := r.names[e.Peer][e.Imm]; ok {
			w.tell(oracle.Event{Kind: oracle.GiveBack, Rank: e.Rank, Peer: e.Peer, Req: id})
		}
		return
	default:
		return
	}
	if !w.knows(e.Rank, cid) {
		w.early++
	}
	w.tell(a)
	if named != 0 {
		r.names[e.Peer][named] = w.check.Last(e.Rank)
	}
}

// down tells the oracle that a rank learns of a death, once.
func (w *simWorld) down(rank, dead int) {
	if r := w.ranks[rank]; !r.mourned[dead] {
		r.mourned[dead] = true
		w.tell(oracle.Event{Kind: oracle.Down, Rank: rank, Peer: dead})
	}
}

// living returns the ranks that are not dead.
func (w *simWorld) living() (rs []*simRank) {
	for _, r := range w.ranks {
		if !r.dead {
			rs = append(rs, r)
		}
	}
	return rs
}

// kill ends a rank.
func (w *simWorld) kill(r *simRank) {
	w.tell(oracle.Event{Kind: oracle.Death, Rank: r.id})
	r.dead, r.open = true, nil
	w.nets.kill(r.id)
}

func (w *simWorld) request(r *simRank, recv bool, buf []byte, cancel context.CancelFunc) *simReq {
	q := &simReq{id: len(w.reqs), r: r, recv: recv, buf: buf, cancel: cancel}
	w.reqs = append(w.reqs, q)
	return q
}

// payload is what request id sends.
func payload(id, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((id+1)*37+i*11+i>>3) & 0x7f // never oracle.Fill
	}
	return b
}

// classify names the reason for which a request ended.
func classify(err error) oracle.Class {
	var short *cause.TruncateError
	var room *cause.NoBufferError
	switch {
	case err == nil:
		return oracle.OK
	case errors.As(err, &short):
		return oracle.Truncated
	case errors.As(err, &room):
		return oracle.NoBuffer
	case errors.Is(err, cause.ErrNotReady):
		return oracle.NotReady
	case errors.Is(err, context.Canceled), errors.Is(err, progress.ErrCancelled):
		return oracle.Cancelled
	case errors.Is(err, fabric.ErrPeerDown):
		return oracle.PeerDown
	case errors.Is(err, mem.ErrSim), errors.Is(err, ErrNotFetched), errors.Is(err, ErrNotWritten):
		return oracle.Failed
	}
	return oracle.Other
}

// end takes the end of a request.
func (q *simReq) end(st progress.Status, err error) {
	w, r := q.r.w, q.r
	q.ended = true
	w.changes++
	for i := range r.open {
		if r.open[i] == q {
			r.open = append(r.open[:i], r.open[i+1:]...)
			break
		}
	}
	if a := r.attached[Everywhere]; errors.As(err, new(*cause.NoBufferError)) && a != nil && a.used == 0 && len(q.buf)+BufferOverhead <= len(a.mem) {
		w.fail("buffered send #%d found no room for %d bytes in %d that are free", q.id, len(q.buf), len(a.mem))
	}
	if q.start != nil {
		r.resting = append(r.resting, q)
	}
	e := oracle.Event{Kind: oracle.SendDone, Rank: r.id, Req: q.id, Class: classify(err)}
	if e.Class == oracle.Other {
		w.note("request #%d: %v", q.id, err)
	}
	switch {
	case !q.recv:
	case q.pair != nil && err != nil && e.Class != oracle.Truncated: // whose error it is is not told
		q.pair.give(oracle.Untold)
		e.Kind, e.Class = oracle.RecvDone, oracle.Untold
	case q.probe:
		e.Kind, e.FoundPeer, e.FoundTag, e.Length = oracle.ProbeDone, st.Source, int32(st.Tag), int(st.Bytes)
	default:
		q.fetch()
		e.Kind, e.Peer, e.Tag, e.Length, e.Data = oracle.RecvDone, st.Source, int32(st.Tag), int(st.Bytes), q.buf
		q.after = append([]byte(nil), q.memory()...)
	}
	if !q.recv {
		q.give(e.Class)
		return
	}
	w.tell(e)
	switch {
	case q.pair != nil && e.Class == oracle.Truncated:
		q.pair.give(oracle.Untold)
	case q.pair != nil && e.Class != oracle.Untold:
		q.pair.give(oracle.OK)
	}
}

// give takes the end of a send: its buffer is the sender's again.
func (q *simReq) give(c oracle.Class) {
	q.ended = true
	q.r.w.tell(oracle.Event{Kind: oracle.SendDone, Rank: q.r.id, Req: q.id, Class: c})
	for _, b := range [][]byte{q.buf, q.memory()} {
		for i := range b {
			b[i] = 0x99
		}
	}
}
