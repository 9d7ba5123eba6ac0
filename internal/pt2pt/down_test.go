package pt2pt

import (
	"bytes"
	"cmp"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Each case brings operations with rank 1 to one step; then rank 1 dies.
func TestADeathEndsWhatNeedsThePeerAtEveryStep(t *testing.T) {
	remote := fabric.Remote{Addr: 1 << 20, Len: 1 << 20, Key: 1<<32 | 1}
	imm := wire.Imm(world, tag)
	for _, c := range []struct {
		name   string
		change func(*spy)
		depth  int
		step   uint8 // of the request, once it is where it should be
		start  func(g *rig, e *engine, peer *raw) progress.Handle
	}{
		{name: "a posted receive", step: stepPosted, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			return e.Irecv(g.ctx, 1, world, tag, make([]byte, 8))
		}},
		{name: "a posted receive with any tag", step: stepPosted, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			return e.Irecv(g.ctx, 1, world, AnyTag, make([]byte, 8))
		}},
		{name: "a receive of chunks", step: stepChunked, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			peer.send(0, wire.EagerFirst, imm, first(9000), make([]byte, 2000))
			return e.Irecv(g.ctx, 1, world, tag, make([]byte, 9000))
		}},
		{name: "a wildcard receive of chunks", step: stepChunked, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			peer.send(0, wire.EagerFirst, imm, first(9000), make([]byte, 2000))
			return e.Irecv(g.ctx, AnySource, world, AnyTag, make([]byte, 9000))
		}},
		{name: "a receive of fragments", step: stepData, change: func(s *spy) { s.noGet = true }, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			peer.send(0, wire.RTS, imm, rts(remote, 1<<20, 5), nil)
			h := e.Irecv(g.ctx, 1, world, tag, make([]byte, 1<<20))
			op := wire.CTSHeader(peer.next(wire.CTS).hdr).Request()
			peer.send(0, wire.Data, op, wire.MakeNumber(make([]byte, 8), 0), make([]byte, 8192))
			return h
		}},
		{name: "an eager send in the backlog", depth: 1, step: stepEager, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
			return e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 100))
		}},
		{name: "a send of chunks half gone", depth: 2, step: stepChunks, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			return e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 16000))
		}},
		{name: "an announcement in the backlog", depth: 1, step: stepRTS, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
			return e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 20000))
		}},
		{name: "an announced send", step: stepAwait, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			return e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 20000))
		}},
		{name: "a send of fragments half gone", depth: 2, step: stepFrags, start: func(g *rig, e *engine, peer *raw) progress.Handle {
			h := e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 1<<20))
			req := wire.RTSHeader(peer.next(wire.RTS).hdr).Request()
			peer.send(0, wire.CTS, req, wire.MakeCTS(make([]byte, wire.CTSSize), 77, 1<<20, false), nil)
			return h
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, 3, mem.WithDepth(cmp.Or(c.depth, 256)))
			var changes []func(*spy)
			if c.change != nil {
				changes = append(changes, c.change)
			}
			e, peer, other := g.engine(0, changes...), g.raw(1), g.engine(2)
			h := c.start(g, e, peer)
			e.until("step", func() bool {
				found := false
				e.loop.EachOfAll(func(r *progress.Request) { found = found || r.Step == c.step && r.Peer == 1 })
				return found
			})
			fine := e.Irecv(g.ctx, 2, world, tag, make([]byte, 8))
			g.net.Kill(1)
			st, err := progress.Wait(&h)
			if !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("Wait = %v, want ErrPeerDown", err)
			}
			if st.Bytes != 0 {
				t.Errorf("status %+v of a lost message has a length", st)
			}
			// Later operations fail at once, others go on.
			if err := e.Send(g.ctx, Standard, 1, world, tag, nil); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("a later send: %v", err)
			}
			if err := e.Send(g.ctx, Standard, 1, world, tag, make([]byte, 20000)); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("a later long send: %v", err)
			}
			if st, err := e.Recv(g.ctx, 1, world, tag, nil); !errors.Is(err, fabric.ErrPeerDown) || st.Bytes != 0 {
				t.Errorf("a later receive: %+v, %v", st, err)
			}
			e.must(other.Send(g.ctx, Standard, 0, world, tag, []byte("alive")))
			_, err = progress.Wait(&fine)
			e.must(err)
			e.clean()
		})
	}
}

// A fabric that still writes to the buffer says so: until it is done the
// receive goes on, whatever becomes of the peer.
func TestAReceiveWhoseGetIsUnderWayEndsWithTheGet(t *testing.T) {
	for _, err := range []error{fabric.ErrPeerDown, fabric.ErrUnsupported} {
		t.Run(err.Error(), func(t *testing.T) { endsWithTheGet(t, err) })
	}
}

func endsWithTheGet(t *testing.T, end error) {
	g := newRig(t, 2)
	e, peer := g.engine(0, func(s *spy) { s.holdGet = true }), g.raw(1)
	peer.send(0, wire.RTS, wire.Imm(world, tag), rts(fabric.Remote{Addr: 1 << 20, Len: 1 << 20}, 1<<20, 5), nil)
	h := e.Irecv(g.ctx, 1, world, tag, make([]byte, 1<<20))
	e.until("the Get", func() bool { return len(e.spy.held) == 1 })
	g.net.Kill(1)
	e.until("the death", func() bool { return e.loop.Conn(1).Down() != nil })
	if ended, _, err := progress.Test(&h); ended || err != nil {
		t.Fatalf("the receive ended while the fabric has its buffer: %v", err)
	}
	e.own(func() { e.loop.Complete(e.spy.held[0], end) })
	if _, err := progress.Wait(&h); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Wait = %v", err)
	}
	e.clean()
}

func TestWhatCameWholeBeforeADeathCanBeReceived(t *testing.T) {
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	imm := func(tag int32) uint64 { return wire.Imm(world, tag) }
	peer.send(0, wire.Eager, imm(1), nil, []byte("whole"))
	peer.send(0, wire.RTS, imm(2), rts(fabric.Remote{Addr: 1 << 20, Len: 1 << 20}, 1<<20, 5), nil)
	out := pattern(4000, 1)
	peer.send(0, wire.EagerFirst, imm(3), first(4000), out[:2000])
	peer.send(0, wire.EagerMore, 0, nil, out[2000:])
	peer.send(0, wire.EagerFirst, imm(4), first(9000), make([]byte, 2000))
	e.until("all four", func() bool { return e.match.Unexpected() == 4 })
	g.net.Kill(1)
	e.until("the death", func() bool { return e.loop.Conn(1).Down() != nil })
	in := make([]byte, 9000)
	if st, err := e.Recv(g.ctx, 1, world, 1, in); err != nil || string(in[:st.Bytes]) != "whole" {
		t.Errorf("the whole message: %q, %v", in[:st.Bytes], err)
	}
	if st, err := e.Recv(g.ctx, AnySource, world, 3, in); err != nil || !bytes.Equal(in[:st.Bytes], out) {
		t.Errorf("the message in chunks that came whole: %d bytes, %v", st.Bytes, err)
	}
	for _, tag := range []int32{2, 4} {
		if _, err := e.Recv(g.ctx, 1, world, tag, in); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("message %d, which had not come: %v", tag, err)
		}
	}
	e.clean()
}

// The receiver tells when it could not read; it is no reason to end the peer.
func TestAFailedFetchFailsBothSidesAndTheConnectionGoesOn(t *testing.T) {
	g := newRig(t, 2)
	e, peer := g.engine(0), g.raw(1)
	// As receiver: the announced memory does not exist.
	peer.send(0, wire.RTS, wire.Imm(world, tag), rts(fabric.Remote{Addr: 1, Len: 1 << 20, Key: 12345}, 1<<20, 5), nil)
	if _, err := e.Recv(g.ctx, 1, world, tag, make([]byte, 1<<20)); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("Recv = %v, want ErrBadRemote", err)
	}
	if p := peer.next(wire.FIN); p.imm != 5 || wire.FINHeader(p.hdr).Outcome() != wire.Lost {
		t.Errorf("FIN %+v, want a failed one for 5", p)
	}
	// As sender.
	h := e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 20000))
	peer.send(0, wire.FIN, wire.RTSHeader(peer.next(wire.RTS).hdr).Request(), wire.MakeFIN(make([]byte, 8), wire.Lost), nil)
	if _, err := progress.Wait(&h); !errors.Is(err, ErrNotFetched) {
		t.Errorf("Wait = %v, want ErrNotFetched", err)
	}
	peer.send(0, wire.Eager, wire.Imm(world, tag), nil, []byte("goes on"))
	if _, err := e.Recv(g.ctx, 1, world, tag, make([]byte, 8)); err != nil {
		t.Error(err)
	}
	e.clean()
}

// A peer that may still write into a granted receive has broken the protocol:
// the receive ends when the fabric says that nothing can land any more.
func TestAGrantedReceiveEndsWithTheFabricsWord(t *testing.T) {
	for _, ends := range []bool{true, false} {
		g := newRig(t, 2)
		e, peer := g.engine(0, func(s *spy) {
			s.ends = ends
			s.caps = func(c *fabric.Caps) { c.PutFirst = true }
		}), g.raw(1)
		peer.send(0, wire.RTS, wire.Imm(world, tag), rts(fabric.Remote{Addr: 1 << 20, Len: 1 << 20}, 1<<20, 5), nil)
		h := e.Irecv(g.ctx, 1, world, tag, make([]byte, 1<<20))
		peer.next(wire.Grant)
		peer.send(0, wire.FIN, 0, nil, nil)
		e.until("the end", func() bool { return e.loop.Conn(1).Down() != nil })
		if ends {
			if ended, _, err := progress.Test(&h); ended || err != nil {
				t.Fatalf("the receive ended while the peer can write to its buffer: %v", err)
			}
			later := e.Isend(g.ctx, Standard, 1, world, tag, make([]byte, 8))
			g.net.Kill(1)
			if _, err := progress.Wait(&later); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("a send meanwhile: %v", err)
			}
		}
		if _, err := progress.Wait(&h); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("the receive ended with %v", err)
		}
		e.clean()
	}
}

// A pair of which one rank dies does not wait for the other, which may wait for
// us: what can be taken back is.
func TestADeathEndsBothHalvesOfASendrecv(t *testing.T) {
	for _, c := range []struct {
		name         string
		dest, source int
		n            int
	}{
		{"its destination", 1, 2, 20000},
		{"its source", 2, 1, 20000},
		{"its destination, with a short message in the backlog", 1, 2, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, 3, mem.WithDepth(1))
			e := g.engine(0)
			g.raw(1)
			living := g.raw(2)
			e.must(e.Send(g.ctx, Standard, 1, world, 0, nil)) // which fills the queue
			h := e.Isendrecv(g.ctx, world, make([]byte, c.n), c.dest, tag, make([]byte, 8), c.source, tag)
			ended := make(chan error, 1)
			go func() {
				_, err := progress.Wait(&h)
				ended <- err
			}()
			e.until("a goroutine that waits", func() (waits bool) {
				e.loop.EachOfAll(func(r *progress.Request) { waits = waits || r.Kind == kindPair && r.Waited() })
				return waits
			})
			g.net.Kill(1)
			if c.dest == 2 { // its announcement is asked back
				op := wire.RTSHeader(living.next(wire.RTS).hdr).Request()
				e.until("the death", func() bool { return e.loop.Conn(1).Down() != nil })
				for living.next(wire.Cancel).imm != op {
				}
				living.send(0, wire.Cancelled, op, wire.MakeFlag(make([]byte, 8), true), nil)
			}
			if err := <-ended; !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("it ended with %v", err)
			}
			e.until("rest", func() bool { return e.match.Posted() <= 1 }) // that of until
			// Its slots are free once: whoever gets them next waits for a message.
			var next []progress.Handle
			in := make([]byte, 8)
			for range 100 {
				next = append(next, e.Irecv(g.ctx, 2, world, tag+1, in))
			}
			for i := range next {
				living.send(0, wire.Eager, wire.Imm(world, tag+1), nil, in[:i%8])
				if st, err := progress.Wait(&next[i]); err != nil || st.Bytes != uint64(i%8) {
					t.Fatalf("receive %d after it: %d bytes, want %d: %v", i, st.Bytes, i%8, err)
				}
			}
		})
	}
}

// What waits in a context of collective calls ends with any death, also of a
// rank that it does not name; what is asked for after it fails at once.
func TestADeathEndsCollectiveCalls(t *testing.T) {
	g := newRig(t, 3)
	e := g.engine(0)
	g.raw(1)
	g.raw(2)
	e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
	e.must(e.Send(g.ctx, Standard, 2, world, 0, nil))
	before := e.Irecv(g.ctx, 2, world+1, tag, nil)
	users := e.Irecv(g.ctx, 2, world, tag, nil)
	g.net.Kill(1)
	if _, err := progress.Wait(&before); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("the one that waited ended with %v", err)
	}
	if _, err := e.Recv(g.ctx, 2, world+1, tag, nil); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a later one ended with %v", err)
	}
	if ended, _, err := progress.Test(&users); ended || err != nil {
		t.Errorf("the user's own receive from a living rank ended: %t, %v", ended, err)
	}
	progress.Cancel(users)
	progress.Wait(&users)
}

// A rank that has left in order has taken its part in what it was needed for.
func TestARankThatLeavesEndsNoCollectiveCallOfOthers(t *testing.T) {
	g := newRig(t, 3)
	e, living := g.engine(0), g.raw(2)
	leaving := g.raw(1)
	e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
	h := e.Irecv(g.ctx, 2, world+1, tag, nil)
	leaving.d.Close()
	e.until("its end", func() bool { return e.loop.Conn(1).Down() != nil })
	living.send(0, wire.Eager, wire.Imm(world+1, tag), nil, nil)
	if _, err := progress.Wait(&h); err != nil {
		t.Error(err)
	}
}

// A rank tells those it talks with of a death, so that one that never talked
// with the dead does not wait for what cannot come.
func TestADeathIsToldToThoseWhoCanNotSeeIt(t *testing.T) {
	g := newRig(t, 4)
	e, far := g.engine(0), g.raw(2)
	g.raw(1)
	e.must(e.Send(g.ctx, Standard, 1, world, 0, nil))
	e.must(e.Send(g.ctx, Standard, 2, world, 0, nil))
	g.net.Kill(1)
	e.until("the death", func() bool { return e.loop.Conn(1).Down() != nil })
	if p := far.next(wire.Dead); p.imm != 1 {
		t.Errorf("it was told of the death of rank %d", p.imm)
	}
}

// And takes the word of those: of a rank that it is not connected to.
func TestTheWordOfAnotherRankEndsCollectiveCalls(t *testing.T) {
	g := newRig(t, 4)
	e, far := g.engine(0), g.raw(2)
	e.must(e.Send(g.ctx, Standard, 2, world, 0, nil))
	h := e.Irecv(g.ctx, 2, world+1, tag+1, nil)
	far.send(0, wire.Dead, 3, nil, nil)
	if _, err := progress.Wait(&h); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a collective call ended with %v", err)
	}
	if err := e.Send(g.ctx, Standard, 3, world, 0, nil); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("a send to the dead ended with %v", err)
	}
}
