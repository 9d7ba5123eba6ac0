package pt2pt

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// logged is a log that a test reads.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSuffix(l.b.String(), "\n"), "\n")
}

// listen has the engine log to where the test can read it.
func (e *engine) listen() *logged {
	l := &logged{}
	e.own(func() { e.log = slog.New(slog.NewTextHandler(l, nil)) })
	return l
}

// empty checks that nothing is left of dropped messages.
func (e *engine) empty(dropped int) {
	e.g.t.Helper()
	e.clean()
	e.own(func() {
		for i, p := range e.peers {
			if p.held != 0 || p.unexpected != 0 {
				e.g.t.Errorf("rank %d counts %d messages of rank %d with %d bytes", e.rank, p.held, i, p.unexpected)
			}
		}
		if e.held.messages != 0 || e.held.bytes != 0 {
			e.g.t.Errorf("rank %d counts %d messages with %d bytes", e.rank, e.held.messages, e.held.bytes)
		}
		if n, m := len(e.arrivals.bodies), len(e.arrivals.freeBody); n != m {
			e.g.t.Errorf("rank %d keeps the bytes of %d messages", e.rank, n-m)
		}
		for _, i := range e.arrivals.freeBody {
			if b := e.arrivals.bodies[i]; b != nil {
				e.g.t.Errorf("rank %d keeps %d bytes of no message", e.rank, len(b))
			}
		}
	})
	s := e.loop.Snapshot()
	if n := s.Value("weft_dropped_messages_total"); int(n) != dropped {
		e.g.t.Errorf("rank %d has dropped %v messages, want %d", e.rank, n, dropped)
	}
}

// Messages that nothing can receive any more are dropped and told, those that are
// here and those that come later, and the sends that wait for the receiver end.
func TestAFreedCommunicatorDropsItsMessages(t *testing.T) {
	put := func(s *spy) { s.caps = func(c *fabric.Caps) { c.Put, c.PutFirst = true, true } }
	noGet := func(s *spy) { s.noGet = true }
	plain := func(*spy) {}
	cases := []struct {
		path   string
		n      int
		mode   Mode
		change func(*spy)
		self   bool
		fails  bool
	}{
		{"eager", 0, Standard, plain, false, false},
		{"eager", 100, Standard, plain, false, false},
		{"eager", 100, Ready, plain, false, false},
		{"eager", 100, Buffered, plain, false, false},
		{"synchronous", 100, Synchronous, plain, false, true},
		{"chunks", 12000, Standard, plain, false, false},
		{"announced", 100000, Standard, plain, false, true},
		{"announced", 100000, Synchronous, plain, false, true},
		{"announced", 100000, Ready, plain, false, true},
		{"announced", 100000, Buffered, plain, false, false},
		{"announced, to be written", 100000, Standard, put, false, true},
		{"announced, in fragments", 100000, Standard, noGet, false, true},
		{"self", 100, Standard, plain, true, false},
		{"self", 100, Synchronous, plain, true, true},
		{"self", 100000, Standard, plain, true, true},
		{"self", 100000, Buffered, plain, true, false},
	}
	const id = 12
	for _, c := range cases {
		for _, cid := range []uint32{id, id + 1} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d bytes, mode %d, context %d, late %t", c.path, c.n, c.mode, cid, late), func(t *testing.T) {
					g := newRig(t, 2)
					e := g.engine(0, c.change)
					peer := e
					if !c.self {
						peer = g.engine(1, c.change)
					}
					told := e.listen()
					peer.must(peer.AttachBuffer(Everywhere, make([]byte, c.n+BufferOverhead)))
					e.opened(id, teamOf(t, 1, 0), nil)
					if late {
						e.closed(id)
						e.is("freed", id, phaseFreed)
					}
					h := peer.Isend(g.ctx, c.mode, 0, cid, tag, pattern(c.n, 1))
					if !late {
						_, err := e.Probe(g.ctx, peer.rank, cid, tag)
						e.must(err)
						e.closed(id)
					}
					e.until("the drop", func() bool { return e.contexts.dropped == 1 })
					if n := 0; c.fails && !c.self {
						if e.own(func() { n = e.spy.sent[wire.FIN] }); n != 1 {
							t.Fatalf("the sender is told %d times", n)
						}
					}
					_, err := progress.Wait(&h)
					var named *fabric.Error
					if c.fails && (!errors.Is(err, ErrFreed) || !errors.As(err, &named) || named.Peer != 0) || !c.fails && err != nil {
						t.Errorf("the send ended with %v", err)
					}
					peer.must(peer.FlushBuffer(g.ctx, Everywhere))
					e.is("at the end", id, phaseFreed)
					// What comes next is not disturbed.
					h = peer.Isend(g.ctx, Standard, 0, world, tag, pattern(12000, 2))
					_, err = e.Recv(g.ctx, peer.rank, world, tag, make([]byte, 12000))
					e.must(err)
					_, err = progress.Wait(&h)
					peer.must(err)
					e.empty(1)
					peer.clean()
					want := fmt.Sprintf("rank=0 source=%d tag=%d context=%d bytes=%d", peer.rank, tag, cid, c.n)
					if lines := told.lines(); !strings.Contains(lines[0], want) {
						t.Errorf("the log says %q, want %s", lines, want)
					}
				})
			}
		}
	}
}

// Of a thousand dropped messages ten are told, and the sender may send again as
// before.
func TestDroppedMessagesCountNoMore(t *testing.T) {
	const id, n = 14, 1000
	g := newRig(t, 2)
	e, peer := g.engine(0), g.engine(1)
	told := e.listen()
	l := DefaultLimits
	l.PeerMessages, l.Messages, l.Stall = 10, 100, 0
	e.Limit(l)
	e.opened(id, nil, nil)
	var hs []progress.Handle
	for range n {
		hs = append(hs, peer.Isend(g.ctx, Standard, 0, id, tag, []byte{1}))
		progress.Test(&hs[len(hs)-1]) // to hear what the receiver announces
		e.own(e.loop.Look)
	}
	e.until("Hold", func() bool { return e.peers[1].told == wire.Hold })
	e.closed(id)
	e.is("freed", id, phaseFreed)
	failed := 0
	for i := range hs {
		switch _, err := progress.Wait(&hs[i]); {
		case errors.Is(err, ErrFreed):
			failed++
		case err != nil:
			t.Fatal(err)
		}
	}
	e.until("all messages", func() bool { return e.contexts.dropped == n })
	if failed == 0 || failed > n-10 {
		t.Errorf("%d of %d sends have failed", failed, n)
	}
	if lines := told.lines(); len(lines) != 10 { // 1, 2, 4 to 512
		t.Errorf("%d are told: %q", len(lines), lines)
	}
	peer.until("Open", func() bool { return peer.peers[0].gate == 0 })
	if e.peers[1].told != wire.Open || e.held.stopped != 0 {
		t.Errorf("the peer is told %v, %d are stopped", e.peers[1].told, e.held.stopped)
	}
	e.empty(n)
	peer.clean()
}

// A message that arrives in pieces is dropped whole, wherever the end of the
// communicator comes between them.
func TestAMessageInPiecesIsDroppedWhole(t *testing.T) {
	const id = 16
	for at := range 4 {
		t.Run(fmt.Sprintf("freed at %d", at), func(t *testing.T) {
			g := newRig(t, 2)
			e, peer := g.engine(0), g.raw(1)
			e.opened(id, nil, nil)
			free := func(now int) {
				if now == at {
					e.closed(id)
				}
			}
			free(0)
			piece := pattern(1000, 1)
			peer.send(0, wire.EagerFirst, wire.Imm(id, tag), first(3000), piece)
			e.until("the beginning", func() bool { return e.peers[1].in.total == 3000 })
			free(1)
			peer.send(0, wire.EagerMore, 0, nil, piece)
			e.until("the middle", func() bool { return e.peers[1].in.got == 2000 })
			free(2)
			peer.send(0, wire.EagerMore, 0, nil, piece)
			e.until("the end", func() bool { return e.peers[1].in.total == 0 })
			free(3)
			e.is("freed", id, phaseFreed)
			peer.send(0, wire.EagerFirst, wire.Imm(world, tag), first(3000), piece)
			peer.send(0, wire.EagerMore, 0, nil, piece)
			peer.send(0, wire.EagerMore, 0, nil, piece)
			buf := make([]byte, 3000)
			_, err := e.Recv(g.ctx, 1, world, tag, buf)
			if e.must(err); !bytes.Equal(buf[2000:], piece) {
				t.Error("the next message has other bytes")
			}
			e.empty(1)
		})
	}
}

// Two ranks that have sent to each other what neither receives both end.
func TestLeftoversOfBothRanksEnd(t *testing.T) {
	const id = 18
	g := newRig(t, 2)
	es := []*engine{g.engine(0), g.engine(1)}
	var hs [2]progress.Handle
	for i, e := range es {
		e.opened(id, nil, nil)
		hs[i] = e.Isend(g.ctx, Standard, 1-i, id, tag, make([]byte, 100000))
	}
	for i, e := range es {
		_, err := e.Probe(g.ctx, 1-i, id, tag)
		e.must(err)
	}
	for _, e := range es {
		e.closed(id)
	}
	for i, e := range es {
		if _, err := progress.Wait(&hs[i]); !errors.Is(err, ErrFreed) {
			t.Errorf("the send of %d ended with %v", i, err)
		}
		e.is("at the end", id, phaseFreed)
		e.empty(1)
	}
}

// A leftover waits as long as something may receive it, and a send that is asked
// back is given up by its receiver once.
func TestALeftoverThatIsAskedBack(t *testing.T) {
	const id = 20
	g := newRig(t, 2)
	e, peer := g.engine(0), g.engine(1)
	e.opened(id, nil, nil)
	keep := e.RecvInit(g.ctx, 1, id, tag+1, nil)
	hs := []progress.Handle{
		peer.Isend(g.ctx, Synchronous, 0, id, tag, nil),
		peer.Isend(g.ctx, Synchronous, 0, id, tag, nil),
	}
	e.until("both", func() bool { return e.match.Unexpected() == 2 })
	e.closed(id)
	e.is("with a persistent receive", id, phaseClosed)
	progress.Cancel(hs[0])
	if _, err := progress.Wait(&hs[0]); err != progress.ErrCancelled {
		t.Errorf("a send that is asked back ended with %v", err)
	}
	peer.own(func() {
		peer.loop.Each(peer.Engine, func(r *progress.Request) { peer.Cancel(r, progress.ErrCancelled) })
	})
	progress.Release(&keep) // before the request to give it back has come, or behind it
	if _, err := progress.Wait(&hs[1]); err != progress.ErrCancelled && !errors.Is(err, ErrFreed) {
		t.Errorf("the other ended with %v", err)
	}
	e.is("at the end", id, phaseFreed)
	peer.until("the replies", func() bool { return len(peer.asked) == 0 })
	e.clean()
	peer.clean()
}

// Messages that are here of the library's context are leftovers too; those of the
// neighbouring communicators are not.
func TestLeftoversOfTheLibraryAreDropped(t *testing.T) {
	const id = 22
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	e.opened(id, nil, nil)
	kept := []uint32{world, id - 2, id - 1, id + 2, id + 3}
	for _, cid := range append(kept, id, id+1) {
		peer.send(0, wire.Eager, wire.Imm(cid, tag), nil, nil)
	}
	e.until("all", func() bool { return e.match.Unexpected() == len(kept)+2 })
	e.closed(id)
	left := 0
	if e.own(func() { left = e.match.Unexpected() }); left != len(kept) {
		t.Errorf("%d messages are kept, want %d", left, len(kept))
	}
	for _, cid := range kept {
		_, err := e.Recv(g.ctx, 1, cid, tag, nil)
		e.must(err)
	}
	e.empty(2)
}

// No first packet of a message for a freed communicator is kept.
func TestLateMessagesAreNotKept(t *testing.T) {
	const id = 24
	imm := wire.Imm(id, tag)
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	e.opened(id, nil, nil)
	e.closed(id)
	peer.send(0, wire.Eager, imm, nil, nil)
	peer.send(0, wire.EagerReady, imm, nil, nil)
	peer.send(0, wire.EagerSync, imm, wire.MakeNumber(make([]byte, wire.NumberSize), 71), nil)
	peer.send(0, wire.RTS, imm, rts(fabric.Remote{}, 100, 72), nil)
	peer.send(0, wire.EagerFirst, imm, first(2), []byte{1})
	peer.send(0, wire.EagerMore, 0, nil, []byte{2})
	peer.send(0, wire.Eager, wire.Imm(world, tag), nil, nil)
	_, err := e.Recv(g.ctx, 1, world, tag, nil)
	e.must(err)
	if e.empty(5); t.Failed() {
		return // else for ever in wait of the replies
	}
	for _, req := range []uint64{71, 72} {
		p := peer.next(wire.FIN)
		if p.imm != req || wire.FINHeader(p.hdr).Outcome() != wire.Freed {
			t.Errorf("the reply to %d is %+v", req, p)
		}
	}
}

// A receive whose call has returned is heard of by Close, though another goroutine
// owns the loop and has not begun it.
func TestQueuedReceivesOutliveTheirCommunicator(t *testing.T) {
	const id = 26
	g := newRig(t, 2)
	e, peer := g.engine(0), g.engine(1)
	e.opened(id, nil, nil)
	var h progress.Handle
	e.own(func() {
		queued := make(chan struct{})
		go func() {
			h = e.Irecv(g.ctx, 1, id, tag, nil)
			close(queued)
		}()
		<-queued
		e.Close(id)
	})
	e.is("with a receive that was queued", id, phaseClosed)
	peer.must(peer.Send(g.ctx, Synchronous, 0, id, tag, nil))
	_, err := progress.Wait(&h)
	e.must(err)
	e.is("at the end", id, phaseFreed)
	e.empty(0)
}
