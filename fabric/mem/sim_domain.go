package mem

import (
	"fmt"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// simDomain is one rank's side of a Sim. All but Wait, Wake and Close belongs
// to the driving goroutine.
type simDomain struct {
	sim     *Sim
	rank    int
	eps     []*simEndpoint
	inbox   []simItem // what the next Polls hand over
	ops     []simOp   // accepted, not carried out
	told    []bool    // whose death is in the inbox, or was
	down    []error   // why whose endpoint is down: its death was reported, or End
	ended   []bool    // whom this rank has ended
	unsaid  []simFailure
	regions map[uint64]simRegion
	lastKey uint64
	next    uint64 // address
	shared  int    // bytes that Share has handed out
	dead    bool
	left    bool // by Close
	simBell
	simBuffer
	closed chan struct{}
}

type simRegion struct {
	base   uint64
	bytes  []byte
	access fabric.Access
	share  *simShare // whose memory bytes is, nil unless made by Share
}

// simOp is a Get, or what put, atomic or flush say.
type simOp struct {
	id     uint64 // in order of acceptance
	op     fabric.Op
	peer   int
	local  []byte
	region uint64 // of local
	remote fabric.Remote
	put    bool
	atomic fabric.Atomic // its Kind is 0 for the others
	fails  error
	flush  bool
}

// simFailure is that of a NoOp, of which no Flush has told.
type simFailure struct {
	peer int
	id   uint64 // of the NoOp
	err  error
}

func newSimDomain(s *Sim, rank int) *simDomain {
	return &simDomain{sim: s, rank: rank, eps: make([]*simEndpoint, s.Size), told: make([]bool, s.Size), down: make([]error, s.Size),
		ended:   make([]bool, s.Size),
		regions: map[uint64]simRegion{}, next: firstAddr, closed: make(chan struct{})}
}

func (d *simDomain) Caps() fabric.Caps { return d.sim.Caps }
func (d *simDomain) Addr() []byte      { return addr(fabric.Peer(d.rank)) }

func (d *simDomain) Connect(p fabric.Peer, a []byte) (fabric.Endpoint, error) {
	if d.dead {
		return nil, fabric.ErrClosed
	}
	if int(p) >= d.sim.Size || string(a) != string(addr(p)) {
		return nil, &fabric.Error{Op: "connect", Peer: p, HasPeer: true, Err: fmt.Errorf("%q is not the address of that rank", a)}
	}
	if d.eps[p] == nil {
		d.eps[p] = &simEndpoint{d: d, to: int(p), link: d.sim.link(d.rank, int(p))}
	}
	return d.eps[p], nil
}

func (d *simDomain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	if d.dead {
		return fabric.Region{}, fabric.ErrClosed
	}
	if d.sim.chance(d.sim.NoReg) {
		return fabric.Region{}, &fabric.Error{Op: "register memory", Err: ErrSim}
	}
	return d.register(simRegion{bytes: b, access: a}), nil
}

// register gives a region its address. Where words are acted on it is as aligned
// as the memory.
func (d *simDomain) register(r simRegion) fabric.Region {
	if r.access&fabric.RemoteAtomic != 0 {
		d.next = (d.next+addrAlign-1)&^(addrAlign-1) + misalignment(r.bytes)
	}
	r.base = d.next
	d.next += uint64(len(r.bytes)) + addrGap
	d.lastKey++
	d.regions[d.lastKey] = r
	return fabric.Region{Remote: fabric.Remote{Addr: r.base, Len: uint64(len(r.bytes)), Key: d.lastKey}, Handle: d.lastKey}
}

func (d *simDomain) Mapped([]byte) bool { return d.sim.chance(d.sim.Mapped) }

func (d *simDomain) Deregister(r fabric.Region) error {
	if d.dead {
		return fabric.ErrClosed
	}
	if _, ok := d.regions[r.Handle]; !ok {
		err := &fabric.Error{Op: "deregister memory", Err: errNotRegistered}
		d.sim.tell(SimEvent{What: SimMisuse, Rank: d.rank, Peer: d.rank, Err: err})
		return err
	}
	delete(d.regions, r.Handle)
	return nil
}

// reach finds registered memory that a peer names.
func (d *simDomain) reach(m fabric.Remote, n int, a fabric.Access) ([]byte, error) {
	r, ok := d.regions[m.Key]
	off, size := m.Addr-r.base, uint64(len(r.bytes))
	if !ok || r.access&a != a || off > size || m.Len > size-off || uint64(n) > m.Len ||
		a == fabric.RemoteAtomic && m.Addr%8 != 0 {
		return nil, badRemote("reach memory", fabric.Peer(d.rank), m, n)
	}
	return r.bytes[off : off+uint64(n)], nil
}

func (d *simDomain) Poll(h fabric.Handler, max int) int {
	d.sim.look()
	n := min(max, len(d.inbox))
	if d.dead || n <= 0 {
		return 0
	}
	if d.sim.chance(d.sim.Split) {
		n = 1 + d.sim.rng.IntN(n)
	}
	handed := 0
	for ; handed < n && len(d.inbox) > 0; handed++ { // a handler may end a peer
		i := d.inbox[0]
		d.inbox = d.inbox[1:]
		d.hand(h, i)
	}
	return handed
}

func (d *simDomain) hand(h fabric.Handler, i simItem) {
	e := SimEvent{Rank: d.rank, Peer: i.peer, Kind: i.kind, Imm: i.imm, Hdr: i.hdr, Body: i.body, Op: i.op, Err: i.err}
	p := fabric.Peer(i.peer)
	switch i.what {
	case callDeliver:
		d.sim.link(i.peer, d.rank).count--
		e.What = SimDeliver
		d.sim.tell(e)
		h.Deliver(p, i.kind, i.imm, i.hdr, i.body)
		clear(i.hdr) // borrowed until return
		clear(i.body)
	case callComplete:
		e.What = SimComplete
		d.sim.tell(e)
		h.Complete(i.op, i.err)
	case callDown:
		d.down[i.peer] = i.err
		e.What = SimDown
		d.sim.tell(e)
		h.PeerDown(p, i.err)
	}
}

func (d *simDomain) Wake() {}

func (d *simDomain) Sleep(time.Duration) error { return fabric.ErrUnsupported }

func (d *simDomain) Wait(time.Duration) error {
	<-d.closed
	return fabric.ErrClosed
}

// Linger has no switch: nothing comes while Poll looks.
func (d *simDomain) Linger() *bool { return nil }

// End takes what is on the way from the peer, which learns of it by a move.
func (d *simDomain) End(p fabric.Peer, err error) bool {
	if d.dead || int(p) >= d.sim.Size || d.down[p] != nil {
		return false
	}
	d.down[p], d.told[p], d.ended[p] = err, true, true
	d.sim.link(int(p), d.rank).cut(0)
	inbox, ops := d.inbox, d.ops
	d.inbox, d.ops = nil, nil
	for _, i := range inbox {
		switch {
		case i.peer != int(p) || i.what == callComplete:
			d.inbox = append(d.inbox, i)
		case i.what == callDeliver:
			d.sim.link(i.peer, d.rank).count--
		}
	}
	for _, o := range ops {
		if o.peer == int(p) {
			d.sim.over(d, o, err)
		} else {
			d.ops = append(d.ops, o)
		}
	}
	return false
}

// goneTo reports whether the rank is down to a peer.
func (d *simDomain) goneTo(p int) bool { return d.dead || d.ended[p] }

// gone is why the rank is down.
func (d *simDomain) gone() error {
	if d.left {
		return fabric.ErrPeerLeft
	}
	return fabric.ErrPeerDown
}

// Close ends the rank as a death does, but for what it has sent: all of it comes. Its
// peers learn that it has left.
func (d *simDomain) Close() error {
	select {
	case <-d.closed:
		return fabric.ErrClosed
	default:
	}
	d.left = !d.dead
	d.sim.end(d.rank, true)
	close(d.closed)
	return nil
}

// end forgets what the rank had.
func (d *simDomain) end() {
	d.dead = true
	d.inbox, d.ops, d.rings = nil, nil, nil
	clear(d.regions)
}
