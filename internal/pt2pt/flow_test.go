package pt2pt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A rank that computes and does not receive holds a bounded number of bytes;
// the rest waits in the sender's buffers. Whoever wants the last message first
// still gets it, and all of it comes in order.
func TestAFloodOfARankThatDoesNotReceiveIsHeldUpAtTheSender(t *testing.T) {
	const (
		n    = 8192
		many = 1500 // 12 MB
	)
	g := newRig(t, 2)
	a, b := g.engine(0), g.engine(1)
	var hs []progress.Handle
	for i := range many {
		hs = append(hs, a.Isend(g.ctx, Standard, 1, world, tag, pattern(n, i)))
	}
	last := a.Isend(g.ctx, Standard, 1, world, tag+1, pattern(n, many))
	// Nobody receives: the progress threads alone bring the announcements over.
	b.until("everything announced", func() bool { return b.match.Unexpected() == many+1 })
	b.own(func() {
		// What was in the queue when it was sent comes on top.
		high := DefaultLimits.PeerBytes
		if got, most := b.peers[0].unexpected, high+3*256*n; got > most || got < high {
			t.Errorf("rank 1 holds %d bytes, want %d to %d", got, high, most)
		}
		if b.spy.sent[wire.Flow] != 1 {
			t.Errorf("%d Flow were sent", b.spy.sent[wire.Flow])
		}
	})
	in := make([]byte, n)
	_, err := b.Recv(g.ctx, 0, world, tag+1, in)
	a.must(err)
	if !bytes.Equal(in, pattern(n, many)) {
		t.Error("the last message, taken first, has other bytes")
	}
	for i := range many {
		if _, err := b.Recv(g.ctx, 0, world, tag, in); err != nil || !bytes.Equal(in, pattern(n, i)) {
			t.Fatalf("message %d came with other bytes or not (%v)", i, err)
		}
	}
	a.must(progress.WaitAll(hs, nil))
	_, err = progress.Wait(&last)
	a.must(err)
	b.own(func() {
		if b.spy.sent[wire.Flow] != 2 {
			t.Errorf("%d Flow were sent", b.spy.sent[wire.Flow])
		}
	})
	a.until("the peer to be open again", func() bool { return a.peers[1].gate == 0 })
	// Eager again.
	var before int
	a.own(func() { before = a.spy.sent[wire.RTS] })
	a.must(a.Send(g.ctx, Standard, 1, world, tag, in))
	_, err = b.Recv(g.ctx, 0, world, tag, in)
	a.must(err)
	a.own(func() {
		if a.spy.sent[wire.RTS] != before {
			t.Error("afterwards a short message was announced still")
		}
	})
	a.clean()
	b.clean()
}

func TestAFloodOfOneselfIsHeldUp(t *testing.T) {
	g := newRig(t, 1)
	e := g.engine(0)
	const n, many = 8192, 700
	var hs []progress.Handle
	for i := range many {
		hs = append(hs, e.Isend(g.ctx, Standard, 0, world, tag, pattern(n, i)))
	}
	e.own(func() {
		if got := e.peers[0].unexpected; got > DefaultLimits.PeerBytes+n {
			t.Errorf("%d bytes of one's own messages are held, want at most %d", got, DefaultLimits.PeerBytes+n)
		}
	})
	in := make([]byte, n)
	for i := range many {
		if _, err := e.Recv(g.ctx, 0, world, tag, in); err != nil || !bytes.Equal(in, pattern(n, i)) {
			t.Fatalf("message %d came with other bytes or not (%v)", i, err)
		}
	}
	e.must(progress.WaitAll(hs, nil))
	e.clean()
}

// stuffed is a rank 0 whose way to rank 1, driven by the test and not polling,
// is full: what is sent waits in the backlog.
func stuffed(t *testing.T, depth int) (*rig, *engine, *raw) {
	g := newRig(t, 2, mem.WithDepth(depth))
	e, peer := g.engine(0), g.raw(1)
	for range depth {
		e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
	}
	return g, e, peer
}

func TestACanceledReceiveLeavesItsMessageToTheNext(t *testing.T) {
	g := newRig(t, 2)
	a, b := g.engine(0), g.engine(1)
	ctx, cancel := context.WithCancel(g.ctx)
	unused := bytes.Repeat([]byte{0xee}, 8)
	h := b.Irecv(ctx, 0, world, tag, unused)
	cancel()
	st, err := progress.Wait(&h)
	if !errors.Is(err, context.Canceled) || st != progress.Empty {
		t.Errorf("Wait = %+v, %v", st, err)
	}
	a.must(a.Send(g.ctx, Standard, 1, world, tag, []byte("to next!")))
	in := make([]byte, 8)
	_, err = b.Recv(g.ctx, 0, world, tag, in)
	a.must(err)
	if string(in) != "to next!" || !bytes.Equal(unused, bytes.Repeat([]byte{0xee}, 8)) {
		t.Errorf("the next receive got %q, the canceled one %q", in, unused)
	}
	b.clean()
}

func TestASendIsAbandonedOnlyWhileNothingIsHandedOver(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
	}{{"eager", 100}, {"chunks", 9000}, {"RTS", 20000}} {
		t.Run(c.name+" in the backlog", func(t *testing.T) {
			g, e, peer := stuffed(t, 2)
			ctx, cancel := context.WithCancel(g.ctx)
			h := e.Isend(ctx, Standard, 1, world, tag, make([]byte, c.n))
			after := e.Isend(g.ctx, Standard, 1, world, tag+1, []byte("behind"))
			cancel()
			if _, err := progress.Wait(&h); !errors.Is(err, context.Canceled) {
				t.Errorf("Wait = %v", err)
			}
			if n := e.spy.registered.Load(); n != 0 {
				t.Errorf("%d regions are registered still", n)
			}
			for range 2 {
				peer.next(wire.Eager)
			}
			if p := peer.next(wire.Eager); string(p.body) != "behind" {
				t.Errorf("%d bytes came in place of the message behind the abandoned one", len(p.body))
			}
			_, err := progress.Wait(&after)
			e.must(err)
			e.clean()
		})
	}
	t.Run("announced", func(t *testing.T) {
		g := newRig(t, 2)
		e, peer := g.engine(0), g.raw(1)
		ctx, cancel := context.WithCancel(g.ctx)
		h := e.Isend(ctx, Standard, 1, world, tag, make([]byte, 20000))
		req := wire.RTSHeader(peer.next(wire.RTS).hdr).Request()
		cancel()
		for range 100 {
			if ended, _, err := progress.Test(&h); ended || err != nil {
				t.Fatalf("a send that the receiver knows of ended: %v", err)
			}
		}
		peer.send(0, wire.FIN, req, wire.MakeFIN(make([]byte, 8), wire.Received), nil)
		if _, err := progress.Wait(&h); err != nil {
			t.Error(err)
		}
		e.clean()
	})
	t.Run("to oneself", func(t *testing.T) {
		g := newRig(t, 1)
		e := g.engine(0)
		ctx, cancel := context.WithCancel(g.ctx)
		h := e.Isend(ctx, Standard, 0, world, tag, make([]byte, 20000))
		cancel()
		if _, err := progress.Wait(&h); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait = %v", err)
		}
		e.clean()
	})
}

// The cause that the caller gave its context is in the error, and so is the
// context's own.
func TestACanceledCallTellsTheCause(t *testing.T) {
	why := errors.New("no more time for this")
	for _, test := range []bool{false, true} {
		t.Run(fmt.Sprintf("test=%t", test), func(t *testing.T) {
			g := newRig(t, 1)
			e := g.engine(0)
			ctx, cancel := context.WithCancelCause(g.ctx)
			h := e.Irecv(ctx, 0, world, tag, nil)
			cancel(why)
			var err error
			if test {
				_, _, err = progress.Test(&h)
			} else {
				_, err = progress.Wait(&h)
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
				t.Errorf("error %v: want context.Canceled and the cause in it", err)
			}
		})
	}
}

// A message of many packets is not interrupted by later ones while it waits
// for room.
func TestABacklogKeepsItsOrder(t *testing.T) {
	g, e, peer := stuffed(t, 3)
	lengths := []int{9000, 5, 20000, 16000, 0, 8192}
	var hs []progress.Handle
	for i, n := range lengths {
		hs = append(hs, e.Isend(g.ctx, Standard, 1, world, int32(i), pattern(n, i)))
	}
	for range 3 {
		peer.next(wire.Eager)
	}
	wait := func() packet { // any packet
		for len(peer.got) == 0 {
			peer.d.Poll(peer, 1)
			if g.ctx.Err() != nil {
				t.Fatal("no packet came")
			}
		}
		p := peer.got[0]
		peer.got = peer.got[1:]
		return p
	}
	for i, n := range lengths {
		p := wait()
		if _, tg := wire.Match(p.imm); int(tg) != i {
			t.Fatalf("message %d came in place of %d", tg, i)
		}
		switch {
		case n >= 16384:
			if p.kind != wire.RTS {
				t.Fatalf("message %d came as kind %#x", i, p.kind)
			}
			peer.send(0, wire.FIN, wire.RTSHeader(p.hdr).Request(), wire.MakeFIN(make([]byte, 8), wire.Received), nil)
		case n > 8192:
			body := p.body
			for len(body) < n {
				p := wait()
				if p.kind != wire.EagerMore {
					t.Fatalf("kind %#x came in the middle of message %d", p.kind, i)
				}
				body = append(body, p.body...)
			}
			if !bytes.Equal(body, pattern(n, i)) {
				t.Fatalf("message %d came with other bytes", i)
			}
		default:
			if p.kind != wire.Eager || !bytes.Equal(p.body, pattern(n, i)) {
				t.Fatalf("message %d came as kind %#x with other bytes", i, p.kind)
			}
		}
	}
	e.must(progress.WaitAll(hs, nil))
	e.clean()
}
