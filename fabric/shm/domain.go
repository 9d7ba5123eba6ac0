package shm

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Domain is one rank's shared memory. fabric.Domain says which calls are the
// owner's.
type Domain struct {
	cfg        fabric.Config
	caps       fabric.Caps
	getMinSaid bool // by the environment
	addr       string
	greeter    *greeter
	wg         sync.WaitGroup // the greeter's goroutine
	membarrier bool
	arena      *Arena
	probe      []uint64      // peers read probe[0] to see whether CMA works
	parked     int           // the thread that peers name to CMA
	slow       time.Duration // handshakeTime
	full       bool          // rings are full from the beginning, see grow.go

	// The doorbell: the control segment holds the wake word that peers read,
	// the eventfd is what they ring.
	control   []byte
	controlFD int
	shared    int // bytes of control in use, of the domain's own words and Share; the owner's
	bellFD    int
	bell      *os.File
	bellConn  syscall.RawConn
	armed     uint64 // the wake word of the last Arm, 0 after Disarm; the owner's
	armings   uint64 // how many there were; the owner's
	// rung is set if a ring was consumed since the last Arm. Its store in Wait
	// and Sleep pairs with the load in Arm.
	rung     atomic.Bool
	deadline bool // the bell has a read deadline

	// The greeter's events for the owner: events is guarded by mu; pending says
	// without a lock that there are some. ended, also guarded, are the peers
	// that were ended: their rings are rejected before they may write there.
	mu      sync.Mutex
	events  []event
	ended   map[fabric.Peer]bool
	pending atomic.Bool
	closed  atomic.Bool

	// The owner's.
	peers      []*endpoint // by rank; nil before first use
	rx         []*inbound  // rings to poll
	turn       int         // where in rx the next Poll starts
	row        int         // messages taken there in a row
	delivering bool        // messages are being handed over: short Gets are done after each
	left       *uint32     // how many peers have left: they count
	leftSeen   uint32
	dying      int         // peers that have died and whose rings may hold messages
	parting    []*endpoint // peers that were ended and may still write here
	done       []completion
	reads      []briefRead            // of the handler that runs
	jobs       []*getJob              // large Gets in progress
	helps      []*helpJob             // large Gets of peers that we help with
	hdr        [fabric.MaxHeader]byte // of the message being delivered
	out        [fabric.MaxHeader]byte // of the transport's own message being sent
	haste      int                    // bytes for rings to grow before they must, see grow.go
	cmaOnce    sync.Once
	growOnce   sync.Once
}

// inbound is the ring of a peer that this rank polls.
type inbound struct {
	consumer
	peer *endpoint
}

// completion is a call of Handler.Complete or PeerDown that Poll must make.
type completion struct {
	op   fabric.Op
	err  error
	peer fabric.Peer
	down bool
}

// event is a report of the greeter.
type event struct {
	peer   fabric.Peer
	known  *peerInfo // the peer's identity, if a greeting carried it
	seg    []byte    // with known: the mapping
	tx, rx []byte    // the rings in it, to the peer and from it
	fenced bool      // publish with a full fence
	early  bool      // the peer has not settled yet, see handshake.go
	stands bool      // it has
	undone bool      // it never will
	err    error     // the peer is down
	died   bool      // its process has ended
}

func open(cfg fabric.Config) (_ *Domain, err error) {
	if cfg.Size < 1 || int(cfg.Rank) >= cfg.Size {
		return nil, fmt.Errorf("rank %d in a job of %d ranks", cfg.Rank, cfg.Size)
	}
	getMin, err := Provider{}.GetMin(cfg.Options)
	if err != nil {
		return nil, err
	}
	d := &Domain{cfg: cfg, controlFD: -1, bellFD: -1, peers: make([]*endpoint, cfg.Size), slow: handshakeTime}
	d.haste, d.full = hasteFor(cfg.Size)
	if err = tryPidfd(); err != nil {
		return nil, err
	}
	if d.getMinSaid = getMin > 0; !d.getMinSaid {
		getMin = DefaultGetMin
	}
	defer func() {
		if err != nil {
			d.release()
		}
	}()
	var id [16]byte
	rand.Read(id[:])
	d.addr = fmt.Sprintf("weft-%s-%d", hex.EncodeToString(id[:]), cfg.Rank)
	d.probe = []uint64{probeSeed(id)}
	d.parked = park()
	if d.arena = processArena(); d.arena.why != nil {
		return nil, d.arena.why
	}
	if d.controlFD, d.control, err = newSegment("weft-control", controlShape); err != nil {
		return nil, err
	}
	d.left, d.shared = word(d.control, offLeft), offShare
	if d.bellFD, err = newEventFD(); err != nil {
		return nil, err
	}
	d.bell = os.NewFile(uintptr(d.bellFD), "doorbell")
	if d.bellConn, err = d.bell.SyscallConn(); err != nil {
		return nil, err
	}
	// Else the first message would find that out.
	var files unix.Rlimit
	if rings := uint64(d.ringPair().size); unix.Getrlimit(unix.RLIMIT_FSIZE, &files) == nil && files.Cur < rings {
		return nil, &fabric.Error{Op: fmt.Sprintf("reserve %d bytes of shared memory", rings), Err: unix.EFBIG}
	}
	reserveDescriptors(d.bellFD, cfg.Size)
	d.membarrier = registerMembarrier()
	if d.greeter, err = newGreeter(d); err != nil {
		return nil, err
	}
	d.caps = fabric.Caps{
		MaxEager: maxEager, Chunk: pieceSize,
		RndvMin: getMin, RndvMinMapped: 4 << 10,
		Get: true, Put: true, Atomics: true, Reach: true, LocalUnregistered: true, Pack: true, Write: true,
	}
	d.wg.Go(d.greeter.run)
	return d, nil
}

// Caps returns what shared memory offers. Get and Put towards a peer whose
// memory can't be reached fail with ErrUnsupported, as do Atomic and Reach
// outside the arena and shared memory.
func (d *Domain) Caps() fabric.Caps { return d.caps }

// Linger has no switch: a Poll that finds nothing is a few loads.
func (d *Domain) Linger() *bool { return nil }

// Addr is the name of the rank's rendezvous socket and of its network namespace.
func (d *Domain) Addr() []byte { return []byte(d.addr + " " + netNamespace()) }

// post hands an event to the owner and wakes it. It returns false if it rejects
// a connection.
func (d *Domain) post(ev event) bool {
	d.mu.Lock()
	why := uint32(0)
	switch {
	case d.closed.Load():
		why = leftClosed
	case ev.known != nil && d.ended[ev.peer]:
		why = leftEnded
	}
	if why != 0 {
		d.mu.Unlock()
		ev.refuse(why)
		return false
	}
	d.events = append(d.events, ev)
	told := d.pending.Swap(true) // the owner was told before, and woken, and has not come yet
	d.mu.Unlock()
	if !told {
		d.Wake()
	}
	return true
}

// refuse releases a connection that the domain does not accept: it is closing,
// or has ended the peer.
func (ev *event) refuse(why uint32) {
	if ev.known != nil {
		leave(ev.known, ev.tx, ev.rx, why)
	}
	ev.release()
}

func (ev *event) release() {
	if ev.known != nil {
		ev.known.close()
	}
	if ev.seg != nil {
		unix.Munmap(ev.seg)
	}
}

// Connect returns the endpoint towards p and starts its connection at first
// use.
func (d *Domain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	if d.closed.Load() {
		return nil, fabric.ErrClosed
	}
	if int(p) >= len(d.peers) {
		return nil, fmt.Errorf("rank %d in a job of %d ranks", p, len(d.peers))
	}
	e := d.endpoint(p)
	if !e.dialed {
		e.dialed = true
		d.greeter.dial(p, string(addr))
	}
	return e, nil
}

func (d *Domain) endpoint(p fabric.Peer) *endpoint {
	if d.peers[p] == nil {
		d.peers[p] = &endpoint{d: d, peer: p}
	}
	return d.peers[p]
}

// Register names b to peers. Memory of the arena is reached by plain loads and
// stores, other memory through CMA; neither needs preparation.
func (d *Domain) Register(b []byte, _ fabric.Access) (fabric.Region, error) {
	if d.closed.Load() {
		return fabric.Region{}, fabric.ErrClosed
	}
	if off, ok := d.arena.offset(b); ok {
		return fabric.Region{Remote: fabric.Remote{Addr: off, Len: uint64(len(b)), Key: keyArena}}, nil
	}
	return fabric.Region{Remote: fabric.Remote{Addr: addressOf(b), Len: uint64(len(b)), Key: keyVirtual}}, nil
}

// Deregister has nothing to undo.
func (d *Domain) Deregister(fabric.Region) error { return nil }

// Mapped reports whether b lies in the arena.
func (d *Domain) Mapped(b []byte) bool {
	_, ok := d.arena.offset(b)
	return ok
}

// The kinds of address in a Remote: its Key.
const (
	keyVirtual = 0 // an address in the peer's address space
	keyArena   = 1 // an offset in the peer's arena
	keyShare   = 2 // an offset in the peer's control segment
)
