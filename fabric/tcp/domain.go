package tcp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// Domain is one rank's side of the transport.
type Domain struct {
	cfg   fabric.Config
	set   settings
	token greet.Token
	addr  []byte

	self  *greet.Self
	tag   greet.Tag // of the job
	gate  *greet.Gate
	guard *greet.Doors
	doors []door      // where the rank listens
	tls   *tls.Config // nil without encryption

	listeners []net.Listener
	ctx       context.Context // done when the domain closes
	cancel    context.CancelFunc
	wg        sync.WaitGroup // greetings
	closed    atomic.Bool    // its store in Close pairs with the loads of all calls

	bell doorbell

	mu      sync.Mutex // guards links and events
	links   []link
	events  []event
	pending atomic.Bool   // there are events: stored under mu, loaded by Poll
	beaten  atomic.Uint32 // a beat has passed: stored by beat, taken by Poll

	// The owner's.
	eps     []*endpoint
	conns   []*conn // by their place in the epoll
	places  []int32 // of conns, free
	regions regions
	ops     operations
	buffers buffers
	done    []completion
	sending []*conn // have something to write
	hot     []*conn // are read by each Poll
	dying   []*endpoint
	turn    int // of hot: the last one read
	sends   int // Sends since the last Poll
	polls   uint
	lately  int  // counts down from the last message
	sweep   bool // the next Poll asks for all connections
	roused  bool // the doorbell was rung for what is staged
	ready   [64]unix.EpollEvent
	scratch [2 << 10]byte
	info    unix.TCPInfo // of the connection that is looked at
	counts  counts
	redials atomic.Uint64 // added to by dials, loaded by Stats
}

var caps = fabric.Caps{
	MaxEager: maxEager, Chunk: chunkSize,
	RndvMin: rndvMin, RndvMinMapped: rndvMin,
	Get: true, Put: true, Atomics: true, LocalUnregistered: true,
}

func open(cfg fabric.Config) (_ *Domain, err error) {
	d := &Domain{cfg: cfg, token: greet.NewToken(),
		links: make([]link, cfg.Size), eps: make([]*endpoint, cfg.Size)}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	if d.set, err = readSettings(cfg.Options); err != nil {
		return nil, err
	}
	if err = permitted(); err != nil {
		return nil, err
	}
	d.regions.init()
	defer func(made *Domain) {
		if err != nil {
			made.release0()
		}
	}(d)
	if err = d.bell.open(); err != nil {
		return nil, err
	}
	if d.set.tls {
		if d.tls, err = newTLS(); err != nil {
			return nil, err
		}
	}
	if err = d.listen(); err != nil {
		return nil, err
	}
	if d.set.deadline > 0 {
		d.wg.Go(d.beat)
	}
	return d, nil
}

// release0 gives back what Open has made.
func (d *Domain) release0() {
	d.cancel()
	for _, l := range d.listeners {
		l.Close()
	}
	d.wg.Wait()
	d.bell.close()
}

// Caps returns what the transport offers, alike for all peers.
func (d *Domain) Caps() fabric.Caps { return caps }

// Addr is where the rank listens, and its token.
func (d *Domain) Addr() []byte { return d.addr }

// Connect returns the endpoint of a peer and begins to connect.
func (d *Domain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	if d.closed.Load() {
		return nil, fabric.ErrClosed
	}
	if int64(p) >= int64(len(d.eps)) || p == d.cfg.Rank {
		return nil, &fabric.Error{Op: "connect over TCP", Peer: p, HasPeer: true, Err: errors.New("it is no other rank of the job")}
	}
	a, err := decodeCard(addr)
	if err == nil && fabric.Peer(a.Rank) != p {
		err = fmt.Errorf("it is the address of rank %d", a.Rank)
	}
	if err != nil {
		return nil, &fabric.Error{Op: "connect over TCP", Peer: p, HasPeer: true, Err: err}
	}
	e := d.endpoint(p)
	if e.down == nil {
		d.want(p, a) // keeps the card even if the peer has connected
	}
	return e, nil
}

// endpoint returns the endpoint of a peer.
func (d *Domain) endpoint(p fabric.Peer) *endpoint {
	if d.eps[p] == nil {
		d.eps[p] = &endpoint{d: d, peer: p}
	}
	return d.eps[p]
}

func (d *Domain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	if d.closed.Load() {
		return fabric.Region{}, fabric.ErrClosed
	}
	return d.regions.register(b, a), nil
}

// Deregister returns when no peer reads or writes the memory any more.
func (d *Domain) Deregister(r fabric.Region) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if g := d.regions.of(r.Handle); g != nil && g.busy > 0 {
		for _, c := range d.conns {
			if c != nil {
				c.forsake(r.Handle)
			}
		}
	}
	return d.regions.deregister(r.Handle)
}

// release ends a transfer with a region's memory; key is 0 for none.
func (d *Domain) release(key uint64) {
	if key == 0 {
		return
	}
	if g := d.regions.of(key); g != nil && g.busy > 0 {
		g.busy--
	}
}

// Share is not offered: no memory is shared with another host.
func (d *Domain) Share(int) (fabric.Segment, error) { return fabric.Segment{}, fabric.ErrUnsupported }

// Mapped is false for all memory.
func (d *Domain) Mapped([]byte) bool { return false }

// Linger returns nil: a Poll reads the sockets once.
func (d *Domain) Linger() *bool { return nil }
