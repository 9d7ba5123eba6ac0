package tcp

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// patienceAtDoors is when a test of connections calls something hung.
const patienceAtDoors = 5 * time.Minute

// caller is a rank of a job in this process, which counts what it hears.
type caller struct {
	*Domain
	eps  []fabric.Endpoint
	got  []int
	down []error
}

func (c *caller) Deliver(from fabric.Peer, _ uint8, _ uint64, _, _ []byte) { c.got[from]++ }
func (c *caller) Complete(fabric.Op, error)                                {}
func (c *caller) PeerDown(p fabric.Peer, err error)                        { c.down[p] = err }

// callers opens the ranks of a job with a key.
func callers(t testing.TB, n int, change func(*fabric.Config)) []*caller {
	t.Helper()
	cs := make([]*caller, n)
	for i := range cs {
		cfg := fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Key: fabric.Key{1, 2, 3},
			Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Options: map[string]string{envDeadline: "0"}}
		if change != nil {
			change(&cfg)
		}
		d, err := Provider{}.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		cs[i] = &caller{Domain: d.(*Domain), eps: make([]fabric.Endpoint, n), got: make([]int, n), down: make([]error, n)}
	}
	return cs
}

// reach connects with a peer at its card.
func (c *caller) reach(t testing.TB, p *caller, a card) {
	t.Helper()
	ep, err := c.Connect(p.cfg.Rank, a.encode())
	if err != nil {
		t.Fatal(err)
	}
	c.eps[p.cfg.Rank] = ep
}

func (c *caller) card(t testing.TB) card {
	t.Helper()
	a, err := decodeCard(c.Addr())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// poll polls ranks until cond holds.
func poll(t testing.TB, what string, cond func() bool, cs ...*caller) {
	t.Helper()
	for end := time.Now().Add(patienceAtDoors); !cond(); runtime.Gosched() {
		for _, c := range cs {
			c.Poll(c, 64)
		}
		if time.Now().After(end) {
			t.Fatalf("waited %v for: %s", patienceAtDoors, what)
		}
	}
}

// hear has a send a message to b, which arrives.
func hear(t testing.TB, a, b *caller) {
	t.Helper()
	from, to := a.cfg.Rank, b.cfg.Rank
	want, sent := b.got[from]+1, false
	poll(t, "a message", func() bool {
		if a.down[to] != nil || b.down[from] != nil {
			t.Fatalf("ranks %d and %d are down: %v, %v", from, to, b.down[from], a.down[to])
		}
		if !sent {
			sent = a.eps[to].Send(1, 2, nil, []byte("word")) == nil
		}
		return b.got[from] == want
	}, a, b)
}

func TestRanksOfOneKeyConnect(t *testing.T) {
	cs := callers(t, 2, nil)
	a := cs[1].card(t)
	if a.Token != (greet.Token{}) {
		t.Error("the card has a secret though the job has a key")
	}
	cs[0].reach(t, cs[1], a)
	hear(t, cs[0], cs[1])
}

func TestRanksWithoutAKeyConnect(t *testing.T) {
	cs := callers(t, 2, func(c *fabric.Config) { c.Key = fabric.Key{} })
	cs[0].reach(t, cs[1], cs[1].card(t))
	hear(t, cs[0], cs[1])
}

// Who knows the card and not the key is no rank.
func TestARankOfAnotherKeyIsNotLetIn(t *testing.T) {
	cs := callers(t, 2, func(c *fabric.Config) { c.Key[9] = byte(c.Rank) })
	cs[0].set.dial = time.Second
	cs[0].reach(t, cs[1], cs[1].card(t))
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs...)
	if !errors.Is(cs[0].down[1], fabric.ErrPeerDown) || cs[1].got[0] != 0 || cs[1].down[0] != nil {
		t.Errorf("%v; rank 1: %v", cs[0].down[1], cs[1].down[0])
	}
	if cs[1].guard.Refused() == 0 {
		t.Error("nobody is counted as refused")
	}
}

// mob opens n connections with a rank and has each do something.
func mob(t *testing.T, c *caller, n int, do func(i int, conn net.Conn)) {
	t.Helper()
	var wg sync.WaitGroup
	defer wg.Wait()
	few := make(chan struct{}, 256)
	for i := range n {
		few <- struct{}{}
		wg.Go(func() {
			defer func() { <-few }()
			conn, err := net.Dial("tcp", c.doors[0].addr.String())
			if err != nil {
				t.Errorf("stranger %d: %v", i, err)
				return
			}
			conn.SetDeadline(time.Now().Add(patienceAtDoors))
			do(i, conn)
		})
	}
}

// lasting keeps connections until the test ends.
func lasting(t *testing.T) func(int, net.Conn) {
	var mu sync.Mutex
	var all []net.Conn
	t.Cleanup(func() {
		for _, c := range all {
			c.Close()
		}
	})
	return func(_ int, c net.Conn) {
		mu.Lock()
		all = append(all, c)
		mu.Unlock()
	}
}

// record returns what a dialer of rank 0 says to rank 1.
func record(t *testing.T, cs []*caller) []byte {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var said bytes.Buffer
	var wg sync.WaitGroup
	wg.Go(func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		defer in.Close()
		out, err := net.Dial("tcp", cs[1].doors[0].addr.String())
		if err != nil {
			return
		}
		defer out.Close()
		go io.Copy(in, out)
		io.Copy(io.MultiWriter(out, &said), in)
	})
	in, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cs[0].self.Dial(in, 1, cs[1].token, func() ([]byte, error) { return []byte{9, 9}, nil }) // refused: no such use
	in.Close()
	wg.Wait()
	return said.Bytes()
}

// Whatever strangers do, ranks find one another, those that are connected go on,
// and what strangers take of the process is bounded.
func TestStrangersHarmNobody(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	many := min(10_000, int(limit.Cur)/2)
	if testing.Short() || many < 10_000 {
		t.Logf("%d connections instead of 10000", min(many, 1000))
		many = min(many, 1000)
	}
	for name, c := range map[string]struct {
		n    int
		held bool // most of the connections are still there behind do
		do   func(t *testing.T, cs []*caller) func(int, net.Conn)
	}{
		"a port scan": {300, false, func(*testing.T, []*caller) func(int, net.Conn) { return func(_ int, c net.Conn) { c.Close() } }},
		"holders":     {many, true, func(t *testing.T, _ []*caller) func(int, net.Conn) { return lasting(t) }},
		"a slow drip": {300, true, func(t *testing.T, cs []*caller) func(int, net.Conn) {
			keep := lasting(t)
			return func(i int, c net.Conn) {
				c.Write([]byte("w"))
				keep(i, c)
			}
		}},
		"noise": {300, false, func(*testing.T, []*caller) func(int, net.Conn) {
			return func(i int, c net.Conn) {
				c.Write(bytes.Repeat([]byte{byte(i)}, 4096))
				io.Copy(io.Discard, c)
				c.Close()
			}
		}},
		"a wrong key": {300, false, func(_ *testing.T, cs []*caller) func(int, net.Conn) {
			s := &greet.Self{Magic: cs[0].self.Magic, Version: cs[0].self.Version, Size: 4, Job: cs[0].self.Job, Key: greet.Key{1, 2, 4}}
			return func(_ int, c net.Conn) {
				if _, err := s.Dial(c, 1, greet.Token{}, nil); err == nil {
					t.Error("it is answered")
				}
				c.Close()
			}
		}},
		"a replay": {300, true, func(t *testing.T, cs []*caller) func(int, net.Conn) {
			said, keep := record(t, cs), lasting(t)
			if len(said) < 100 {
				t.Fatalf("a greeting of %d bytes is recorded", len(said))
			}
			return func(i int, c net.Conn) {
				c.Write(said)
				keep(i, c)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cs := callers(t, 4, nil)
			cs[0].reach(t, cs[1], cs[1].card(t))
			hear(t, cs[0], cs[1])
			do := c.do(t, cs)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			var wg sync.WaitGroup
			wg.Go(func() { mob(t, cs[1], c.n, do) })
			cs[2].reach(t, cs[1], cs[1].card(t))
			hear(t, cs[2], cs[1]) // while they come
			hear(t, cs[0], cs[1])
			wg.Wait()
			cs[3].reach(t, cs[1], cs[1].card(t))
			hear(t, cs[3], cs[1]) // while they are there
			hear(t, cs[0], cs[1])
			runtime.GC()
			runtime.ReadMemStats(&after)
			// The strangers' own ends are in this process too.
			perEnd := uint64(0)
			if c.held {
				perEnd = 2 << 10
			}
			if most := before.HeapAlloc + 4<<20 + perEnd*uint64(c.n); after.HeapAlloc > most {
				t.Errorf("%d bytes of heap became %d", before.HeapAlloc, after.HeapAlloc)
			}
			if cs[1].down[0] != nil || cs[1].down[2] != nil || cs[1].down[3] != nil {
				t.Errorf("a rank went down: %v", cs[1].down)
			}
		})
	}
}

// A peer that greets as it should and then breaks the protocol is down, for the
// rank that it talks to.
func TestGarbageBehindAGreetingEndsThePeer(t *testing.T) {
	for seed := range uint64(20) {
		cs := callers(t, 3, nil)
		cs[0].reach(t, cs[1], cs[1].card(t))
		hear(t, cs[0], cs[1])
		cs[2].reach(t, cs[0], cs[0].card(t))
		hear(t, cs[2], cs[0])
		conn, err := net.Dial("tcp", cs[1].doors[0].addr.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = cs[2].self.Dial(conn, 1, greet.Token{}, func() ([]byte, error) { return []byte{byte(forMessages), 0}, nil }); err != nil {
			t.Fatal(err)
		}
		greet.Ready(conn)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := rand.New(rand.NewPCG(seed, 1))
		go func() {
			b := make([]byte, 4096)
			for err := error(nil); err == nil; _, err = conn.Write(b) {
				for i := range b {
					b[i] = byte(r.Uint32())
				}
			}
		}()
		poll(t, "the end of rank 2", func() bool { return cs[1].down[2] != nil }, cs...)
		conn.Close()
		runtime.ReadMemStats(&after)
		if d := after.TotalAlloc - before.TotalAlloc; d > 4<<20 {
			t.Errorf("%d bytes are allocated", d)
		}
		if !strings.Contains(cs[1].down[2].Error(), errProtocol.Error()) {
			t.Errorf("rank 2 is down because of %v", cs[1].down[2])
		}
		hear(t, cs[0], cs[1])
		hear(t, cs[2], cs[0])
		for i, c := range cs {
			if i != 1 && (c.down[0] != nil || c.down[1] != nil || c.down[2] != nil) || cs[1].down[0] != nil {
				t.Errorf("rank %d holds others for down: %v", i, c.down)
			}
			c.Close()
		}
	}
}

func TestTheOrderOfDoors(t *testing.T) {
	d := func(addr string, bits, speed int) door { return door{netip.MustParseAddrPort(addr), bits, speed} }
	peer := []door{d("10.9.0.2:1", 16, 100_000), d("192.168.1.2:1", 24, 1000), d("10.1.0.2:1", 16, 25_000), d("[2001:db8::2]:1", 64, 25_000)}
	for _, c := range []struct {
		name, won, want string
		mine            []door
	}{
		{"no network in common", "", "0 2 3 1", nil},
		{"one in common", "", "1 0 2 3", []door{d("192.168.1.7:5", 24, 1000)}},
		{"two in common", "", "2 1 0 3", []door{d("192.168.1.7:5", 24, 1000), d("10.1.0.7:5", 16, 25_000)}},
		{"a slow end of a fast one", "", "1 2 0 3", []door{d("192.168.1.7:5", 24, 1000), d("10.1.0.7:5", 16, 100)}},
		{"another mask", "", "0 2 3 1", []door{d("192.168.1.7:5", 16, 1000)}},
		{"a winner", "192.168.1.2:1", "1 2 0 3", []door{d("10.1.0.7:5", 16, 25_000)}},
	} {
		var won netip.AddrPort
		if c.won != "" {
			won = netip.MustParseAddrPort(c.won)
		}
		var got []string
		for _, o := range order(peer, c.mine, won) {
			for i, p := range peer {
				if p == o {
					got = append(got, string(rune('0'+i)))
				}
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}
