package progress

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/progress/counters"
)

// Sink is a protocol: it starts requests and takes the packets of its kinds.
// Its methods run under ownership of the loop and never block.
type Sink interface {
	// Start begins a request that came by Submit or Do.
	Start(*Request)
	// Resume continues a request at the head of its peer's backlog. It returns
	// fabric.ErrAgain to stay there; any other result takes it off.
	Resume(*Request) error
	// Cancel withdraws a request, which fails with err, if it still can, and
	// reports whether it did.
	Cancel(*Request, error) bool
	// Deliver takes a packet; hdr and body are borrowed until return.
	Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte)
	// Complete takes the completion of a fabric operation of the request.
	Complete(*Request, error)
	// PeerDown fails everything that waits for the peer.
	PeerDown(fabric.Peer, error)
	// Describe says what a request is, in words too if they are asked for. Before the
	// request begins it is called by the goroutine that has it, and then without words.
	Describe(r *Request, words bool) Info
	// Record puts a request that completes into the timeline, if the sink does that by
	// itself, and reports whether it does. began is when the request began.
	Record(r *Request, began int64, failed bool) bool
	// Observe adds the sink's counts.
	Observe(*counters.Snapshot)
}

// Passive is a Sink that does nothing. Sinks embed it for what does not concern them.
type Passive struct{}

func (Passive) Start(*Request)                                     {}
func (Passive) Resume(*Request) error                              { return nil }
func (Passive) Cancel(*Request, error) bool                        { return false }
func (Passive) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (Passive) Complete(*Request, error)                           {}
func (Passive) PeerDown(fabric.Peer, error)                        {}
func (Passive) Describe(*Request, bool) Info                       { return Info{} }
func (Passive) Record(*Request, int64, bool) bool                  { return false }
func (Passive) Observe(*counters.Snapshot)                         {}

// Config configures a Loop.
type Config struct {
	Domain fabric.Domain
	Addrs  [][]byte // of the peers, by rank
	// More are further fabrics. Via gives the fabric of each peer: 0 for Domain,
	// 1 for More[0]. Without More it may be nil.
	More []fabric.Domain
	Via  []int

	Log *slog.Logger

	Oversubscribed bool // more ranks than cores: give the core away early
	// Ranks is the number of ranks in this process, 0 for one. If there are more
	// of them than processors, a waiter lets other goroutines run.
	Ranks    int
	NoThread bool // no progress while the application computes
	Locked   bool // calls are made by goroutines that are locked to their threads
	// Late, unless it is nil, is called by the progress thread after each look, without
	// ownership: it starts what has been put off.
	Late func()

	Timeline *timeline.Log // records what takes time; nil: nothing does
}

// Loop drives one rank's fabric. See the package comment for ownership.
type Loop struct {
	owned ownership
	_     [64]byte // owned and queue are written by other goroutines
	queue queue
	_     [64]byte

	// The fields that each pass and each wait uses come first and close
	// together: a rank that gets its core back finds all of them out of the
	// cache.
	dom     fabric.Domain
	passes  uint64
	found   uint64    // passes that did something
	rec     *recorder // nil unless a timeline is recorded
	yielded uint64    // passes when other goroutines were let run
	// yieldEvery bounds the passes between two yields where a domain lingers:
	// its passes may be long. See pace.
	yieldEvery uint64
	poller     *Waiter // polls, or is handed polling: see states.go
	bell       fabric.Wake
	looking    bool          // the thread owns the loop, see states.go
	timeout    time.Duration // of its sleep; while it looks, the most that may follow
	doubted    bool          // a request has been in doubt, see doubt.go
	woke       bool          // a waiter that does not poll can go on: the poller yields
	over       bool          // closed: no request starts any more
	draining   bool
	choices
	detachments int // requests in flight with a callback
	requests    requests
	conns       []Conn
	peers
	watching watching
	budget   pollBudget

	protocols
	counts
	log      *slog.Logger
	ended    Request // stands for operations that complete at once
	instants instants
	paced    time.Time // the last yield
	parked   waitList

	steps   int        // requests in flight of Step, and one that is held
	mayHold bool       // see Hold
	holding *Request   // held, or nil
	asides  []*Request // for which functions run, once for each
	refused bool       // the domains are closed, and every request has completed

	callbacks callbacks
	vains     atomic.Uint32 // calls of Test that found nothing
	locked    bool          // Config.Locked
	gaveWay   atomic.Int64  // when giveWay last let others run, by timeline.Now, if locked
	thread
}

// thread is the progress thread's, besides what each pass and each wait uses.
type thread struct {
	seen     uint64         // visits at its last look
	stuck    time.Time      // since when it has found a backlog without room; zero: it has not
	life     atomic.Uint32  // of the loop: made, going, closed
	attended atomic.Bool    // it sleeps in the kernel, see attendant
	stopped  chan struct{}  // closed when it ends
	bells    sync.WaitGroup // goroutines that pass doorbells on
	late     func()         // Config.Late
}

// protocols is what is registered before Go.
type protocols struct {
	all      []Sink
	sinks    [256]Sink // by kind of packet
	program  any       // see Own
	counting func(r *Request, as uint8)
	ops      []func(tag uint64, err error)
}

// New makes the loop of a rank. The caller registers its sinks next and then
// calls Go.
func New(cfg Config) *Loop {
	l := &Loop{dom: cfg.Domain, log: cfg.Log}
	l.locked = cfg.Locked
	if l.late = cfg.Late; l.late == nil {
		l.late = func() {}
	}
	l.stopped = make(chan struct{})
	l.doms = append([]fabric.Domain{cfg.Domain}, cfg.More...)
	l.addrs, l.conns = cfg.Addrs, make([]Conn, len(cfg.Addrs))
	for i := range l.conns {
		c := &l.conns[i]
		c.loop, c.Peer = l, fabric.Peer(i)
		if cfg.Via != nil {
			c.via = cfg.Via[i]
		}
	}
	l.record(cfg.Timeline)
	l.ended.loop, l.ended.gen, l.ended.done = l, instant, true
	l.watching.l = l
	l.watches = append(l.watches, &l.counts.room)
	l.parked.init()
	l.tune(cfg)
	l.owned.alone.Store(membar.CanProcess())
	coarseclock.Use()
	for _, d := range cfg.More {
		l.bells.Go(func() { l.passBellOn(d) })
	}
	return l
}

// Go starts the progress thread, after all sinks are registered: peers may have
// sent packets already, and a packet of a kind without a sink ends its sender.
func (l *Loop) Go() {
	if l.life.CompareAndSwap(made, going) {
		go l.standIn()
	}
}

// Threaded reports whether there is a progress thread, which serves peers while the
// program computes. For anyone.
func (l *Loop) Threaded() bool { return l.threaded }

// Handle registers a sink for kinds of packets. It is called before Go. The sink
// keeps packets for objects that do not exist yet.
func (l *Loop) Handle(s Sink, kinds ...uint8) {
	l.Divert(s, kinds...)
	l.all = append(l.all, s)
}

// Divert has another sink take kinds of packets. It is called before Go.
func (l *Loop) Divert(s Sink, kinds ...uint8) {
	for _, k := range kinds {
		l.sinks[k] = s
	}
}

// Log returns the loop's log.
func (l *Loop) Log() *slog.Logger { return l.log }

// Over reports whether the loop has been closed: its requests have completed.
// For the owner.
func (l *Loop) Over() bool { return l.over }

// Begin starts a request in place: for the owner.
func (l *Loop) Begin(s Sink, r *Request) {
	if l.Adopt(s, r) {
		s.Start(r)
	} else {
		l.Refuse(r)
	}
}

// Adopt is the first half of Begin, for a sink that continues by itself. It
// returns true if the sink is to start the request, and false, once the loop has
// been closed, if the sink is to Refuse it.
func (l *Loop) Adopt(s Sink, r *Request) bool {
	r.sink, r.Began = s, coarseclock.Now()
	return !l.over
}

// Refuse fails a request because the loop has been closed.
func (l *Loop) Refuse(r *Request) {
	err := fabric.ErrClosed
	if g := r.general; g != nil {
		if r.released && g.Free != nil {
			l.callFree(g)
		}
		r.general, err = nil, g.refused()
	}
	r.Result = nothing
	l.Finish(r, err)
}

// pass does everything that there is to do, once, with at most max messages of
// each domain.
func (l *Loop) pass(max int) int {
	l.passes++
	if !l.queue.empty() {
		l.drain()
	}
	sent := 0
	if l.watching.waiting.head != nil {
		sent = l.watching.look()
	}
	if len(l.backlogged) > 0 {
		sent += l.flush()
	}
	if len(l.doms) > 1 {
		sent += l.pollMore(max)
	}
	n := sent + l.dom.Poll(l, max)
	if n > 0 {
		l.found++
	}
	return n
}

// Connected reports whether the peer is connected. It does not connect.
func (l *Loop) Connected(p fabric.Peer) bool {
	c := &l.conns[p]
	return c.ep != nil && c.down == nil
}

// Take returns a request to fill in and start: for the owner, or for anyone.
func (l *Loop) Take(owner bool) *Request {
	if owner {
		if s := &l.requests; s.own != nil {
			r := s.own
			s.own = r.Link
			s.nOwn--
			return r
		}
	}
	return l.requests.takeShared(l)
}

// Open is Enter and then Take in one call: a request to fill in, and whether the
// caller owns the loop now.
func (l *Loop) Open() (r *Request, owner bool) {
	if !l.take() {
		return l.requests.takeShared(l), false
	}
	if !l.queue.empty() {
		l.drain()
	}
	s := &l.requests
	if r = s.own; r == nil {
		return s.takeShared(l), true
	}
	s.own = r.Link
	s.nOwn--
	return r, true
}

// New returns a request to fill in and start, for the owner.
func (l *Loop) New() *Request { return l.Take(true) }

// NewShared returns a request to fill in and Submit, for anyone.
func (l *Loop) NewShared() *Request { return l.requests.takeShared(l) }

// Free gives back a request that has completed and has no waiter, or was not begun.
func (l *Loop) Free(r *Request) {
	r.timed = false
	l.requests.free(r)
}

// Request returns the request of an index, which the caller knows to be in
// flight.
func (l *Loop) Request(id uint32) *Request { return l.requests.at(id) }

// Named returns the sink's request that a peer named, or nil if there is none: a
// peer may name anything.
func (l *Loop) Named(s Sink, op uint64) *Request {
	if r := l.requests.lookup(op); r != nil && r.Of(s) {
		return r
	}
	return nil
}

// Each visits the requests of a sink that are in flight.
func (l *Loop) Each(s Sink, f func(*Request)) {
	l.requests.visit(func(r *Request) bool { return r.live() && r.Of(s) }, f)
}

// EachOfAll visits the requests in flight of all sinks, for the fields that all
// have: Peer, Buf, Began, Place and the waiter.
func (l *Loop) EachOfAll(f func(*Request)) { l.requests.each(f) }

// Finish completes a request.
func (l *Loop) Finish(r *Request, err error) {
	r.done, r.err = true, err
	if r.waiter != nil || r.timed {
		l.satisfy(r)
	}
}
