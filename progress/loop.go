package progress

import (
	"errors"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// Sink is a protocol: it starts requests and takes the packets of its kinds.
// Its methods run under ownership of the loop and never block.
type Sink interface {
	// Start begins a request that was handed over with Submit or Do.
	Start(*Request)
	// Resume goes on with a request at the head of its peer's backlog. It
	// answers fabric.ErrAgain to stay there; anything else takes it off.
	Resume(*Request) error
	// Cancel ends a request that can still be withdrawn, with err, and reports
	// whether it could.
	Cancel(*Request, error) bool
	// Deliver takes a packet; hdr and body are borrowed until return.
	Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte)
	// Complete takes the end of a fabric operation of the request.
	Complete(*Request, error)
	// PeerDown ends everything that waits for the peer.
	PeerDown(fabric.Peer, error)
}

// Config makes a Loop.
type Config struct {
	Domain fabric.Domain
	Addrs  [][]byte // of the peers, by rank
	// More are further fabrics, and Via says for each peer which it is reached
	// over: 0 for Domain, 1 for More[0]. Without More it may be nil.
	More []fabric.Domain
	Via  []int

	Log *slog.Logger

	Oversubscribed bool // more ranks than cores: give the core away early
	// Ranks is how many ranks this process has, 0 for one. Where they are more
	// than its processors, to wait is to let other goroutines run.
	Ranks    int
	NoThread bool // no progress while the application computes
}

// Loop drives one rank's fabric. See the package comment for ownership.
type Loop struct {
	owned ownership
	_     [64]byte // owned and queue are written by other goroutines
	queue queue
	_     [64]byte

	// What each pass and each wait looks at comes first and close together: a
	// rank that gets its core back finds all of it cold.
	dom     fabric.Domain
	passes  uint64
	found   uint64 // passes that did something
	yielded uint64 // passes when other goroutines were let run
	// turns bounds the passes between two yields where a domain lingers, whose
	// passes may be long: see pace.
	turns          uint64
	linger         *bool   // of dom, if it lingers and is the only domain
	poller         *Waiter // polls, or is about to
	spare          *Waiter // free waiters
	look           int     // passes between two looks around, see poll.go
	looks          int     // passes of a short wait, see Await
	armed          fabric.Wake
	asleep         bool // the thread sleeps until the doorbell rings
	woke           bool // a parked waiter was made ready in this pass
	oneProc        bool // one processor runs all goroutines
	oversubscribed bool
	crowded        bool          // this process has more ranks than processors
	tick           time.Duration // of the thread
	threaded       bool
	over           bool // closed: no request starts any more
	draining       bool
	detachments    int           // requests in flight whose end is to be told
	fallen         []fabric.Peer // down, and the sinks not told yet
	backlogged     []*Conn
	more           []fabric.Domain
	conns          []Conn
	requests       requests
	watching       watching
	spin           spinner

	first    fabric.Domain // dom, for other goroutines
	bells    sync.WaitGroup
	addrs    [][]byte
	all      []Sink
	log      *slog.Logger
	ended    Request // stands for operations that end at once
	instants instants
	counts   counts
	paced    time.Time // the last yield
	packets  *packet   // free list
	biding   int       // waiters in bide
	parked   waitList
	seen     uint64 // passes at the thread's last look
	roused   bool   // Rouse was called since the thread began to look

	calls, lastCall *detached
	called          atomic.Bool   // there are calls: stored by the owner, loaded by the thread where it can't own
	calling         bool          // a goroutine makes the calls of the closed loop
	vains           atomic.Uint32 // calls of Test in vain
	running, closed atomic.Bool
	attended        atomic.Bool // the thread sleeps in the kernel, see attendant
	stopped         chan struct{}

	sinks [256]Sink
	ops   []func(tag uint64, err error)
	notes [1 << (32 - noteBits)]func(from fabric.Peer, note uint32)
}

// New makes the loop of a rank. Its sinks are registered next, and then Go is
// called.
func New(cfg Config) *Loop {
	l := &Loop{
		dom: cfg.Domain, first: cfg.Domain, more: cfg.More, addrs: cfg.Addrs, log: cfg.Log,
		conns:          make([]Conn, len(cfg.Addrs)),
		oversubscribed: cfg.Oversubscribed, threaded: !cfg.NoThread,
		stopped: make(chan struct{}),
	}
	for i := range l.conns {
		c := &l.conns[i]
		c.loop, c.Peer, c.dom = l, fabric.Peer(i), l.dom
		if cfg.Via != nil && cfg.Via[i] > 0 {
			c.dom = cfg.More[cfg.Via[i]-1]
		}
	}
	l.ended.loop, l.ended.gen, l.ended.done = l, instant, true
	l.watching.l = l
	l.parked.init()
	l.spin.init(cfg.Oversubscribed)
	l.oneProc = runtime.GOMAXPROCS(0) == 1
	l.look, l.looks = lookDedicated, 4*lookDedicated
	if cfg.Oversubscribed {
		l.look, l.looks = lookShared, 16*lookShared
	}
	procs := runtime.GOMAXPROCS(0)
	l.tick = tick * time.Duration(1+max(cfg.Ranks-1, 0)/(tickRanks*procs))
	if l.crowded = cfg.Ranks > procs; l.crowded {
		l.looks = 1
	}
	clock.use()
	l.turns = math.MaxUint64
	for _, d := range append([]fabric.Domain{l.dom}, l.more...) {
		if d.Linger() != nil {
			l.turns = yieldPasses
		}
	}
	if len(l.more) == 0 {
		if l.linger = l.dom.Linger(); l.linger != nil {
			l.looks = lookLinger
		}
	}
	l.relayBells()
	return l
}

// Go starts the progress thread, once all sinks are registered: peers may have
// sent packets already, and one of a kind without a sink ends its sender.
func (l *Loop) Go() {
	if !l.running.Swap(true) {
		go l.thread()
	}
}

// Handle registers a sink and the kinds of packets that are its. It is called
// before Go. A packet for an object that is not there yet is the sink's to hold.
func (l *Loop) Handle(s Sink, kinds ...uint8) {
	for _, k := range kinds {
		l.sinks[k] = s
	}
	l.all = append(l.all, s)
}

// Log is where the loop reports.
func (l *Loop) Log() *slog.Logger { return l.log }

// Over reports whether the loop has been closed: its requests have ended. For
// the owner.
func (l *Loop) Over() bool { return l.over }

// Enter makes the caller the owner if nobody is, and first does what others
// have queued, so that one goroutine's operations start in its order.
func (l *Loop) Enter() bool {
	if !l.owned.take() {
		return false
	}
	if !l.queue.empty() {
		l.drain()
	}
	return true
}

// Leave ends the ownership. Somebody polls after it whenever somebody waits.
func (l *Loop) Leave() {
	if l.poller == nil && l.parked.first() != nil {
		l.relay()
	}
	l.owned.give()
	if !l.queue.empty() {
		l.drainLate()
	}
}

// relay makes a parked waiter poll if nobody does and the doorbell would not
// wake the thread for what it waits for.
func (l *Loop) relay() {
	if l.poller == nil && l.parked.first() != nil && l.armed != fabric.WakeAll {
		l.handOver()
	}
}

// Rouse makes the thread look at what the doorbell would not announce: work of
// our own that goes on, such as a backlog or a Get. For the owner.
func (l *Loop) Rouse() {
	l.roused = true
	if l.asleep {
		l.asleep = false
		l.dom.Wake()
	}
}

// letGo releases the word and looks again: a node that came while its
// producer saw an owner must not be stranded. The producer pushes and then
// tries to own; we release and then look at the queue. Both are sequentially
// consistent, so one of the two sees the other.
func (l *Loop) letGo() {
	l.owned.give()
	l.drainLate()
}

// drainLate does what was queued before the word was released.
func (l *Loop) drainLate() {
	for !l.queue.empty() {
		if !l.owned.take() {
			return
		}
		l.drain()
		l.relay()
		l.owned.give()
	}
}

// Submit starts a request now or leaves it to the owner: for anyone. It never
// blocks.
func (l *Loop) Submit(s Sink, r *Request) {
	if l.Enter() {
		l.Begin(s, r)
		l.Leave()
		return
	}
	r.node.sink, r.node.w = s, nil
	l.push(&r.node)
}

// push queues a node and makes sure that somebody takes it.
func (l *Loop) push(n *node) {
	l.queue.push(n)
	if l.Enter() {
		l.Leave()
	}
}

// Begin starts a request in place: for the owner.
func (l *Loop) Begin(s Sink, r *Request) {
	if l.Adopt(s, r) {
		s.Start(r)
	} else {
		l.Refuse(r)
	}
}

// Adopt is the first half of Begin, for a sink that goes on by itself: it answers
// true if the sink is to start the request, and false, once the loop has been
// closed, if it is to Refuse it.
func (l *Loop) Adopt(s Sink, r *Request) bool {
	r.sink, r.Began = s, clock.now()
	return !l.over
}

// Refuse ends a request because the loop has been closed.
func (l *Loop) Refuse(r *Request) {
	r.Result = nothing
	if g := r.general; g != nil {
		r.general = nil
		l.Finish(r, g.refused())
		return
	}
	l.Finish(r, fabric.ErrClosed)
}

// drain does what other goroutines have queued, in their order: what comes
// while it is at it, a Test that polls say, waits for the next drain.
func (l *Loop) drain() {
	if l.draining {
		return
	}
	l.draining = true
	for n := l.queue.takeAll(); n != nil; {
		next := n.next
		n.next = nil
		if n.r != nil {
			l.Begin(n.sink, n.r)
		} else {
			l.serve(n.w)
		}
		n = next
	}
	l.draining = false
}

// pass is one turn of the loop, for at most max messages.
func (l *Loop) pass(max int) int {
	l.passes++
	if !l.queue.empty() {
		l.drain()
	}
	sent := 0
	if len(l.fallen) > 0 {
		l.mourn()
	}
	if l.watching.first != nil {
		sent = l.watching.look()
	}
	if len(l.backlogged) > 0 {
		sent += l.flush()
	}
	if len(l.more) > 0 {
		sent += l.pollMore(max)
	}
	n := sent + l.dom.Poll(l, max)
	if n > 0 {
		l.found++
	}
	return n
}

// Connected reports whether the peer is known to be there. It does not connect.
func (l *Loop) Connected(p fabric.Peer) bool {
	c := &l.conns[p]
	return c.ep != nil && c.down == nil
}

// Take returns a request to fill in and start: the owner's, or for anyone.
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

// New returns a request to fill in and start, for the owner.
func (l *Loop) New() *Request { return l.Take(true) }

// NewShared returns a request to fill in and Submit, for anyone.
func (l *Loop) NewShared() *Request { return l.requests.takeShared(l) }

// Free gives back a request that has ended and that nobody waits for.
func (l *Loop) Free(r *Request) { l.requests.free(r) }

// Request finds the request of an index, which the caller knows to be in
// flight.
func (l *Loop) Request(id uint32) *Request { return l.requests.at(id) }

// Named finds the sink's request that a peer named, or nil if there is none: a
// peer's word may name anything.
func (l *Loop) Named(s Sink, op uint64) *Request {
	if r := l.requests.lookup(op); r != nil && r.Of(s) {
		return r
	}
	return nil
}

// Each visits the requests of a sink that are in flight.
func (l *Loop) Each(s Sink, f func(*Request)) {
	l.requests.each(func(r *Request) {
		if r.Of(s) {
			f(r)
		}
	})
}

// EachOfAll visits the requests in flight of all sinks, for what all have: Peer,
// Buf, Began, Place and who waits.
func (l *Loop) EachOfAll(f func(*Request)) { l.requests.each(f) }

// Finish ends a request.
func (l *Loop) Finish(r *Request, err error) {
	r.done, r.err = true, err
	if w := r.waiter; w != nil {
		l.satisfy(w, r)
	}
}

// Close stops the progress thread, closes the domains, and then ends every
// request, present or to come, with ErrClosed: when a request ends, or its
// callback is called, no peer and no device touches its buffer any more. Whoever
// is to be told has been when it returns. It blocks while a domain waits for
// peers that are in the middle of a copy. Later calls return nil.
func (l *Loop) Close() (err error) {
	if l.closed.Swap(true) {
		return nil
	}
	if !l.running.Swap(true) {
		close(l.stopped)
	}
	for {
		l.first.Wake()
		select {
		case <-l.stopped:
		case <-time.After(10 * time.Millisecond):
			continue
		}
		break
	}
	l.stopBells()
	var doms []fabric.Domain
	l.Exclusive(func() { doms = l.seal() })
	for _, d := range doms {
		err = errors.Join(err, d.Close())
	}
	l.Exclusive(func() {
		l.calling = true
		l.watching.first, l.watching.last = nil, nil
		l.requests.each(l.Refuse)
	})
	l.callAll()
	clock.drop()
	return err
}
