package mem_test

import (
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/fabrictest"
	"github.com/weft-mpi/weft/fabric/mem"
)

func openAll(t testing.TB, w *mem.Network, n int) []fabric.Domain {
	t.Helper()
	var ds []fabric.Domain
	for r := range n {
		d, err := w.Provider().Open(config(r, n))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil && !errors.Is(err, fabric.ErrClosed) {
				t.Errorf("Close: %v", err)
			}
		})
		ds = append(ds, d)
	}
	return ds
}

func config(rank, size int) fabric.Config {
	return fabric.Config{Rank: fabric.Peer(rank), Size: size, Job: "test", Log: slog.New(slog.DiscardHandler)}
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name string
		opts []mem.Option
	}{
		{"default", nil},
		{"depth 3", []mem.Option{mem.WithDepth(3)}},
		{"seed 1", []mem.Option{mem.WithSeed(1)}},
		{"seed 2, depth 3", []mem.Option{mem.WithSeed(2), mem.WithDepth(3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var last *mem.Network
			fabrictest.Run(t, fabrictest.Harness{
				Open: func(t testing.TB, n int) []fabric.Domain {
					last = mem.NewNetwork(n, c.opts...)
					return openAll(t, last, n)
				},
				Kill:         func(_ testing.TB, rank fabric.Peer) { last.Kill(rank) },
				ChecksRemote: true,
				RingsForRoom: true,
			})
		})
	}
}

// log writes down what Poll hands over.
type log struct {
	rank  int
	lines *[]string
	then  func() // called in Deliver
}

func (l log) note(format string, args ...any) {
	*l.lines = append(*l.lines, fmt.Sprintf("%d ", l.rank)+fmt.Sprintf(format, args...))
}

func (l log) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	h := fnv.New32()
	h.Write(hdr)
	h.Write(body)
	l.note("deliver %d %d %d %d+%d %x", from, kind, imm, len(hdr), len(body), h.Sum32())
	if l.then != nil {
		l.then()
	}
}
func (l log) Notify(from fabric.Peer, note uint32) { l.note("notify %d %d", from, note) }
func (l log) Complete(op fabric.Op, err error)     { l.note("complete %d %v", op, err) }
func (l log) PeerDown(p fabric.Peer, err error)    { l.note("down %d %v", p, err) }

// trace runs a random programme, the same every time, and returns every answer
// and every event.
func trace(t *testing.T, seed uint64) []string {
	const size = 4
	w := mem.NewNetwork(size, mem.WithSeed(seed), mem.WithDepth(8))
	ds := openAll(t, w, size)
	var eps [size][size]fabric.Endpoint
	var mine, theirs [size]fabric.Segment
	var lines []string
	var logs [size]log
	for i, d := range ds {
		for j := range ds {
			e, err := d.Connect(fabric.Peer(j), ds[j].Addr())
			if err != nil {
				t.Fatal(err)
			}
			eps[i][j] = e
		}
		for _, s := range []*fabric.Segment{&mine[i], &theirs[i]} {
			s.Bytes = make([]byte, 256)
			r, err := d.Register(s.Bytes, fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
			if err != nil {
				t.Fatal(err)
			}
			s.Region = r
			lines = append(lines, fmt.Sprintf("%d region %+v", i, r))
		}
		logs[i] = log{rank: i, lines: &lines}
		logs[i].then = func() {
			logs[i].note("reply: %v", eps[i][0].Send(9, 0, nil, nil))
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	result := uint64(0)
	for op := range fabric.Op(4000) {
		i, j := rng.IntN(size), rng.IntN(size)
		e, l := eps[i][j], logs[i]
		switch rng.IntN(8) {
		case 0:
			l.note("sendz %d: %v", op, e.SendZ(2, uint64(op), nil, mine[i], op))
		case 1:
			l.note("put %d: %v", op, e.Put(mine[i], theirs[j].Region.Remote, uint32(op%2), op))
		case 2:
			l.note("get %d: %v", op, e.Get(mine[i], theirs[j].Region.Remote, op))
		case 3:
			l.note("atomic %d: %v", op, e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &result}, theirs[j].Region.Remote, op))
		case 4, 5:
			l.note("send %d: %v", op, e.Send(1, uint64(op), mine[i].Bytes[:8], mine[i].Bytes[:rng.IntN(200)]))
		default:
			max := 1 + rng.IntN(16)
			l.note("poll %d: %d", max, ds[i].Poll(l, max))
		}
		if op == 3000 {
			w.Kill(3)
		}
	}
	for i, d := range ds {
		for d.Poll(logs[i], 64) > 0 {
		}
	}
	return lines
}

func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	a, b := trace(t, 1), trace(t, 1)
	if len(a) != len(b) {
		t.Fatalf("%d events, then %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("event %d: %q, then %q", i, a[i], b[i])
		}
	}
	if strings.Join(a, "\n") == strings.Join(trace(t, 2), "\n") {
		t.Error("another seed gives the same trace")
	}
	for _, want := range []string{"try again", "down 3", "rank was killed"} {
		if !strings.Contains(strings.Join(a, "\n"), want) {
			t.Errorf("the trace never says %q: the programme is too tame", want)
		}
	}
}

func TestASeededNetworkMingesSendersAndHoldsBack(t *testing.T) {
	w := mem.NewNetwork(3, mem.WithSeed(5))
	ds := openAll(t, w, 3)
	fewer, swapped := 0, 0
	for range 200 {
		for from := range 2 {
			e, err := ds[from].Connect(2, ds[2].Addr())
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				for e.Send(1, 0, nil, nil) != nil {
				}
			}
		}
		var lines []string
		for first := true; ; first = false {
			n := ds[2].Poll(log{2, &lines, nil}, 8)
			if n == 0 {
				break
			}
			if first && n < 8 {
				fewer++
				if err := ds[2].Wait(time.Hour); err != nil { // must ring for the rest
					t.Fatal(err)
				}
			}
		}
		if len(lines) != 8 {
			t.Fatalf("%d messages, want 8", len(lines))
		}
		if strings.HasPrefix(lines[0], "2 deliver 1") {
			swapped++
		}
	}
	if fewer == 0 || fewer == 200 || swapped == 0 || swapped == 200 {
		t.Errorf("of 200 Polls %d handed over fewer and %d began with the second sender", fewer, swapped)
	}
}

func TestOpenRefuses(t *testing.T) {
	w := mem.NewNetwork(3)
	p := w.Provider()
	if p.Name() != "mem" || p.Available() != nil {
		t.Errorf("provider %q, available: %v", p.Name(), p.Available())
	}
	openOK := func(rank, size int) bool { _, err := p.Open(config(rank, size)); return err == nil }
	for _, c := range []struct {
		name       string
		rank, size int
		want       bool
	}{
		{"a rank out of range", 3, 3, false},
		{"a rank far out of range", 1 << 31, 3, false},
		{"a job of another size", 0, 2, false},
		{"nothing else", 0, 3, true},
		{"a rank that is open", 0, 3, false},
	} {
		if openOK(c.rank, c.size) != c.want {
			t.Errorf("%s: want accepted %t", c.name, c.want)
		}
	}
	w.Kill(1)
	if openOK(1, 3) {
		t.Error("a dead rank was opened")
	}
	w.Kill(17) // does nothing
}

func TestConnectRefusesAnotherRanksAddress(t *testing.T) {
	ds := openAll(t, mem.NewNetwork(2), 2)
	for _, c := range []struct {
		p    fabric.Peer
		addr []byte
	}{{1, ds[0].Addr()}, {2, ds[1].Addr()}, {1, nil}} {
		if _, err := ds[0].Connect(c.p, c.addr); err == nil {
			t.Errorf("Connect(%d, %q) is accepted", c.p, c.addr)
		}
	}
}

func TestDeathIsReportedToThoseThatNeverConnectedAndOpenLater(t *testing.T) {
	w := mem.NewNetwork(3)
	var lines []string
	early, err := w.Provider().Open(config(0, 3))
	if err != nil {
		t.Fatal(err)
	}
	w.Kill(2)
	w.Kill(2)
	late, err := w.Provider().Open(config(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		early.Poll(log{0, &lines, nil}, 8)
		late.Poll(log{1, &lines, nil}, 8)
	}
	want := "[0 down 2 rank was killed (rank 2): fabric: peer is down 1 down 2 rank was killed (rank 2): fabric: peer is down]"
	if got := fmt.Sprint(lines); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatARankSentBeforeItsEndArrivesFirst(t *testing.T) {
	w := mem.NewNetwork(2)
	ds := openAll(t, w, 2)
	e, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	back, err := ds[1].Connect(0, ds[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	z := fabric.Segment{Bytes: make([]byte, 8)}
	if err := errors.Join(e.Send(1, 1, nil, nil), e.SendZ(1, 2, nil, z, 1), e.Send(1, 3, nil, nil),
		back.SendZ(1, 4, nil, z, 2)); err != nil {
		t.Fatal(err)
	}
	if err := ds[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := back.Send(1, 0, nil, nil); err != fabric.ErrAgain {
		t.Errorf("Send before PeerDown: %v, want ErrAgain", err)
	}
	var lines []string
	for ds[1].Poll(log{1, &lines, nil}, 1) > 0 {
	}
	// Message 2 was lent and went with its owner, and with it the order of
	// what came after.
	want := []string{
		"1 deliver 0 1 1 0+0 811c9dc5",
		"1 complete 2 rank closed its domain (rank 0): fabric: peer is down",
		"1 down 0 rank closed its domain (rank 0): fabric: peer is down",
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestAtomicRefusesAMisalignedWord(t *testing.T) {
	ds := openAll(t, mem.NewNetwork(2), 2)
	e, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	for shift := range 8 {
		buf := make([]byte, 64)
		r, err := ds[1].Register(buf[shift:], fabric.RemoteAtomic)
		if err != nil {
			t.Fatal(err)
		}
		for off := range 8 {
			m := fabric.Remote{Addr: r.Addr + uint64(off), Len: 8, Key: r.Key}
			err := e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd}, m, 1)
			if aligned := (shift+off)%8 == 0; aligned != (err == nil) || !aligned && !errors.Is(err, fabric.ErrBadRemote) {
				t.Errorf("word at %d of memory at %d: %v", off, shift, err)
			}
		}
	}
	if err := e.Atomic(fabric.Atomic{Kind: 99}, fabric.Remote{}, 1); err != fabric.ErrUnsupported {
		t.Errorf("unknown kind: %v, want ErrUnsupported", err)
	}
}

func TestOneSidedAndRegisterDoNotAllocate(t *testing.T) {
	ds := openAll(t, mem.NewNetwork(2), 2)
	e, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	r, err := ds[1].Register(buf, fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	local := fabric.Segment{Bytes: make([]byte, 4096)}
	var h fabric.Handler = count{new(int)}
	if avg := testing.AllocsPerRun(1000, func() {
		own, err := ds[0].Register(local.Bytes, fabric.LocalWrite)
		local.Region = own
		if err != nil || e.Get(local, r.Remote, 1) != nil || e.Put(local, r.Remote, 1, 2) != nil ||
			e.SendZ(1, 0, nil, local, 3) != nil {
			t.Fatal("refused")
		}
		if ds[1].Poll(h, 64) != 2 || ds[0].Poll(h, 64) != 3 || ds[0].Deregister(own) != nil {
			t.Fatal("events are missing")
		}
	}); avg != 0 {
		t.Errorf("%v allocations", avg)
	}
	if err := ds[0].Deregister(local.Region); err == nil {
		t.Error("a region was deregistered twice")
	}
}

type count struct{ n *int }

func (c count) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { *c.n++ }
func (c count) Notify(fabric.Peer, uint32)                         { *c.n++ }
func (c count) Complete(fabric.Op, error)                          { *c.n++ }
func (c count) PeerDown(fabric.Peer, error)                        { *c.n++ }

func TestWaitKeepsItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ds := openAll(t, mem.NewNetwork(1), 1)
		for _, timeout := range []time.Duration{time.Second, time.Millisecond, time.Hour} {
			start := time.Now()
			if err := ds[0].Wait(timeout); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start); got != timeout {
				t.Errorf("Wait(%v) took %v", timeout, got)
			}
		}
		go func() { time.Sleep(time.Minute); ds[0].Wake() }()
		start := time.Now()
		if err := ds[0].Wait(0); err != nil || time.Since(start) != time.Minute {
			t.Errorf("Wait ended after %v: %v", time.Since(start), err)
		}
	})
}

func BenchmarkPingPong(b *testing.B) {
	ds := openAll(b, mem.NewNetwork(2), 2)
	there, _ := ds[0].Connect(1, ds[1].Addr())
	back, _ := ds[1].Connect(0, ds[0].Addr())
	body := make([]byte, 8)
	var h fabric.Handler = count{new(int)}
	b.ReportAllocs()
	for b.Loop() {
		_ = there.Send(1, 0, nil, body)
		ds[1].Poll(h, 1)
		_ = back.Send(1, 0, nil, body)
		ds[0].Poll(h, 1)
	}
}
