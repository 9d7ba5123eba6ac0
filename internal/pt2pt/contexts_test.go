package pt2pt

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// opened makes a communicator.
func (e *engine) opened(id uint32, own, remote *group.Map) {
	e.g.t.Helper()
	ok := false
	if e.own(func() { ok = e.Reserve(id) && e.Open(id, own, remote) }); !ok {
		e.g.t.Fatalf("rank %d can't make communicator %d", e.rank, id)
	}
}

// closed frees a communicator.
func (e *engine) closed(id uint32) { e.own(func() { e.Close(id) }) }

// is checks how far a communicator is.
func (e *engine) is(what string, id uint32, want phase) {
	e.g.t.Helper()
	var c communicator
	known := false
	e.own(func() {
		if p := e.contexts.known[id]; p != nil {
			c, known = *p, true
		}
	})
	if !known || c.phase != want {
		e.g.t.Fatalf("%s: communicator %d is known %t, in phase %d with %+v, want %d", what, id, known, c.phase, c, want)
	}
}

// An id is one creation's, and then one communicator's, until it has rested.
func TestAnIdIsReservedOnce(t *testing.T) {
	e := newRig(t, 1).engine(0)
	const id = 6
	reserve := func(what string, id uint32, want bool) {
		t.Helper()
		got := false
		if e.own(func() { got = e.Reserve(id) }); got != want {
			t.Errorf("%s: reserving %d is %t", what, id, got)
		}
	}
	open := func(what string, want bool) {
		t.Helper()
		got := false
		if e.own(func() { got = e.Open(id, nil, nil) }); got != want {
			t.Errorf("%s: Open is %t", what, got)
		}
	}
	for _, never := range []uint32{0, 1, 7, Creation, Creation + 1} {
		reserve("no communicator's id", never, false)
	}
	open("without a reservation", false)
	reserve("the first", id, true)
	reserve("a second creation", id, false)
	e.own(func() { e.Unreserve(id) })
	open("given up", false)
	reserve("given up", id, true)
	open("reserved", true)
	open("live", false)
	reserve("live", id, false)
	e.own(func() { e.Unreserve(id) })
	reserve("live, and given up in vain", id, false)
	e.closed(id)
	reserve("freed", id, false)
	open("freed", false)
	for i := range uint32(quarantine) {
		reserve("freed, of many", id, false)
		e.opened(100+2*i, nil, nil)
		e.closed(100 + 2*i)
	}
	reserve("rested", id, true)
	e.opened(id+2, nil, nil)
	e.closed(id + 2)
	reserve("rested, the next", 100, true)
	for i := uint32(1); i < quarantine; i++ {
		reserve("freed later", 100+2*i, false)
	}
}

// What is kept of freed communicators is bounded.
func TestAMillionCommunicatorsLeaveLittle(t *testing.T) {
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 50_000
	}
	e := newRig(t, 1).engine(0)
	rng := rand.New(rand.NewPCG(1, 2))
	m, err := group.New([]int{0})
	e.must(err)
	var before, after runtime.MemStats
	cycle := func(n int) {
		for range n {
			e.own(func() {
				id := rng.Uint32() &^ 1
				for !e.Reserve(id) {
					id = rng.Uint32() &^ 1
				}
				if !e.Open(id, m, nil) {
					t.Fatalf("%d can't be opened", id)
				}
				e.Close(id)
			})
		}
		runtime.GC()
	}
	cycle(2 * quarantine)
	runtime.ReadMemStats(&before)
	cycle(n)
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d communicators have left %d bytes", n, grown)
	}
	if s := &e.contexts; len(s.known) != quarantine || len(s.rest) != quarantine || e.unlike != 0 || int(e.shut) != quarantine {
		t.Errorf("%d ids are known, %d rest, %d have ranks and %d are shut", len(s.known), len(s.rest), e.unlike, e.shut)
	}
}

// However many goroutines propose the same ids, each is one's at a time.
func TestReservationsOfManyGoroutinesDoNotMeet(t *testing.T) {
	e := newRig(t, 1).engine(0)
	const ids, each = 4, 300
	var users [ids]atomic.Int32
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k), 3))
			for range each {
				i := rng.IntN(ids)
				id, ok := uint32(2+2*i), false
				e.loop.Exclusive(func() { ok = e.Reserve(id) })
				if !ok {
					continue
				}
				if n := users[i].Add(1); n != 1 {
					t.Errorf("%d creations have reserved %d", n, id)
				}
				runtime.Gosched()
				users[i].Add(-1)
				e.loop.Exclusive(func() { e.Unreserve(id) })
			}
		})
	}
	wg.Wait()
	if n := len(e.contexts.known); n != 0 {
		t.Errorf("%d ids are left", n)
	}
}

// A message may come before its communicator is made here, whatever its length.
func TestMessagesComeBeforeTheirCommunicator(t *testing.T) {
	for _, n := range []int{0, 100, 12000, 100000} {
		for _, mode := range []Mode{Standard, Synchronous} {
			for _, reserved := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d bytes, mode %d, reserved %t", n, mode, reserved), func(t *testing.T) {
					g := newRig(t, 4)
					a, b := g.engine(3), g.engine(0)
					// Another communicator has been freed: there are ids to be told from.
					b.opened(8, nil, nil)
					b.closed(8)
					if reserved {
						b.own(func() { b.Reserve(team) })
					}
					a.opened(team, teamMap(t), nil)
					h := a.Isend(g.ctx, mode, 0, team, tag, pattern(n, 1))
					for here, dropped := 0, uint64(0); here == 0; {
						b.own(func() {
							b.loop.Look()
							here, dropped = b.match.Unexpected(), b.contexts.dropped
						})
						if dropped > 0 || g.ctx.Err() != nil {
							t.Fatalf("the message is not kept, %d are dropped", dropped)
						}
						runtime.Gosched()
					}
					if reserved {
						b.own(func() { b.Open(team, teamMap(t), nil) })
					} else {
						b.opened(team, teamMap(t), nil)
					}
					buf := make([]byte, n)
					if res, err := b.Recv(g.ctx, AnySource, team, tag, buf); err != nil || res.Source != 0 || res.Bytes != uint64(n) {
						t.Errorf("received %+v, %v", res, err)
					}
					_, err := progress.Wait(&h)
					a.must(err)
					b.closed(team)
					b.is("at the end", team, phaseFreed)
					a.clean()
					b.clean()
				})
			}
		}
	}
}

// A freed communicator ends behind the last of what uses it. It is deaf before, if
// nothing of that can receive.
func TestWhatIsUnderWayOutlivesItsCommunicator(t *testing.T) {
	const id = 10
	type pending struct {
		what string
		deaf bool // it receives nothing
		do   func(t *testing.T, e, peer *engine) (end func())
	}
	buf := make([]byte, 100000)
	wait := func(e *engine, h *progress.Handle) {
		e.g.t.Helper()
		_, err := progress.Wait(h)
		e.must(err)
	}
	send := func(peer *engine, n int) { peer.must(peer.Send(peer.g.ctx, Standard, 0, id, tag, buf[:n])) }
	cases := []pending{
		{"a receive", false, func(t *testing.T, e, peer *engine) func() {
			h := e.Irecv(e.g.ctx, AnySource, id, tag, buf)
			return func() { send(peer, 8); wait(e, &h) }
		}},
		{"a receive of the library", false, func(t *testing.T, e, peer *engine) func() {
			h := e.Irecv(e.g.ctx, 1, id+1, tag, buf)
			return func() { peer.must(peer.Send(e.g.ctx, Standard, 0, id+1, tag, nil)); wait(e, &h) }
		}},
		{"a receive that is cancelled", false, func(t *testing.T, e, peer *engine) func() {
			h := e.Irecv(e.g.ctx, AnySource, id, tag, buf)
			return func() { progress.Cancel(h); progress.Wait(&h) }
		}},
		{"a persistent receive at rest", false, func(t *testing.T, e, peer *engine) func() {
			h := e.RecvInit(e.g.ctx, 1, id, tag, buf)
			return func() {
				for range 3 {
					s := peer.Isend(e.g.ctx, Synchronous, 0, id, tag, buf)
					e.must(progress.Restart(h))
					wait(e, &h)
					wait(peer, &s)
					e.is("at rest", id, phaseClosed)
				}
				progress.Release(&h)
			}
		}},
		{"a persistent receive that is freed while it is active", false, func(t *testing.T, e, peer *engine) func() {
			h := e.RecvInit(e.g.ctx, 1, id, tag, buf)
			e.must(progress.Restart(h))
			progress.Release(&h)
			return func() { send(peer, 8); e.until("the message", func() bool { return e.match.Posted() == 1 }) }
		}},
		{"a persistent send", true, func(t *testing.T, e, peer *engine) func() {
			h := e.SendInit(e.g.ctx, Standard, 1, id, tag, buf)
			return func() {
				r := peer.Irecv(e.g.ctx, 0, id, tag, make([]byte, len(buf)))
				e.must(progress.Restart(h))
				wait(e, &h)
				wait(peer, &r)
				progress.Release(&h)
			}
		}},
		{"a send", true, func(t *testing.T, e, peer *engine) func() {
			h := e.Isend(e.g.ctx, Standard, 1, id, tag, buf)
			return func() {
				_, err := peer.Recv(e.g.ctx, 0, id, tag, make([]byte, len(buf)))
				peer.must(err)
				wait(e, &h)
			}
		}},
		{"a buffered send", true, func(t *testing.T, e, peer *engine) func() {
			e.must(e.AttachBuffer(id, make([]byte, len(buf)+BufferOverhead)))
			e.must(e.Send(e.g.ctx, Buffered, 1, id, tag, buf))
			h := e.IflushBuffer(e.g.ctx, id)
			return func() {
				_, err := peer.Recv(e.g.ctx, 0, id, tag, make([]byte, len(buf)))
				peer.must(err)
				wait(e, &h)
				if e.own(func() {}); e.attached[id] != nil {
					t.Error("its memory is attached still")
				}
			}
		}},
		{"a send that begins behind the end", false, func(t *testing.T, e, peer *engine) func() {
			keep := e.RecvInit(e.g.ctx, 1, id, tag, nil)
			return func() {
				h := e.Isend(e.g.ctx, Standard, 1, id, tag, buf)
				progress.Release(&keep)
				e.is("with a send", id, phaseDeaf)
				_, err := peer.Recv(e.g.ctx, 0, id, tag, make([]byte, len(buf)))
				peer.must(err)
				wait(e, &h)
			}
		}},
		{"a pair", false, func(t *testing.T, e, peer *engine) func() {
			h := e.Isendrecv(e.g.ctx, id, buf, 1, tag, buf[:8], 1, tag)
			return func() {
				_, err := peer.Recv(e.g.ctx, 0, id, tag, make([]byte, len(buf)))
				peer.must(err)
				send(peer, 8)
				wait(e, &h)
			}
		}},
		{"a matched message", true, func(t *testing.T, e, peer *engine) func() {
			s := peer.Isend(e.g.ctx, Standard, 0, id, tag, buf)
			m, _, err := e.Mprobe(e.g.ctx, 1, id, tag)
			e.must(err)
			return func() {
				_, err := e.Mrecv(e.g.ctx, &m, make([]byte, len(buf)))
				e.must(err)
				wait(peer, &s)
			}
		}},
		{"a probe", false, func(t *testing.T, e, peer *engine) func() {
			var m Message
			done := make(chan error, 1)
			go func() {
				var err error
				m, _, err = e.Mprobe(e.g.ctx, 1, id, tag)
				done <- err
			}()
			e.until("the probe", func() bool { return !e.probes.Empty() })
			return func() {
				send(peer, 8)
				e.must(<-done)
				e.is("with a matched message", id, phaseDeaf)
				_, err := e.Mrecv(e.g.ctx, &m, buf)
				e.must(err)
			}
		}},
		{"two collective calls", false, func(t *testing.T, e, peer *engine) func() {
			e.own(func() {
				for range 2 {
					if !e.Hold(id) {
						t.Error("a collective call can't begin")
					}
				}
			})
			return func() {
				e.own(func() { e.Release(id) })
				h := e.Irecv(e.g.ctx, 1, id+1, tag, buf)
				peer.must(peer.Send(e.g.ctx, Standard, 0, id+1, tag, nil))
				wait(e, &h)
				e.is("in a collective call", id, phaseClosed)
				e.own(func() { e.Release(id) })
			}
		}},
	}
	for _, c := range cases {
		for _, mapped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ranks of its own %t", c.what, mapped), func(t *testing.T) {
				g := newRig(t, 2)
				e, peer := g.engine(0), g.engine(1)
				var m *group.Map
				if mapped {
					var err error
					m, err = group.New([]int{1, 0})
					e.must(err)
				}
				e.opened(id, m, nil)
				end := c.do(t, e, peer)
				e.closed(id)
				want := phaseClosed
				if c.deaf {
					want = phaseDeaf
				}
				e.is("freed", id, want)
				end()
				e.is("at the end", id, phaseFreed)
				e.own(func() {
					if e.Hold(id) {
						t.Error("a collective call begins in a freed communicator")
					}
					if e.unlike != 0 || e.contexts.claimed != 0 || e.contexts.dropped != 0 {
						t.Errorf("%d have ranks of their own, %d messages are taken, %d dropped", e.unlike, e.contexts.claimed, e.contexts.dropped)
					}
				})
				e.clean()
				peer.clean()
			})
		}
	}
}

// A receive that comes too late fails: its call is a mistake that package mpi does
// not let through, unless another goroutine frees the communicator meanwhile.
func TestAReceiveInADeafCommunicatorFails(t *testing.T) {
	g := newRig(t, 2)
	e := g.engine(0)
	e.opened(4, nil, nil)
	h := e.SendInit(g.ctx, Standard, 1, 4, tag, nil)
	e.closed(4)
	e.is("with a persistent send", 4, phaseDeaf)
	if _, err := e.Recv(g.ctx, AnySource, 4, tag, nil); err != ErrFreed {
		t.Errorf("a receive ended with %v", err)
	}
	if _, err := e.Probe(g.ctx, 1, wire.User(4), tag); err != ErrFreed {
		t.Errorf("a probe ended with %v", err)
	}
	progress.Release(&h)
	e.is("at the end", 4, phaseFreed)
}
