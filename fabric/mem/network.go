package mem

import (
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// Network joins the ranks of one process. It is safe for concurrent use.
type Network struct {
	depth   int
	seed    uint64
	seeded  bool
	domains []*domain

	// queues holds the queue of each ordered pair at from*size+to, nil until
	// the sender's first Connect. That store pairs with the load in
	// domain.inbound.
	queues []atomic.Pointer[queue]

	// deaths counts the ranks that have left. The Add in domain.leave follows
	// the store of domain.gone and pairs with the load in noticeDeaths, which
	// then loads every gone.
	deaths atomic.Uint32
}

// Option changes what NewNetwork makes.
type Option func(*Network)

// WithDepth sets how many messages an ordered pair of ranks holds before Send
// returns ErrAgain. The default is 256, the least is 1.
func WithDepth(n int) Option {
	return func(w *Network) { w.depth = max(n, 1) }
}

// WithSeed makes the network do, now and then, what the contract permits and an
// ideal network does not: ErrAgain without need, a Poll that delivers fewer
// events than it could (never none), another order among different senders. Each
// domain draws from its own generator and only in its owner's calls, so the same
// seed and the same sequence of calls give the same events.
func WithSeed(seed uint64) Option {
	return func(w *Network) { w.seed, w.seeded = seed, true }
}

// NewNetwork makes a network of size ranks, none of them open.
func NewNetwork(size int, opts ...Option) *Network {
	w := &Network{depth: 256}
	for _, o := range opts {
		o(w)
	}
	w.queues = make([]atomic.Pointer[queue], size*size)
	w.domains = make([]*domain, size)
	for r := range w.domains {
		w.domains[r] = newDomain(w, fabric.Peer(r))
	}
	return w
}

// Provider is the network as the transport "mem". All ranks open their domains
// from it, each once.
func (w *Network) Provider() fabric.Provider { return provider{w} }

// Kill ends a rank as a crash would. Its own calls return ErrClosed. Every other
// rank's Poll calls PeerDown once, after it has completed the operations with
// the rank, which were carried out when they were accepted. For a rank that has
// ended already or does not exist Kill does nothing.
func (w *Network) Kill(rank fabric.Peer) {
	if int(rank) < len(w.domains) {
		w.domains[rank].leave("rank was killed", fabric.ErrPeerDown)
	}
}

// queue returns the queue of an ordered pair and makes it if need be. Only the
// sender's owner calls it.
func (w *Network) queue(from, to fabric.Peer) *queue {
	p := &w.queues[int(from)*len(w.domains)+int(to)]
	q := p.Load()
	if q == nil {
		q = newQueue(w.depth)
		p.Store(q)
	}
	return q
}

type provider struct{ net *Network }

func (p provider) Name() string      { return "mem" }
func (p provider) Options() []string { return nil }
func (p provider) Available() error  { return nil }

// Open yields the domain of c.Rank.
func (p provider) Open(c fabric.Config) (fabric.Domain, error) {
	fail := func(err error) (fabric.Domain, error) {
		return nil, &fabric.Error{Op: "open mem domain", Peer: c.Rank, HasPeer: true, Err: err}
	}
	size := len(p.net.domains)
	if int64(c.Rank) >= int64(size) {
		return fail(fmt.Errorf("rank is not in a network of %d ranks", size))
	}
	if c.Size != size {
		return fail(fmt.Errorf("job has %d ranks, network has %d", c.Size, size))
	}
	d := p.net.domains[c.Rank]
	if !d.opened.CompareAndSwap(false, true) {
		return fail(fmt.Errorf("rank is open already"))
	}
	if !d.guard.live(0) {
		return fail(fabric.ErrClosed)
	}
	return d, nil
}
