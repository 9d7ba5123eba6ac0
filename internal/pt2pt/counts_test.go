package pt2pt

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/progress/counters"
)

// Each message is counted once at either end, by the way that it went.
func TestMessagesAreCountedByTheirPath(t *testing.T) {
	put := func(s *spy) { s.caps = func(c *fabric.Caps) { c.Put, c.PutFirst = true, true } }
	noGet := func(s *spy) { s.noGet = true }
	cases := []struct {
		path   string
		n      int
		mode   Mode
		change func(*spy)
	}{
		{"eager", 0, Standard, nil}, {"eager", 100, Standard, nil}, {"eager", 100, Synchronous, nil}, {"eager", 100, Ready, nil},
		{"eager", 6000, Buffered, nil}, {"chunks", 12000, Standard, nil}, {"get", 100000, Standard, nil},
		{"get", 100000, Buffered, nil}, {"put", 100000, Standard, put}, {"fragments", 100000, Standard, noGet},
		{"self", 100, Standard, nil}, {"self", 100000, Standard, nil}, {"self", 100, Buffered, nil},
	}
	for _, c := range cases {
		for _, late := range []bool{false, true} {
			if late && c.mode == Ready {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d bytes, mode %d, late %t", c.path, c.n, c.mode, late), func(t *testing.T) {
				g := newRig(t, 2)
				var change []func(*spy)
				if c.change != nil {
					change = append(change, c.change)
				}
				a, b := g.engine(0, change...), g.engine(1, change...)
				if c.path == "self" {
					b = a
				}
				a.must(a.AttachBuffer(Everywhere, make([]byte, c.n+BufferOverhead)))
				var sh, rh progress.Handle
				buf := make([]byte, c.n)
				const times = 3
				for range times {
					if !late {
						rh = b.Irecv(g.ctx, a.rank, world, tag, buf)
					}
					sh = a.Isend(g.ctx, c.mode, b.rank, world, tag, pattern(c.n, 1))
					if late {
						_, err := b.Probe(g.ctx, a.rank, world, tag)
						b.must(err)
						rh = b.Irecv(g.ctx, a.rank, world, tag, buf)
					}
					_, err := progress.WaitResult(&sh)
					a.must(err)
					_, err = progress.WaitResult(&rh)
					b.must(err)
					a.must(a.FlushBuffer(g.ctx, Everywhere))
				}
				check := func(s counters.Snapshot, direction string) {
					t.Helper()
					for _, f := range s.Families {
						if f.Name != "weft_messages_total" {
							continue
						}
						for _, r := range f.Rows {
							if r.Values[2] == direction && r.Values[1] != c.path {
								t.Errorf("%d messages of the path %v", r.Value, r.Values)
							}
						}
					}
					n := s.Value("weft_messages_total", "mem", c.path, direction)
					bytes := s.Value("weft_bytes_total", "mem", c.path, direction)
					if n != times || bytes != uint64(times*c.n) {
						t.Errorf("%s: %d messages of %d bytes are counted as %d, of %d in all", direction, times, c.n, n, bytes)
					}
				}
				check(a.loop.Snapshot(), "sent")
				check(b.loop.Snapshot(), "received")
				s := b.loop.Snapshot()
				for _, gauge := range []string{"weft_posted_receives", "weft_unexpected_messages", "weft_unexpected_bytes", "weft_requests", "weft_backlog"} {
					if n := s.Value(gauge); n != 0 {
						t.Errorf("%s is %d at the end", gauge, n)
					}
				}
				if n := s.Value("weft_rendezvous", "sent") + s.Value("weft_rendezvous", "received"); n != 0 {
					t.Errorf("%d rendezvous are under way at the end", n)
				}
				if n := s.Value("weft_polls_total", "true") + s.Value("weft_polls_total", "false"); n == 0 && c.path != "self" {
					t.Error("no poll is counted")
				}
			})
		}
	}
}

// What waits is shown while it does, and the most there was afterwards.
func TestGaugesShowWhatWaits(t *testing.T) {
	g := newRig(t, 3, mem.WithDepth(2))
	e, peer := g.engine(0), g.raw(1)
	g.raw(2)
	var hs []progress.Handle
	for range 4 {
		hs = append(hs, e.Irecv(g.ctx, 1, world, tag, nil))
	}
	for range 3 {
		peer.send(0, 1, world<<32|99, nil, make([]byte, 10))
	}
	e.until("the messages", func() bool { return e.match.Unexpected() == 3 })
	for range 5 {
		hs = append(hs, e.Isend(g.ctx, Standard, 2, world, tag, nil))
	}
	hs = append(hs, e.Irecv(g.ctx, 2, world, tag, nil))
	s := e.loop.Snapshot()
	for name, want := range map[string]uint64{"weft_posted_receives": 5, "weft_unexpected_messages": 3, "weft_unexpected_bytes": 30,
		"weft_backlog": 3, "weft_backpressure_total": 3, "weft_requests": 8} {
		if got := s.Value(name); got != want {
			t.Errorf("%s is %d instead of %d", name, got, want)
		}
	}
	buf := make([]byte, 10)
	for range 3 {
		if _, err := e.Recv(g.ctx, 1, world, 99, buf); err != nil {
			t.Fatal(err)
		}
	}
	g.net.Kill(2)
	if _, err := progress.Wait(&hs[len(hs)-1]); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a receive from the dead ended with %v", err)
	}
	s = e.loop.Snapshot()
	if s.Value("weft_unexpected_bytes") != 0 || s.Value("weft_unexpected_bytes_max") != 30 || s.Value("weft_unexpected_messages_max") != 3 ||
		s.Value("weft_peers_down_total", "died") != 1 || s.Value("weft_peers_down_total", "left") != 0 || s.Value("weft_backlog") != 0 {
		t.Errorf("at the end: %+v", s)
	}
	for i := range 4 {
		progress.Cancel(hs[i])
	}
	for i := range len(hs) - 1 {
		progress.Wait(&hs[i])
	}
}

// The time in which peers accept less is counted by what they accept.
func TestTheTimeOfEachLevelIsCounted(t *testing.T) {
	g := newRig(t, 3)
	e, peers := g.engine(0), []*raw{1: g.raw(1), 2: g.raw(2)}
	e.loop.Exclusive(func() { e.loop.Conn(1); e.loop.Conn(2) })
	at := func(reason string) uint64 {
		s := e.loop.Snapshot()
		return s.Value("weft_backpressure_seconds_total", reason)
	}
	for _, step := range []struct {
		peer           int
		level          wire.Level
		announce, hold bool // the time grows then
	}{
		{1, wire.Announce, true, false}, {2, wire.Announce, true, false}, {1, wire.Hold, true, true},
		{2, wire.Hold, false, true}, {1, wire.Open, false, true}, {2, wire.Open, false, false},
	} {
		peers[step.peer].send(0, wire.Flow, uint64(step.level), nil, nil)
		e.until("the level", func() bool { return e.peers[step.peer].takes == step.level })
		announce, hold := at("announce"), at("hold")
		for begun := time.Now(); time.Since(begun) == 0; { // so that what goes on has grown
		}
		if step.announce && at("announce") == announce || step.hold && at("hold") == hold {
			t.Errorf("after %+v the times of announce and hold stay at %d, %d", step, announce, hold)
		}
		if !step.announce && at("announce") != announce || !step.hold && at("hold") != hold {
			t.Errorf("after %+v the times of announce and hold go from %d, %d to %d, %d", step, announce, hold, at("announce"), at("hold"))
		}
	}
	peers[1].send(0, wire.Flow, uint64(wire.Hold), nil, nil)
	e.until("the level", func() bool { return e.peers[1].takes == wire.Hold })
	g.net.Kill(1)
	e.until("its death", func() bool { return e.peers[1].down })
	if hold := at("hold"); hold != at("hold") {
		t.Error("the time goes on after the peer's death")
	}
}
