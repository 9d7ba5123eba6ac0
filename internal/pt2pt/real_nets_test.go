package pt2pt

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// realNets join the ranks of a simWorld by real transports. Their order of
// events is their own, so a seed is a plan and no run; the oracle sees all of
// it nevertheless, since every domain is wrapped. One goroutine drives all
// ranks: progress threads are asleep for good.
type realNets struct {
	size    int
	domains [][]*realDomain // by net and rank
	seen    func(mem.SimEvent)
	lie     func(*realDomain, *realMessage) // what a broken transport does
	onWay   []int                           // messages from*size+to
	refused bool                            // a call since the last busy answered ErrAgain
	since   time.Time
}

// newRealNets opens the domains of a job. Where there are two transports, ranks
// of which both are even, or both odd, meet in the first.
func newRealNets(job string, size int, ps ...fabric.Provider) (*realNets, error) {
	n := &realNets{size: size, onWay: make([]int, size*size)}
	for _, p := range ps {
		var ds []*realDomain
		n.domains = append(n.domains, nil)
		for rank := range size {
			d, err := p.Open(fabric.Config{Rank: fabric.Peer(rank), Size: size, Job: job, Log: slog.New(slog.DiscardHandler), Unattended: true})
			if err != nil {
				n.close()
				return nil, fmt.Errorf("open %s: %w", p.Name(), err)
			}
			ds = append(ds, &realDomain{Domain: d, n: n, rank: rank, caps: d.Caps(), over: make(chan struct{}),
				transfers: map[fabric.Op]transfer{}, told: make([]bool, size)})
			n.domains[len(n.domains)-1] = ds
		}
	}
	return n, nil
}

func (n *realNets) close() {
	for _, ds := range n.domains {
		for _, d := range ds {
			d.Close()
		}
	}
}

func (n *realNets) via(a, b int) int {
	if len(n.domains) == 1 {
		return 0
	}
	return (a ^ b) & 1
}

// limit makes the domains of a net claim less than they can, so that short
// messages take the ways of long ones, and returns what they claim.
func (n *realNets) limit(net int, want fabric.Caps) (c fabric.Caps) {
	for _, d := range n.domains[net] {
		c = d.Domain.Caps()
		c.MaxEager = min(c.MaxEager, want.MaxEager)
		c.Chunk, c.RndvMin, c.RndvMinMapped = min(want.Chunk, c.MaxEager), want.RndvMin, want.RndvMinMapped
		c.Get, c.Put, c.Atomics = c.Get && want.Get, c.Put && want.Put, false
		d.caps = c
	}
	return c
}

func (n *realNets) open(rank int) (ds []fabric.Domain, via []int, addrs [][]byte) {
	for _, net := range n.domains {
		ds = append(ds, net[rank])
	}
	for p := range n.size {
		via = append(via, n.via(rank, p))
		addrs = append(addrs, n.domains[via[p]][p].Addr())
	}
	return ds, via, addrs
}

// meet connects all ranks: one that has never met another is not told of its
// death until it wants something of it.
func (n *realNets) meet() error {
	met := greeter{}
	want := 0
	for net, ds := range n.domains {
		for a, d := range ds {
			for b, o := range ds {
				if a == b || n.via(a, b) != net {
					continue
				}
				want++
				e, err := d.Domain.Connect(fabric.Peer(b), o.Addr())
				if err != nil {
					return err
				}
				for end := time.Now().Add(patience); ; {
					if err = e.Send(1, 0, nil, nil); err != fabric.ErrAgain || time.Now().After(end) {
						break
					}
					met.poll(ds)
				}
				if err != nil {
					return fmt.Errorf("rank %d does not meet %d: %w", a, b, err)
				}
			}
		}
		for end := time.Now().Add(patience); met.n < want; met.poll(ds) {
			if time.Now().After(end) {
				return errors.New("a greeting has not come")
			}
		}
	}
	return nil
}

// greeter counts the messages with which ranks meet.
type greeter struct{ n int }

func (g *greeter) poll(ds []*realDomain) {
	for _, d := range ds {
		d.Domain.Poll(g, 64)
	}
}

func (g *greeter) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { g.n++ }
func (g *greeter) Complete(fabric.Op, error)                          {}
func (g *greeter) PeerDown(fabric.Peer, error)                        {}

func (n *realNets) watch(f func(mem.SimEvent)) {
	if f == nil {
		f = func(mem.SimEvent) {}
	}
	n.seen = f
}

// step lets the devices and the kernel have their turn.
func (n *realNets) step() bool {
	runtime.Gosched()
	return false
}

func (n *realNets) calm() (rouse func()) {
	n.since = time.Now()
	return func() {}
}

// busy reports whether anything is on its way, or was refused for now, which
// its rank tries again.
func (n *realNets) busy() bool {
	refused := n.refused
	n.refused = false
	if refused || !n.quiet() {
		runtime.Gosched()
		return true
	}
	return false
}

func (n *realNets) quiet() bool {
	for net, ds := range n.domains {
		for a, d := range ds {
			if d.dead {
				continue
			}
			if len(d.transfers) > 0 {
				return false
			}
			for b := range n.size {
				switch {
				case a == b || n.via(a, b) != net:
				case ds[b].dead && !d.told[b], !ds[b].dead && n.onWay[a*n.size+b] != 0:
					return false
				}
			}
		}
	}
	return true
}

func (n *realNets) tired(round int) bool { return time.Since(n.since) > patience }

func (n *realNets) regions(rank int) (sum int) {
	for _, ds := range n.domains {
		sum += ds[rank].regions
	}
	return sum
}

// kill closes the rank's domains, of which their peers are told.
func (n *realNets) kill(rank int) {
	for _, ds := range n.domains {
		ds[rank].dead = true
		ds[rank].Close()
	}
}

// realDomain is a rank's domain of a real transport.
type realDomain struct {
	fabric.Domain
	n         *realNets
	rank      int
	caps      fabric.Caps
	over      chan struct{}          // closed when the domain is
	transfers map[fabric.Op]transfer // under way
	told      []bool                 // of whose death
	regions   int
	dead      bool
	h         fabric.Handler
}

// transfer is a Get or a Put.
type transfer struct {
	peer int
	put  bool
}

// realMessage is a message that is handed over.
type realMessage struct {
	from      fabric.Peer
	kind      uint8
	imm       uint64
	hdr, body []byte
	lost      bool
}

func (d *realDomain) Arm(fabric.Wake) error    { return nil }
func (d *realDomain) Disarm()                  {}
func (d *realDomain) Wake()                    {}
func (d *realDomain) Wait(time.Duration) error { <-d.over; return fabric.ErrClosed }

// Caps has no Pack: Send sees all messages.
func (d *realDomain) Caps() fabric.Caps {
	c := d.caps
	c.Pack = false
	return c
}

func (d *realDomain) Close() error {
	select {
	case <-d.over:
		return nil
	default:
	}
	close(d.over)
	return d.Domain.Close()
}

func (d *realDomain) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	r, err := d.Domain.Register(b, a)
	if err == nil && r.Handle != 0 { // others are not given back
		d.regions++
	}
	return r, err
}

func (d *realDomain) Deregister(r fabric.Region) error {
	d.regions--
	return d.Domain.Deregister(r)
}

func (d *realDomain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	e, err := d.Domain.Connect(p, addr)
	if err != nil {
		return nil, err
	}
	return &realEndpoint{e, d, int(p)}, nil
}

// Poll hands over what has come, the oracle's observer first.
func (d *realDomain) Poll(h fabric.Handler, max int) int {
	d.h = h
	return d.Domain.Poll(d, max)
}

func (d *realDomain) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	m := realMessage{from: from, kind: kind, imm: imm, hdr: hdr, body: body}
	d.n.onWay[int(from)*d.n.size+d.rank]--
	if d.n.lie != nil {
		d.n.lie(d, &m)
	}
	if !m.lost {
		d.hand(m)
	}
}

func (d *realDomain) hand(m realMessage) {
	d.n.seen(mem.SimEvent{What: mem.SimDeliver, Rank: d.rank, Peer: int(m.from), Kind: m.kind, Imm: m.imm, Hdr: m.hdr, Body: m.body})
	d.h.Deliver(m.from, m.kind, m.imm, m.hdr, m.body)
}

func (d *realDomain) Complete(op fabric.Op, err error) {
	t, ok := d.transfers[op]
	e := mem.SimEvent{What: mem.SimTransfer, Rank: d.rank, Peer: t.peer, Op: op, Put: t.put, Err: err}
	if !ok {
		e.What, e.Err = mem.SimMisuse, fmt.Errorf("operation %#x has ended, and was not begun, or twice", uint64(op))
	}
	delete(d.transfers, op)
	d.n.seen(e)
	d.h.Complete(op, err)
}

func (d *realDomain) PeerDown(p fabric.Peer, err error) {
	d.told[p] = true
	d.n.seen(mem.SimEvent{What: mem.SimDown, Rank: d.rank, Peer: int(p), Err: err})
	d.h.PeerDown(p, err)
}

// realEndpoint is the way to one peer.
type realEndpoint struct {
	fabric.Endpoint
	d    *realDomain
	peer int
}

func (e *realEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	n := e.d.n
	err := e.Endpoint.Send(kind, imm, hdr, body)
	ev := mem.SimEvent{What: mem.SimSent, Rank: e.d.rank, Peer: e.peer, Kind: kind, Imm: imm, Hdr: hdr, Body: body}
	switch {
	case err == nil:
		n.onWay[e.d.rank*n.size+e.peer]++
	case errors.Is(err, fabric.ErrAgain):
		ev.What, n.refused = mem.SimAgain, true
	default:
		return err
	}
	n.seen(ev)
	return err
}

func (e *realEndpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	return e.transfer(op, false, e.Endpoint.Get(dst, src, op))
}

func (e *realEndpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	return e.transfer(op, true, e.Endpoint.Put(src, dst, op))
}

// transfer notes down a Get or Put that the fabric has answered.
func (e *realEndpoint) transfer(op fabric.Op, put bool, err error) error {
	n := e.d.n
	ev := mem.SimEvent{What: mem.SimGet, Rank: e.d.rank, Peer: e.peer, Op: op, Put: put, Err: err}
	switch {
	case err == nil:
		e.d.transfers[op] = transfer{e.peer, put}
	case errors.Is(err, fabric.ErrAgain):
		n.refused = true
		return err
	default:
		ev.What = mem.SimNoGet
	}
	n.seen(ev)
	return err
}
