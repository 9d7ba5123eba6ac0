package pt2pt

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

func u64s(vs ...uint64) (b []byte) {
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Rank 1 sends what no engine sends. Rank 0 ends it, with all its requests,
// and goes on with rank 2.
func TestAPacketThatBreaksTheProtocolEndsItsSender(t *testing.T) {
	imm := wire.Imm(world, tag)
	type peers struct {
		g    *rig
		e    *engine
		peer *raw
	}
	plain := func(kind uint8, imm uint64, hdr, body []byte) func(peers) {
		return func(p peers) { p.peer.send(0, kind, imm, hdr, body) }
	}
	awaiting := func(p peers) uint64 { // the name of a send that awaits its receiver
		h := p.e.Isend(p.g.ctx, Standard, 1, world, tag, make([]byte, 20000))
		p.g.t.Cleanup(func() { progress.Wait(&h) })
		return wire.RTSHeader(p.peer.next(wire.RTS).hdr).Request()
	}
	receiving := func(p peers) uint64 { // the name of a receive that awaits fragments
		h := p.e.Irecv(p.g.ctx, 1, world, tag, make([]byte, 20000))
		p.g.t.Cleanup(func() { progress.Wait(&h) })
		p.peer.send(0, wire.RTS, imm, u64s(1<<20, 20000, 0, 5, 0), nil)
		return wire.CTSHeader(p.peer.next(wire.CTS).hdr).Request()
	}
	for _, c := range []struct {
		name string
		do   func(peers)
	}{
		{"First without header", plain(wire.EagerFirst, imm, nil, []byte("x"))},
		{"First with a long header", plain(wire.EagerFirst, imm, u64s(100, 0, 0), []byte("x"))},
		{"First of an endless message", plain(wire.EagerFirst, imm, u64s(1<<63, 0), []byte("x"))},
		{"First of more than a message may have", plain(wire.EagerFirst, imm, u64s(maxChunked+1, 0), []byte("x"))},
		{"First that is the whole message", plain(wire.EagerFirst, imm, u64s(1, 0), []byte("x"))},
		{"First that is more than the message", plain(wire.EagerFirst, imm, u64s(1, 0), []byte("xy"))},
		{"First of nothing", plain(wire.EagerFirst, imm, u64s(0, 0), nil)},
		{"First amid another", func(p peers) {
			p.peer.send(0, wire.EagerFirst, imm, u64s(100, 0), []byte("x"))
			p.peer.send(0, wire.EagerFirst, imm, u64s(100, 0), []byte("x"))
		}},
		{"More of nothing", plain(wire.EagerMore, 0, nil, []byte("x"))},
		{"More than announced", func(p peers) {
			p.peer.send(0, wire.EagerFirst, imm, u64s(3, 0), []byte("x"))
			p.peer.send(0, wire.EagerMore, 0, nil, []byte("xxx"))
		}},
		{"RTS without header", plain(wire.RTS, imm, nil, nil)},
		{"RTS with a short header", plain(wire.RTS, imm, make([]byte, wire.RTSSize-1), nil)},
		{"CTS without header", plain(wire.CTS, 0, nil, nil)},
		{"CTS for no request", plain(wire.CTS, 1<<32|1000000, u64s(0, 0, 0), nil)},
		{"CTS for more than the message", func(p peers) { p.peer.send(0, wire.CTS, awaiting(p), u64s(1, 20001, 0), nil) }},
		{"CTS of an older request", func(p peers) { p.peer.send(0, wire.CTS, awaiting(p)-1<<32, u64s(1, 20, 0), nil) }},
		{"CTS for a receive", func(p peers) { p.peer.send(0, wire.CTS, receiving(p), u64s(1, 20, 0), nil) }},
		{"CTS twice", func(p peers) {
			op := awaiting(p)
			p.peer.send(0, wire.CTS, op, u64s(1, 20000, 0), nil)
			p.peer.send(0, wire.CTS, op, u64s(1, 20000, 0), nil)
		}},
		{"FIN without header", plain(wire.FIN, 0, nil, nil)},
		{"FIN for no request", plain(wire.FIN, 0xdead<<32, u64s(0), nil)},
		{"FIN for a receive", func(p peers) { p.peer.send(0, wire.FIN, receiving(p), u64s(0), nil) }},
		{"FIN of an unknown outcome", func(p peers) { p.peer.send(0, wire.FIN, awaiting(p), u64s(uint64(wire.Outcomes)), nil) }},
		{"Sync without header", plain(wire.EagerSync, imm, nil, []byte("x"))},
		{"Flow of no level", plain(wire.Flow, uint64(wire.Levels), nil, nil)},
		{"Cancelled without header", plain(wire.Cancelled, 0, nil, nil)},
		{"Cancelled that nobody asked for", func(p peers) { p.peer.send(0, wire.Cancelled, awaiting(p), u64s(1), nil) }},
		{"Cancelled for no request", plain(wire.Cancelled, 77, u64s(1), nil)},
		{"FIN twice", func(p peers) {
			op := awaiting(p)
			p.peer.send(0, wire.FIN, op, u64s(0), nil)
			p.peer.send(0, wire.FIN, op, u64s(0), nil)
		}},
		{"Data without header", plain(wire.Data, 0, nil, []byte("x"))},
		{"Data for no request", plain(wire.Data, 77, u64s(0), []byte("x"))},
		{"Data for a send", func(p peers) { p.peer.send(0, wire.Data, awaiting(p), u64s(0), []byte("x")) }},
		{"Data out of order", func(p peers) { p.peer.send(0, wire.Data, receiving(p), u64s(8), []byte("x")) }},
		{"Data at an absurd offset", func(p peers) { p.peer.send(0, wire.Data, receiving(p), u64s(1<<64-1), []byte("xx")) }},
		{"Data of nothing", func(p peers) { p.peer.send(0, wire.Data, receiving(p), u64s(0), nil) }},
		{"Data past the end", func(p peers) {
			op := receiving(p)
			for off := range uint64(3) {
				p.peer.send(0, wire.Data, op, u64s(off*8192), make([]byte, 8192))
			}
		}},
		{"Data after the end", func(p peers) {
			op := receiving(p)
			for off := range uint64(2) {
				p.peer.send(0, wire.Data, op, u64s(off*8192), make([]byte, 8192))
			}
			p.peer.send(0, wire.Data, op, u64s(16384), make([]byte, 20000-16384))
			p.peer.send(0, wire.Data, op, u64s(20000), []byte("x"))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, 3)
			p := peers{g, g.engine(0, func(s *spy) { s.noGet = true }), g.raw(1)}
			other := g.engine(2)
			posted := p.e.Irecv(g.ctx, 1, world, tag+9, nil)
			c.do(p)
			if _, err := progress.Wait(&posted); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("a receive from it: %v, want ErrPeerDown", err)
			}
			p.e.must(other.Send(g.ctx, Standard, 0, world, tag, []byte("alive")))
			if _, err := p.e.Recv(g.ctx, 2, world, tag, make([]byte, 8)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Whatever a peer that has been ended goes on to send, it changes nothing: no
// request ends twice, no buffer is written to after its receive has ended, and
// no later receive is drawn in.
func TestAPeerThatHasBeenEndedIsNotListenedTo(t *testing.T) {
	g := newRig(t, 2)
	e, peer := g.engine(0, func(s *spy) { s.noGet = true }), g.raw(1)
	in := make([]byte, 20000)
	recv := e.Irecv(g.ctx, 1, world, tag, in)
	peer.send(0, wire.RTS, wire.Imm(world, tag), u64s(1<<20, 20000, 0, 5, 0), nil)
	rop := wire.CTSHeader(peer.next(wire.CTS).hdr).Request()
	out := make([]byte, 20000)
	send := e.Isend(g.ctx, Standard, 1, world, tag, out)
	sop := wire.RTSHeader(peer.next(wire.RTS).hdr).Request()

	peer.send(0, wire.EagerMore, 0, nil, []byte("ends it"))
	e.until("the end", func() bool { return e.loop.Conn(1).Down() != nil })
	// Both requests have ended, and nobody has waited for them yet.
	peer.send(0, wire.Data, rop, u64s(0), []byte("late"))
	peer.send(0, wire.CTS, sop, u64s(9, 20000, 0), nil)
	peer.send(0, wire.FIN, sop, u64s(0), nil)
	peer.send(0, wire.EagerFirst, wire.Imm(world, tag), u64s(9000, 0), []byte("late"))
	peer.send(0, wire.RTS, wire.Imm(world, tag+1), u64s(1<<20, 20000, 0, 5, 0), nil)
	for range 10 {
		peer.send(0, wire.Flow, uint64(wire.Announce), nil, nil)
	}
	e.own(func() {
		for e.spy.Poll(e.loop, 64) > 0 {
		}
	})
	if string(in[:4]) == "late" {
		t.Error("a buffer was written to after its receive had ended")
	}
	for _, h := range []*progress.Handle{&recv, &send} {
		if _, err := progress.Wait(h); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("Wait = %v, want ErrPeerDown", err)
		}
	}
	for tag := range int32(2) {
		if _, err := e.Recv(g.ctx, 1, world, tag+7, in); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("a later receive: %v, want ErrPeerDown", err)
		}
	}
	e.own(func() {
		if e.spy.sent[wire.Data] != 0 {
			t.Error("fragments of a send that had ended were sent")
		}
		if n := e.match.Posted(); n != 0 {
			t.Errorf("%d receives are posted", n)
		}
	})
}

// A session of random packets, most of them nearly right: nothing panics, and
// the others never notice.
func FuzzAHostilePeerHarmsOnlyItself(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := newRig(t, 3)
		rnd := rand.New(rand.NewPCG(seed, 1))
		e, peer, honest := g.engine(0, func(s *spy) { s.noGet = seed%2 == 0 }), g.raw(1), g.engine(2)
		var hs []progress.Handle
		var ops []uint64
		learn := func() {
			peer.d.Poll(peer, 64)
			for _, p := range peer.got {
				switch p.kind {
				case wire.RTS:
					ops = append(ops, wire.RTSHeader(p.hdr).Request())
				case wire.CTS:
					ops = append(ops, wire.CTSHeader(p.hdr).Request())
				}
			}
			peer.got = nil
		}
		lengths := []uint64{0, 1, 5, 100, 8192, 9000, 20000, 1 << 20, 1<<20 + 1, 1 << 63, 1<<64 - 1}
		number := func() uint64 {
			switch rnd.IntN(4) {
			case 0:
				return rnd.Uint64()
			case 1:
				if len(ops) > 0 {
					return ops[rnd.IntN(len(ops))]
				}
			}
			return lengths[rnd.IntN(len(lengths))]
		}
		for range 200 {
			tg := int32(rnd.IntN(3))
			switch rnd.IntN(6) {
			case 0:
				hs = append(hs, e.Irecv(g.ctx, []int{1, AnySource}[rnd.IntN(2)], world, tg, make([]byte, number()%30000)))
			case 1:
				hs = append(hs, e.Isend(g.ctx, Standard, 1, world, tg, make([]byte, number()%30000)))
			case 2:
				learn()
			default:
				kind := []uint8{wire.Eager, wire.EagerFirst, wire.EagerMore, wire.RTS, wire.CTS, wire.Data, wire.FIN,
					wire.Flow, wire.Cancel, wire.Cancelled, wire.EagerSync, wire.EagerReady, uint8(rnd.IntN(256))}[rnd.IntN(13)]
				words := map[uint8]int{wire.EagerFirst: 2, wire.EagerSync: 1, wire.RTS: 5, wire.CTS: 3, wire.Data: 1, wire.FIN: 1, wire.Cancelled: 1}[kind]
				var hdr []byte
				for range words {
					hdr = append(hdr, u64s(number())...)
				}
				if rnd.IntN(10) == 0 {
					hdr = make([]byte, rnd.IntN(fabric.MaxHeader+1))
				}
				imm := wire.Imm(world, tg)
				if kind == wire.Cancel || kind == wire.Flow || words > 0 && kind != wire.RTS && kind != wire.EagerFirst && kind != wire.EagerSync {
					imm = number()
				}
				peer.send(0, kind, imm, hdr, make([]byte, number()%8193))
			}
		}
		e.must(honest.Send(g.ctx, Standard, 0, world+2, tag, pattern(9000, 1)))
		in := make([]byte, 9000)
		_, err := e.Recv(g.ctx, 2, world+2, tag, in)
		e.must(err)
		g.net.Kill(1)
		e.until("its death", func() bool { return e.loop.Conn(1).Down() != nil })
		// What may match any source may wait for others: they send it.
		for range hs {
			for tg := range int32(3) {
				e.must(honest.Send(g.ctx, Standard, 0, world, tg, nil))
			}
		}
		for i := range hs {
			progress.Wait(&hs[i])
		}
		e.own(func() {
			e.loop.EachOfAll(func(r *progress.Request) { t.Errorf("request %+v has not ended", r) })
			if e.peers[1].in.total != 0 {
				t.Error("a message of the dead is on its way")
			}
		})
		if n := e.spy.registered.Load(); n != 0 {
			t.Errorf("%d regions are registered still", n)
		}
		if g.ctx.Err() != nil {
			t.Error("something waited too long")
		}
	})
}
