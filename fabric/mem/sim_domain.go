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
	unsaid  []error   // first failure of a NoOp that no Flush has told of
	regions map[uint64]simRegion
	lastKey uint64
	next    uint64 // address
	dead    bool
	closed  chan struct{}
}

type simRegion struct {
	base   uint64
	bytes  []byte
	access fabric.Access
}

type simOp struct {
	op     fabric.Op
	peer   int
	local  []byte
	region uint64 // of local
	remote fabric.Remote
	put    bool
	note   uint32
	fails  error
	flush  bool
}

func newSimDomain(s *Sim, rank int) *simDomain {
	return &simDomain{sim: s, rank: rank, eps: make([]*simEndpoint, s.Size), told: make([]bool, s.Size), down: make([]error, s.Size),
		ended: make([]bool, s.Size), unsaid: make([]error, s.Size),
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
	d.lastKey++
	d.regions[d.lastKey] = simRegion{d.next, b, a}
	reg := fabric.Region{Remote: fabric.Remote{Addr: d.next, Len: uint64(len(b)), Key: d.lastKey}, Handle: d.lastKey}
	d.next += uint64(len(b)) + addrGap
	return reg, nil
}

func (d *simDomain) Share(int) (fabric.Segment, error) {
	return fabric.Segment{}, fabric.ErrUnsupported
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
	if !ok || r.access&a != a || off > size || m.Len > size-off || uint64(n) > m.Len {
		return nil, badRemote("reach memory", fabric.Peer(d.rank), m, n)
	}
	return r.bytes[off : off+uint64(n)], nil
}

func (d *simDomain) Poll(h fabric.Handler, max int) int {
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
	case callNotify:
		h.Notify(p, i.note)
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

func (d *simDomain) Arm(fabric.Wake) error { return nil }
func (d *simDomain) Disarm()               {}
func (d *simDomain) Wake()                 {}

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

// Close ends the rank as a death does.
func (d *simDomain) Close() error {
	select {
	case <-d.closed:
		return fabric.ErrClosed
	default:
	}
	d.sim.Kill(d.rank)
	close(d.closed)
	return nil
}

// end forgets what the rank had.
func (d *simDomain) end() {
	d.dead = true
	d.inbox, d.ops = nil, nil
	clear(d.regions)
}

// simEndpoint is the way from one rank to another, or to itself.
type simEndpoint struct {
	d    *simDomain
	to   int
	link *simLink
}

// admit says whether an operation may begin.
func (e *simEndpoint) admit() error {
	switch s := e.d.sim; {
	case e.d.dead:
		return fabric.ErrClosed
	case e.d.down[e.to] != nil:
		return &fabric.Error{Op: "send", Peer: fabric.Peer(e.to), HasPeer: true, Err: e.d.down[e.to]}
	case e.d.told[e.to], s.chance(s.Again): // the next Poll will say so
		return fabric.ErrAgain
	}
	return nil
}

func (e *simEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	s := e.d.sim
	if len(hdr) > fabric.MaxHeader || len(body) > s.Caps.MaxEager {
		return fabric.ErrTooLong
	}
	err := e.admit()
	lost := s.domains[e.to].goneTo(e.d.rank)
	if err == nil && (e.link.count >= s.Depth || lost && s.rng.IntN(2) == 0) {
		err = fabric.ErrAgain
	}
	ev := SimEvent{What: SimSent, Rank: e.d.rank, Peer: e.to, Kind: kind, Imm: imm, Hdr: hdr, Body: body, Err: err}
	if err != nil {
		ev.What = SimAgain
	}
	s.tell(ev)
	if err != nil || lost { // what goes to the dead goes nowhere
		return err
	}
	e.link.count++
	e.link.flight = append(e.link.flight, simItem{what: callDeliver, peer: e.d.rank, kind: kind, imm: imm,
		hdr: append([]byte(nil), hdr...), body: append([]byte(nil), body...)})
	return nil
}

func (e *simEndpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	s := e.d.sim
	o := simOp{op: op, peer: e.to, local: dst.Bytes, region: dst.Region.Handle, remote: src}
	err := e.admit()
	switch {
	case err != nil:
	case !s.Caps.Get || src.Key == 0 || s.chance(s.NoGet):
		err = fabric.ErrUnsupported // memory without a key could not be registered
	case s.domains[e.to].goneTo(e.d.rank): // it will fail
	default:
		_, err = s.domains[e.to].reach(src, len(dst.Bytes), fabric.RemoteRead)
		if err == nil && s.chance(s.BadGet) {
			o.fails = ErrSim
		}
	}
	return e.begin(o, err)
}

func (e *simEndpoint) Put(src fabric.Segment, dst fabric.Remote, note uint32, op fabric.Op) error {
	s := e.d.sim
	o := simOp{op: op, peer: e.to, local: src.Bytes, region: src.Region.Handle, remote: dst, put: true, note: note}
	err := e.admit()
	switch {
	case err != nil:
	case !s.Caps.Put || dst.Key == 0 || s.chance(s.NoGet):
		err = fabric.ErrUnsupported
	case s.domains[e.to].goneTo(e.d.rank): // it will fail
	default:
		_, err = s.domains[e.to].reach(dst, len(src.Bytes), fabric.RemoteWrite)
		if err == nil && s.chance(s.BadGet) {
			o.fails = ErrSim
		}
	}
	return e.begin(o, err)
}

func (e *simEndpoint) begin(o simOp, err error) error {
	ev := SimEvent{What: SimGet, Rank: e.d.rank, Peer: e.to, Op: o.op, Put: o.put, Err: err}
	switch err {
	case nil:
		e.d.ops = append(e.d.ops, o)
	case fabric.ErrAgain:
		ev.What = SimAgain
	default:
		ev.What = SimNoGet
	}
	e.d.sim.tell(ev)
	return err
}

// Flush is carried out by a move, behind the operations before it.
func (e *simEndpoint) Flush(op fabric.Op) error {
	return e.begin(simOp{op: op, peer: e.to, flush: true}, e.admit())
}

func (e *simEndpoint) Atomic(fabric.Atomic, fabric.Remote, fabric.Op) error {
	return fabric.ErrUnsupported
}

func (e *simEndpoint) Reach(fabric.Remote) ([]byte, error) { return nil, fabric.ErrUnsupported }
func (e *simEndpoint) Knock(bool)                          {}
