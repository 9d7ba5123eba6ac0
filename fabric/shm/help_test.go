package shm

import (
	"crypto/rand"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// openJob opens the domains of a job in this process.
func openJob(t testing.TB, n int) []fabric.Domain {
	t.Helper()
	job := rand.Text()
	var ds []fabric.Domain
	for r := range n {
		ds = append(ds, openOne(t, fabric.Config{Rank: fabric.Peer(r), Size: n, Job: job, Log: slog.New(slog.DiscardHandler)}))
	}
	return ds
}

func openOne(t testing.TB, cfg fabric.Config) fabric.Domain {
	t.Helper()
	d, err := Provider{}.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

// node is a domain with what it was told.
type node struct {
	t    testing.TB
	d    *Domain
	got  []string // bodies
	done map[fabric.Op]error
	down map[fabric.Peer]error
}

func newNode(t testing.TB, d fabric.Domain) *node {
	return &node{t: t, d: d.(*Domain), done: map[fabric.Op]error{}, down: map[fabric.Peer]error{}}
}

func (n *node) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	if n.down[from] != nil {
		n.t.Errorf("rank %d: a message of rank %d after its end", n.d.cfg.Rank, from)
	}
	n.got = append(n.got, string(body))
}
func (n *node) Complete(op fabric.Op, err error) {
	if _, twice := n.done[op]; twice {
		n.t.Errorf("operation %d completes twice", op)
	}
	n.done[op] = err
}
func (n *node) PeerDown(p fabric.Peer, err error) {
	if n.down[p] != nil {
		n.t.Errorf("PeerDown(%d) twice", p)
	}
	n.down[p] = err
}

// pair is two connected ranks.
type pair struct {
	t  testing.TB
	n  [2]*node
	ep [2]fabric.Endpoint // to the other
}

func newPair(t testing.TB) *pair {
	t.Helper()
	ds := openJob(t, 2)
	return connected(t, ds[0], ds[1])
}

func connected(t testing.TB, a, b fabric.Domain) *pair {
	t.Helper()
	p := &pair{t: t, n: [2]*node{newNode(t, a), newNode(t, b)}}
	for i := range 2 {
		ep, err := p.n[i].d.Connect(fabric.Peer(1-i), p.n[1-i].d.Addr())
		if err != nil {
			t.Fatal(err)
		}
		p.ep[i] = ep
	}
	p.exchange("hello")
	return p
}

// qemu is the emulator that this test runs in, or "": see scripts/arm64.
var qemu = os.Getenv("WEFT_QEMU")

// needCMA skips the test where rank 1 can't be read with CMA, unless this is CI.
func needCMA(t testing.TB, n *node) {
	t.Helper()
	if !n.d.peers[1].info.cma.Load() {
		refusesCMA(t)
	}
}

func refusesCMA(t testing.TB) {
	t.Helper()
	switch {
	case qemu != "":
		t.Skip("qemu-user has no process_vm_readv and process_vm_writev")
	case os.Getenv("WEFT_CI") != "":
		t.Fatal("CMA is refused")
	default:
		t.Skip("this machine refuses CMA")
	}
}

func (p *pair) poll() {
	for _, n := range p.n {
		n.d.Poll(n, 64)
	}
	runtime.Gosched()
}

func (p *pair) until(what string, cond func() bool) {
	p.t.Helper()
	for end := time.Now().Add(patience); !cond(); p.poll() {
		if time.Now().After(end) {
			p.t.Fatalf("waited too long for: %s", what)
		}
	}
}

func (p *pair) send(from int, body string) {
	p.t.Helper()
	p.until("a message to be accepted", func() bool {
		err := p.ep[from].Send(1, 0, nil, []byte(body))
		if err != nil && err != fabric.ErrAgain {
			p.t.Fatal(err)
		}
		return err == nil
	})
}

// exchange sends a message each way.
func (p *pair) exchange(body string) {
	p.t.Helper()
	for i := range 2 {
		p.n[1-i].got = nil
		p.send(i, body)
		p.until("a message", func() bool { return len(p.n[1-i].got) > 0 })
		if got := p.n[1-i].got[0]; got != body {
			p.t.Fatalf("rank %d got %q, want %q", 1-i, got, body)
		}
	}
}

func waitFor(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("waited too long for: %s", what)
		}
	}
}

// openFiles counts the process's descriptors.
func openFiles(t testing.TB) int {
	t.Helper()
	es, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(es)
}

// records is a slog.Handler's sink that keeps messages.
type records struct {
	mu   sync.Mutex
	text []byte
}

func (r *records) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, b...)
	return len(b), nil
}

func (r *records) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// leavesNoFiles plays rounds and counts the descriptors that they leave open; the
// first may open what the process keeps.
func leavesNoFiles(t *testing.T, round func()) {
	t.Helper()
	round()
	before := openFiles(t)
	for range 10 {
		round()
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}
