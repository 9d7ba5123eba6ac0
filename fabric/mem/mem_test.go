package mem_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
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
		name   string
		seeded bool
		opts   []mem.Option
	}{
		{"default", false, nil},
		{"depth 3", false, []mem.Option{mem.WithDepth(3)}},
		{"seeded", true, nil},
		{"seeded, depth 3", true, []mem.Option{mem.WithDepth(3)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && (c.opts != nil) != c.seeded {
				t.Skip("the two others have all of it")
			}
			var last *mem.Network
			seed := uint64(0) // of the next job, so that no two are alike
			fabrictest.Run(t, fabrictest.Harness{
				Open: func(t testing.TB, n int) []fabric.Domain {
					opts := c.opts
					if c.seeded {
						seed++
						opts = append(opts[:len(opts):len(opts)], mem.WithSeed(seed))
					}
					last = mem.NewNetwork(n, opts...)
					return openAll(t, last, n)
				},
				Kill:         func(_ testing.TB, rank fabric.Peer) { last.Kill(rank) },
				ChecksRemote: true,
				Writes:       true,
				RingsForRoom: true,
			})
		})
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
	if err := errors.Join(e.Send(1, 1, nil, nil), e.Send(1, 2, nil, nil), back.Flush(2)); err != nil {
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
	want := []string{
		"1 complete 2 <nil>",
		"1 deliver 0 1 1 0+0 811c9dc5",
		"1 deliver 0 1 2 0+0 811c9dc5",
		"1 down 0 talk between goroutines (rank 0): fabric: peer is down: it has closed the transport",
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
		if err != nil || e.Get(local, r.Remote, 1) != nil || e.Put(local, r.Remote, 2) != nil ||
			e.Flush(3) != nil || e.Send(1, 0, nil, nil) != nil {
			t.Fatal("refused")
		}
		if ds[1].Poll(h, 64) != 1 || ds[0].Poll(h, 64) != 3 || ds[0].Deregister(own) != nil {
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
