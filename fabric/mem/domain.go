package mem

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

const (
	maxEager = 8192

	// maxDone is how many one-sided operations a domain carries out between two
	// Polls before it returns ErrAgain.
	maxDone = 1024
)

var caps = fabric.Caps{
	MaxEager:      maxEager,
	Chunk:         2048,
	RndvMin:       16384,
	RndvMinMapped: 4096,
	Get:           true,
	Put:           true,
	Atomics:       true,
	Reach:         true,
	Write:         true,
}

// maxShare is the shared memory of a domain in all, in bytes.
const maxShare = 256 << 10

// domain is one rank's side of a Network. It exists from NewNetwork on, so
// that peers can send to a rank that has not opened yet.
type domain struct {
	net  *Network
	rank fabric.Peer

	// Shared with other ranks.
	bell    bell
	ready   ready // all but shared is the owner's
	regions regions
	// guard is shut when the rank leaves. Inside are this rank's copies to and
	// from peers' memory.
	guard guard
	// doors has a guard for each peer, which is shut when this rank ends the
	// peer. Inside are the peer's copies to and from memory here.
	doors []guard
	// gone is why the rank left, nil while it has not. Its store in leave
	// pairs with the loads in noticeDeaths and endpoint.admit.
	gone atomic.Pointer[fabric.Error]
	// ended lists the peers that this rank has ended; to them it is gone. Its
	// store in End pairs with the loads in leftWhy.
	ended  []atomic.Bool
	opened atomic.Bool // the first CompareAndSwap in Open wins against later ones
	left   atomic.Bool // the first CompareAndSwap in leave wins against later ones

	// The owner's.
	in    []*queue // from each peer, nil until seen
	eps   []*endpoint
	peers []peerState
	done  doneQueue
	share int // bytes that Share has handed out
	next  int // peer that the next Poll begins with; size for the first
	chaos *chaos

	deathsSeen uint32
	dying      []fabric.Peer // gone, but PeerDown is not yet due
}

// peerState is what a domain knows of one peer.
type peerState struct {
	inflight int // operations accepted and not completed
	vain     int // empty checks of it since it last had something
	dying    bool
	down     error // why it is: PeerDown has been called, or End
}

func newDomain(w *Network, rank fabric.Peer) *domain {
	size := len(w.domains)
	d := &domain{
		net:   w,
		rank:  rank,
		bell:  newBell(),
		ready: newReady(size),
		in:    make([]*queue, size),
		eps:   make([]*endpoint, size),
		peers: make([]peerState, size),
		doors: make([]guard, size),
		ended: make([]atomic.Bool, size),
		dying: make([]fabric.Peer, 0, size),
		done:  doneQueue{slots: make([]finished, maxDone)},
	}
	if w.seeded {
		d.chaos = newChaos(w.seed, uint64(rank), size)
	}
	d.guard.open(0)
	for p := range d.doors {
		d.doors[p].open(0)
	}
	return d
}

func (d *domain) Caps() fabric.Caps { return caps }

func (d *domain) Addr() []byte { return addr(d.rank) }

func addr(p fabric.Peer) []byte { return fmt.Appendf(nil, "mem:%d", p) }

func (d *domain) Connect(p fabric.Peer, a []byte) (fabric.Endpoint, error) {
	if !d.guard.live(0) {
		return nil, fabric.ErrClosed
	}
	if int64(p) >= int64(len(d.eps)) || string(a) != string(addr(p)) {
		return nil, &fabric.Error{Op: "connect", Peer: p, HasPeer: true,
			Err: fmt.Errorf("%q is not the address of that rank in this network", a)}
	}
	if d.eps[p] == nil {
		d.eps[p] = &endpoint{
			d:    d,
			to:   p,
			peer: d.net.domains[p],
			q:    d.net.queue(d.rank, p),
		}
	}
	return d.eps[p], nil
}

func (d *domain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	return d.regions.register(b, a)
}

// Share returns memory of the process, which all ranks reach.
func (d *domain) Share(n int) (fabric.Segment, error) {
	size := max((n+63)&^63, 64)
	if n < 0 || size > maxShare-d.share {
		return fabric.Segment{}, &fabric.Error{Op: "share memory", Err: fmt.Errorf("%d of %d bytes are in use", d.share, maxShare)}
	}
	all := make([]byte, size+64)
	b := all[(64-address(all)%64)%64:][:n:n]
	r, err := d.regions.register(b, fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
	if err != nil {
		return fabric.Segment{}, err
	}
	d.share += size
	return fabric.Segment{Bytes: b, Region: r}, nil
}

// Mapped is false: peers are in the same process, and reach all of it alike.
func (d *domain) Mapped([]byte) bool { return false }

func (d *domain) Deregister(r fabric.Region) error { return d.regions.deregister(r.Handle) }

func (d *domain) Arm(w fabric.Wake) error {
	if !d.guard.live(0) {
		return fabric.ErrClosed
	}
	if d.bell.level.Load() != uint32(w) { // its own last store
		d.bell.level.Store(uint32(w))
	}
	return nil
}

func (d *domain) Disarm() {
	if d.bell.level.Load() != 0 { // its own last store
		d.bell.level.Store(0)
	}
}

func (d *domain) Wait(timeout time.Duration) error { return d.bell.wait(timeout) }

// Sleep is not offered: ranks of one process wake each other without the kernel.
func (d *domain) Sleep(time.Duration) error { return fabric.ErrUnsupported }

func (d *domain) Wake() { d.bell.ring() }

// Linger returns nil: a Poll is a few loads.
func (d *domain) Linger() *bool { return nil }

// End waits for the peer's copies under way, and no PeerDown follows.
func (d *domain) End(p fabric.Peer, err error) bool {
	if !d.guard.live(0) || int64(p) >= int64(len(d.peers)) || d.peers[p].down != nil {
		return false
	}
	d.peers[p].down = err
	// The door is shut first: bytes that the peer has read before it learns of
	// this were valid.
	d.doors[p].shut(0)
	d.ended[p].Store(true)
	d.net.deaths.Add(1)
	d.net.domains[p].bell.ring()
	return false
}

// errEnded is why a living rank is down.
var errEnded = fmt.Errorf("%w: it has given this rank up", fabric.ErrPeerDown)

// leftWhy returns why the rank is gone to peer p, or nil.
func (d *domain) leftWhy(p fabric.Peer) error {
	if gone := d.gone.Load(); gone != nil {
		return gone
	}
	if d.ended[p].Load() {
		return &fabric.Error{Op: "talk between goroutines", Peer: d.rank, HasPeer: true, Err: errEnded}
	}
	return nil
}

func (d *domain) Close() error {
	if !d.leave("talk between goroutines", fabric.ErrPeerLeft) {
		return fabric.ErrClosed
	}
	return nil
}

// leave ends the rank's part in the network, once. When it returns, no peer
// touches memory that the rank has registered.
func (d *domain) leave(op string, why error) bool {
	if !d.left.CompareAndSwap(false, true) {
		return false
	}
	// The guard is shut first: a peer that sees gone writes no more. The regions
	// go last: a peer that finds one missing sees gone.
	d.guard.shut(0)
	d.gone.Store(&fabric.Error{Op: op, Peer: d.rank, HasPeer: true, Err: why})
	d.net.deaths.Add(1)
	d.regions.close()
	d.bell.close()
	for _, o := range d.net.domains {
		if o != d {
			o.bell.ring()
		}
	}
	return true
}

func badRemote(op string, p fabric.Peer, m fabric.Remote, n int) error {
	return &fabric.Error{Op: op, Peer: p, HasPeer: true,
		Err: fmt.Errorf("%d bytes at %#x, length %d, key %#x: %w", n, m.Addr, m.Len, m.Key, fabric.ErrBadRemote)}
}
