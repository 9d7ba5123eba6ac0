package verbs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/bell"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

const (
	headerSize = 16
	slotSize   = headerSize + fabric.MaxHeader + maxEager // bytes
	fenceSize  = 8                                        // behind the send slots: what fences read
)

// portInfo is what a domain knows of its port.
type portInfo struct {
	device           string
	number, gidIndex int
	gid              [16]byte
	lid              uint16
	mtu              uint8
	ethernet         bool
	reads, answers   uint8
	atomics          bool
	maxMessage       int
}

// Domain is one rank's port. See fabric.Domain for who may call what.
type Domain struct {
	cfg    fabric.Config
	caps   fabric.Caps
	hca    hca
	port   portInfo
	addr   []byte
	token  greet.Token
	window int    // messages that a peer may have under way to us
	scarce uint64 // of the window
	inline int

	recvMem, sendMem, creditMem, keysMem []byte
	recvMR, sendMR, creditMR, keysMR     ibv.MR
	regions                              pin.Regions
	bell                                 doorbell

	ctx      context.Context
	cancel   context.CancelFunc
	listener net.Listener
	wg       sync.WaitGroup

	// What set-up goroutines hand to the owner: events and links are guarded
	// by mu, pending says without a lock that there are some.
	mu          sync.Mutex
	links       []link
	events      []event
	undestroyed []undestroyedQP // guarded by mu, too
	pending     atomic.Bool
	closed      atomic.Bool

	// The owner's.
	ring        *ibv.Rings
	peers       []*endpoint // by rank; nil before first use
	byQPN       qpnTable    // queue pairs
	sends       int         // work requests that wait to be posted
	recvs       int         // slots to give back to the device
	hold        int         // so many may lie idle
	linger      bool        // see Linger
	outstanding int         // sends that have not ended
	budget      int         // of these, for want of room in the completion queue
	freeSlots   []uint32
	inlined     []uint32 // slots that are free after the next post
	uncovered   int      // slots that no signaled send stands behind yet
	rdone       stash
	sdone       stash
	coalescing  coalescing
	inbound     inbound
	inPoll      bool
	polls       uint64
	lostPaths   uint64
	starved     bool        // the last Poll had no room left for rest
	taken       uint64      // completions of receives
	endedAt     uint64      // taken when a peer or rail was last found to end
	rungPoll    uint64      // Poll number since which our own doorbell rings
	owed        []*endpoint // credit has to be written to them
	draining    []*endpoint // gone, but there may be messages of theirs
	failing     []*endpoint // end when all is flushed

	// What large transfers take besides, see rail.
	stripeMin     int     // bytes of a stripe, at least
	queues        int     // queue pairs of a connection on each port
	ports         []*port // beside the first
	transfers     []transfer
	freeTransfers []uint32
	failovers     []*endpoint // have a rail that is lost, or stripes of one
}

// stash is completions that a postPoll has found and Poll not looked at.
type stash struct{ next, n int }

func (s *stash) empty() bool { return s.next == s.n }

// event is news from a set-up goroutine.
type event struct {
	peer  fabric.Peer
	made  bool // qp and card are the connection's
	qp    ibv.QP
	card  card
	rails []*rail
	port  int   // that qpn or all is about
	rail  int   // of which the peer's end is gone, from 1 on
	up    bool  // it can be sent on
	here  bool  // the peer answers our question
	ended bool  // it has ended the connection, and lives
	err   error // the peer is down
	qpn   uint32
	all   bool // err is about everybody
}

// openDevice opens the ports that cfg.Options name or the first usable one.
func openDevice(cfg fabric.Config) (*Domain, error) {
	setting := func(name string) string { return cfg.Options[name] }
	want, err := readSettings(setting)
	if err != nil {
		return nil, err
	}
	ss, err := find(setting)
	if err != nil {
		return nil, err
	}
	d, err := openSelected(cfg, ss, want.queues, want.marks, ss[0].port.attr)
	if err != nil {
		return nil, err
	}
	d.caps.PutFirst = want.writes
	return d, nil
}

// openSelected opens the ports, with so many queue pairs of a connection on
// each. a is what the first can do.
func openSelected(cfg fabric.Config, ss []selection, queues int, m marks, a ibv.Attr) (*Domain, error) {
	p, host, err := ss[0].describe()
	if err != nil {
		return nil, err
	}
	var more []portInfo
	for i := range ss[1:] {
		q, _, err := ss[1+i].describe()
		if err != nil {
			return nil, err
		}
		more = append(more, q)
	}
	return openRails(cfg, p, more, queues, host, a, func(o ibv.Options) (hca, error) {
		o.ServiceLevel, o.TrafficClass = m.level, m.class
		return openHCA(o)
	})
}

// options are what to open a port with, for a job of so many ranks. a is what the
// first port can do.
func (p *portInfo) options(ranks int, a ibv.Attr) ibv.Options {
	o := ibv.Options{
		Device: p.device, Port: p.number, GIDIndex: p.gidIndex, Global: p.ethernet || p.lid == 0,
		SRQDepth: 16, RecvCQE: 32, SendCQE: 1024 + 64*ranks,
		SendDepth: queueDepth, AckTimeout: ackTimeout, AckRetries: ackRetries,
	}
	if a.MaxCQE > 0 {
		o.SendCQE = min(o.SendCQE, a.MaxCQE)
	}
	return o
}

// describe is what a domain needs to know of the port, and where peers reach
// the handshake.
func (s *selection) describe() (portInfo, string, error) {
	a, g := s.port.attr, s.gid()
	p := portInfo{
		device: s.dev.Name, number: s.port.Number, gidIndex: g.Index, gid: g.Address.As16(), lid: a.LID, mtu: a.MTU,
		ethernet: s.port.ethernet(), atomics: a.Atomics, maxMessage: a.MaxMessage,
		reads: uint8(min(a.Reads, 16)), answers: uint8(min(a.Answers, 16)),
	}
	host, err := listenHost(g, p.ethernet)
	return p, host, err
}

// openRails makes a domain of several ports, with so many queue pairs of a
// connection on each. host is where the handshake is answered.
func openRails(cfg fabric.Config, p portInfo, more []portInfo, queues int, host string, a ibv.Attr,
	openNIC func(ibv.Options) (hca, error)) (_ *Domain, err error) {
	if cfg.Size < 1 || int(cfg.Rank) >= cfg.Size {
		return nil, fmt.Errorf("rank %d in a job of %d ranks", cfg.Rank, cfg.Size)
	}
	size := sizesFor(cfg.Size, a.MaxSRQ)
	d := &Domain{cfg: cfg, port: p, window: size.window, scarce: scarce(uint64(size.window)), hold: size.spare(cfg.Size), queues: queues, stripeMin: stripeMin,
		peers: make([]*endpoint, cfg.Size), links: make([]link, cfg.Size)}
	d.token = greet.NewToken()
	d.ctx, d.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			err = errors.Join(err, d.release())
		}
	}()
	o := p.options(cfg.Size, a)
	o.SRQDepth, o.RecvCQE, o.Inline = size.slots, size.slots+16, wantInline
	d.budget = o.SendCQE - 2*ibv.MaxSends
	if d.hca, err = openNIC(o); err != nil {
		return nil, explain(err)
	}
	d.ring = d.hca.Rings()
	if err = d.openPorts(more, a, openNIC); err != nil {
		return nil, err
	}
	if err = d.prepare(size.slots); err != nil {
		return nil, err
	}
	if err = d.shareKeys(); err != nil {
		return nil, err
	}
	if err = d.bell.open(d.hcas()); err != nil {
		return nil, fmt.Errorf("create doorbell: %w", err)
	}
	if err = d.listen(host); err != nil {
		return nil, err
	}
	for i, n := range d.hcas() {
		f, raw, err := bell.Pollable(n.AsyncFD(), "device events")
		if err != nil {
			return nil, err
		}
		context.AfterFunc(d.ctx, func() { f.Close() })
		d.wg.Go(func() { d.asyncEvents(i, n, f, raw) })
	}
	d.caps = fabric.Caps{
		MaxEager: maxEager, Chunk: chunk,
		RndvMin: rndvMin, RndvMinMapped: rndvMin,
		Get: true, Put: true, Atomics: p.atomics,
	}
	return d, nil
}

// prepare makes the slots, posts those of the receive queue, and tries what a
// connection will need.
func (d *Domain) prepare(slots int) (err error) {
	keys := 0
	if len(d.ports) > 0 {
		keys = (pin.KeyEntries + 1) * pin.KeySize // the last for fences
	}
	for _, m := range []struct {
		what   string
		n      int
		access uint32
		mem    *[]byte
		mr     *ibv.MR
	}{
		{"receive slots", slots * slotSize, ibv.LocalWrite, &d.recvMem, &d.recvMR},
		{"send slots", sendSlots*slotSize + fenceSize, ibv.LocalWrite, &d.sendMem, &d.sendMR},
		{"credit words", 8 * d.cfg.Size, ibv.LocalWrite | ibv.RemoteRead | ibv.RemoteWrite, &d.creditMem, &d.creditMR},
		{"keys", keys, ibv.RemoteRead, &d.keysMem, &d.keysMR},
	} {
		if m.n == 0 {
			continue
		}
		if *m.mem, err = ibv.Map(m.n); err != nil {
			return err
		}
		if *m.mr, err = d.hca.RegMR(ibv.Addr(*m.mem), m.n, m.access); err != nil {
			*m.mr = ibv.MR{}
			return pin.Explain(m.what, m.n, err)
		}
	}
	d.hca.SetSlots(ibv.Addr(d.recvMem), slotSize, d.recvMR.LKey)
	for i := range slots {
		d.repost(uint32(i))
	}
	for i := range uint32(sendSlots) {
		d.freeSlots = append(d.freeSlots, i)
	}
	d.inlined = make([]uint32, 0, ibv.MaxSends)
	d.owed = make([]*endpoint, 0, d.cfg.Size)
	if err = d.hca.PostPoll(0, d.recvs, 0, 0, 1).Err(); err != nil {
		return err
	}
	d.recvs = 0
	q, inline, err := d.hca.CreateQP()
	if err != nil {
		return explain(err)
	}
	d.inline = min(inline, wantInline)
	d.byQPN = newQPNTable()
	d.openRegions()
	return d.destroyQP(0, q)
}

func (d *Domain) listen(host string) (err error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	d.listener, err = lc.Listen(d.ctx, "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return &fabric.Error{Op: "listen for peers", Err: err,
			Remedy: "the GID's address must be one of this machine's, in this network namespace; choose another with " + envGID}
	}
	a := address{Version: protocolVersion, Rank: uint32(d.cfg.Rank), Listen: d.listener.Addr().String(), Token: d.token}
	d.addr = a.encode()
	s := &greet.Server{Listener: d.listener, Limit: greet.Limit, Most: greet.Most(), Name: "verbs", Log: d.cfg.Log, Greet: d.answer}
	d.wg.Go(func() { s.Serve(d.ctx) })
	return nil
}

// Caps says what the port offers.
func (d *Domain) Caps() fabric.Caps { return d.caps }

// Addr says where the handshake is answered and holds the rank's secret: it is
// for the ranks of the job only.
func (d *Domain) Addr() []byte { return d.addr }

// Connect returns the endpoint towards p and starts its connection at first
// use. A rank has none to itself.
func (d *Domain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	if d.closed.Load() {
		return nil, fabric.ErrClosed
	}
	if int(p) >= len(d.peers) {
		return nil, fmt.Errorf("rank %d in a job of %d ranks", p, len(d.peers))
	}
	if p == d.cfg.Rank {
		return nil, fmt.Errorf("connect a rank to itself: %w", fabric.ErrUnsupported)
	}
	e := d.endpoint(p)
	if e.connected {
		return e, nil
	}
	a, err := decodeAddress(addr)
	if err == nil && a.Rank != uint32(p) {
		err = fmt.Errorf("it is rank %d's address", a.Rank)
	}
	if err != nil {
		return nil, &fabric.Error{Op: "connect over verbs", Peer: p, HasPeer: true, Err: err}
	}
	e.connected, e.sign = true, pin.NewSigner(a.Token)
	d.want(p, a)
	return e, nil
}

func (d *Domain) endpoint(p fabric.Peer) *endpoint {
	if d.peers[p] == nil {
		d.peers[p] = &endpoint{d: d, peer: p}
	}
	return d.peers[p]
}

// post hands an event to the owner and makes sure it looks.
func (d *Domain) post(ev event) { d.postWith(ev, func() {}) }

// postWith is post that calls f first, under mu, unless the domain has been closed.
func (d *Domain) postWith(ev event, f func()) {
	d.mu.Lock()
	if d.closed.Load() {
		if ev.err != nil && int(ev.peer) < len(d.links) {
			d.links[ev.peer].gone = true
		}
		d.mu.Unlock()
		if ev.made {
			d.destroyQP(0, ev.qp)
			d.discard(ev.rails)
		}
		return
	}
	f()
	d.events = append(d.events, ev)
	d.pending.Store(true)
	d.mu.Unlock()
	d.bell.Ring()
}
