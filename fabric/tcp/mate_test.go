package tcp

import (
	"encoding/binary"
	"errors"
	"log/slog"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

// mate is a rank of a job in this process. As a handler it holds its peers to the
// contract: messages of one come whole and in order, nothing comes after its end,
// and each operation ends once, before it.
type mate struct {
	t    testing.TB
	d    *Domain
	rank fabric.Peer
	eps  []fabric.Endpoint

	sent, got []int   // messages, by peer
	down      []error // by peer
	pending   map[fabric.Op]fabric.Peer
	failed    int // operations
	ended     int // operations
	ops       uint64
	max       int  // of each Poll
	loose     bool // operations may be with memory that nobody has registered
}

// mates opens the ranks of a job.
func mates(t testing.TB, n int, change func(*fabric.Config)) []*mate {
	t.Helper()
	ms := make([]*mate, n)
	for i := range ms {
		cfg := fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Log: slog.New(slog.DiscardHandler),
			Options: map[string]string{envDeadline: "0"}}
		if change != nil {
			change(&cfg)
		}
		d, err := Provider{}.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		ms[i] = newMate(t, d.(*Domain), n)
	}
	return ms
}

func newMate(t testing.TB, d *Domain, n int) *mate {
	d.set.askTime = time.Minute // it asks who lives
	return &mate{t: t, d: d, rank: d.cfg.Rank, eps: make([]fabric.Endpoint, n), max: 64,
		sent: make([]int, n), got: make([]int, n), down: make([]error, n), pending: map[fabric.Op]fabric.Peer{}}
}

// soon has silence end a peer as soon as it can.
func soon(c *fabric.Config) { c.Options = map[string]string{envDeadline: leastDeadline.String()} }

// meet connects one with another, which has no need to.
func (m *mate) meet(p *mate, card []byte) {
	m.t.Helper()
	if card == nil {
		card = p.d.Addr()
	}
	ep, err := m.d.Connect(p.rank, card)
	if err != nil {
		m.t.Fatal(err)
	}
	m.eps[p.rank] = ep
}

// meetAll connects every pair, and waits until a message has passed both ways.
func meetAll(t testing.TB, ms ...*mate) {
	t.Helper()
	for i, m := range ms {
		for _, p := range ms[:i] {
			meetBoth(t, m, p, nil, ms...)
		}
	}
}

// meetBoth connects two: the first dials at card. The others go on meanwhile.
func meetBoth(t testing.TB, m, p *mate, card []byte, others ...*mate) {
	t.Helper()
	all := append([]*mate{m, p}, others...)
	m.meet(p, card)
	before := p.got[m.rank]
	pump(t, "the first message", func() bool {
		if m.sent[p.rank] == 0 {
			m.send(p.rank, 8)
		}
		return p.got[m.rank] > before
	}, all...)
	p.meet(m, nil)
	before = m.got[p.rank]
	p.send(m.rank, 8)
	pump(t, "the reply", func() bool { return m.got[p.rank] > before }, all...)
}

// through returns the card of a rank that is reached by a relay.
func through(t testing.TB, m *mate, plan func(n int) []tcpproxy.Fault) ([]byte, *tcpproxy.Relay) {
	t.Helper()
	a, err := decodeCard(m.d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tcpproxy.New(a.Listen[0].String(), plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	a.Listen = []netip.AddrPort{netip.MustParseAddrPort(r.Addr())}
	return a.encode(), r
}

// send sends the next message to a peer, of n bytes that tell its number.
func (m *mate) send(to fabric.Peer, n int) bool {
	body := make([]byte, n)
	for i := range body {
		body[i] = byte(m.sent[to] + i)
	}
	var hdr [8]byte
	binary.LittleEndian.PutUint64(hdr[:], uint64(n))
	err := m.eps[to].Send(1, uint64(m.sent[to]), hdr[:], body)
	switch {
	case err == nil:
		m.sent[to]++
	case err != fabric.ErrAgain && !errors.Is(err, fabric.ErrPeerDown):
		m.t.Errorf("rank %d: Send to %d: %v", m.rank, to, err)
	}
	return err == nil
}

// begin starts an operation with a peer.
func (m *mate) begin(p fabric.Peer, call func(fabric.Op) error) bool {
	m.ops++
	op := fabric.Op(m.ops)
	m.pending[op] = p
	err := call(op)
	if err != nil {
		delete(m.pending, op)
		if err != fabric.ErrAgain && !errors.Is(err, fabric.ErrPeerDown) {
			m.t.Errorf("rank %d: an operation with %d: %v", m.rank, p, err)
		}
	}
	return err == nil
}

func (m *mate) region(b []byte) fabric.Segment {
	m.t.Helper()
	r, err := m.d.Register(b, fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
	if err != nil {
		m.t.Fatal(err)
	}
	return fabric.Segment{Bytes: b, Region: r}
}

func (m *mate) Deliver(from fabric.Peer, _ uint8, imm uint64, hdr, body []byte) {
	if m.down[from] != nil {
		m.t.Errorf("rank %d: a message of %d after its end", m.rank, from)
	}
	if imm != uint64(m.got[from]) {
		m.t.Errorf("rank %d: message %d of %d comes as number %d", m.rank, imm, from, m.got[from])
	}
	if len(hdr) != 8 || binary.LittleEndian.Uint64(hdr) != uint64(len(body)) {
		m.t.Errorf("rank %d: message %d of %d has %d bytes", m.rank, imm, from, len(body))
	}
	for i, b := range body {
		if b != byte(int(imm)+i) {
			m.t.Errorf("rank %d: message %d of %d is wrong at byte %d", m.rank, imm, from, i)
			break
		}
	}
	m.got[from]++
}

func (m *mate) Complete(op fabric.Op, err error) {
	p, ok := m.pending[op]
	if !ok {
		m.t.Errorf("rank %d: operation %d ends that is not under way: %v", m.rank, op, err)
	}
	if m.down[p] != nil {
		m.t.Errorf("rank %d: operation %d ends after its peer", m.rank, op)
	}
	delete(m.pending, op)
	m.ended++
	if err != nil {
		m.failed++
		if !errors.Is(err, fabric.ErrPeerDown) && !(m.loose && errors.Is(err, fabric.ErrBadRemote)) {
			m.t.Errorf("rank %d: operation %d: %v", m.rank, op, err)
		}
	}
}

func (m *mate) PeerDown(p fabric.Peer, err error) {
	if m.down[p] != nil {
		m.t.Errorf("rank %d: rank %d goes down twice: %v, then %v", m.rank, p, m.down[p], err)
	}
	for op, of := range m.pending {
		if of == p {
			m.t.Errorf("rank %d: rank %d goes down before its operation %d", m.rank, p, op)
		}
	}
	if !errors.Is(err, fabric.ErrPeerDown) {
		m.t.Errorf("rank %d: rank %d goes down: %v", m.rank, p, err)
	}
	m.down[p] = err
}

// with is how many operations with a peer are under way.
func (m *mate) with(p fabric.Peer) (n int) {
	for _, of := range m.pending {
		if of == p {
			n++
		}
	}
	return n
}

// pump polls ranks until cond holds.
func pump(t testing.TB, what string, cond func() bool, ms ...*mate) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
		did := 0
		for _, m := range ms {
			did += m.d.Poll(m, m.max)
		}
		if did == 0 { // leave the processor to greetings and relays
			time.Sleep(20 * time.Microsecond)
		}
		if t.Failed() {
			t.FailNow()
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for: %s", patience, what)
		}
	}
}

// goOn polls ranks for a while. They sleep meanwhile, as ranks do.
func goOn(t testing.TB, d time.Duration, ms ...*mate) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, m := range ms {
			m.d.Poll(m, m.max)
		}
		ms[0].d.Arm(fabric.WakeAll)
		if ms[0].d.Poll(ms[0], 64) == 0 {
			ms[0].d.Wait(time.Millisecond)
		}
		ms[0].d.Disarm()
	}
	if t.Failed() {
		t.FailNow()
	}
}

// talk has two ranks exchange messages, to see that they can. The others go on
// meanwhile.
func talk(t testing.TB, a, b *mate, others ...*mate) {
	t.Helper()
	all := append([]*mate{a, b}, others...)
	const n = 20
	wantA, wantB := a.got[b.rank]+n, b.got[a.rank]+n
	for k := 0; k < n; {
		if a.send(b.rank, 100) {
			k++
		}
		for _, m := range all {
			m.d.Poll(m, 64)
		}
	}
	for k := 0; k < n; {
		if b.send(a.rank, 100) {
			k++
		}
		for _, m := range all {
			m.d.Poll(m, 64)
		}
	}
	pump(t, "messages of two who live", func() bool { return a.got[b.rank] >= wantA && b.got[a.rank] >= wantB }, all...)
}
