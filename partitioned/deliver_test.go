package partitioned

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Blocks of the next round may be announced once, and are read when it begins.
func TestWhatIsAnnouncedAheadIsReadInItsRound(t *testing.T) {
	m := make([]byte, fabric.MaxHeader)
	for _, c := range []struct {
		name                string
		round, first, count uint32
		ends                bool
	}{
		{"the next round", 1, 0, 3, false},
		{"the one after", 2, 0, 3, true},
		{"no round", 0, 0, 3, true},
		{"beyond the end", 1, 4, 3, true},
		{"no blocks", 1, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHostile(t)
			r := h.recvs[0]
			deliver := func(kind uint8, imm uint64, hdr []byte) (down bool) {
				h.e.loop.Exclusive(func() {
					h.e.loop.Deliver(1, kind, imm, hdr, nil)
					down = h.e.loop.Conn(1).Down() != nil
				})
				return down
			}
			deliver(wire.PInit, wire.Imm(2, 0), wire.MakePInit(m, wire.PartSend{Channel: 9, Bytes: 96, Parts: 6, Per: 1, Addr: h.peer.Addr, Key: h.peer.Key, Readable: true}))
			announce := func() bool {
				return deliver(wire.PReady, r.name, wire.MakePBlocks(m, c.round, c.first, c.count, 0))
			}
			if ended := announce(); ended != c.ends {
				t.Fatalf("the peer is ended: %t, want %t", ended, c.ends)
			}
			if c.ends {
				return
			}
			if r.reading > 0 {
				t.Error("blocks are read before their round")
			}
			must(t, progress.Restart(r.h))
			if r.reading == 0 {
				t.Error("blocks that were announced are not read")
			}
			if !announce() {
				t.Error("blocks are announced twice, and the peer is not ended")
			}
		})
	}
}

// What a packet may say depends on the round: a peer that says something about
// another one, or about blocks that it may not speak of, is ended.
func TestAPacketOfAnotherRoundEndsItsPeer(t *testing.T) {
	m := make([]byte, fabric.MaxHeader)
	blocks := func(round, first, count uint32) []byte { return wire.MakePBlocks(m, round, first, count, wire.Taken) }
	for _, c := range []struct {
		name string
		kind uint8
		hdr  func() []byte
		body int
		ends bool
	}{
		{"blocks that were lent", wire.PDone, func() []byte { return blocks(1, 0, 6) }, 0, false},
		{"one of them", wire.PDone, func() []byte { return blocks(1, 5, 1) }, 0, false},
		{"done in the round before", wire.PDone, func() []byte { return blocks(0, 0, 6) }, 0, true},
		{"done in the round after", wire.PDone, func() []byte { return blocks(2, 0, 6) }, 0, true},
		{"more than were lent", wire.PDone, func() []byte { return blocks(1, 0, 7) }, 0, true},
		{"blocks that there are not", wire.PDone, func() []byte { return blocks(1, 1, 6) }, 0, true},
		{"none", wire.PDone, func() []byte { return blocks(1, 0, 0) }, 0, true},
		{"no round has begun", wire.PGo, func() []byte { return blocks(0, 0, 0) }, 0, true},
		{"the channel is accepted twice", wire.PAccept, func() []byte { return wire.MakePAccept(m, wire.PartRecv{Channel: 9, Bytes: 96, Parts: 1}) }, 0, true},
		{"announced", wire.PReady, func() []byte { return blocks(1, 0, 3) }, 0, false},
		{"announced in the round before", wire.PReady, func() []byte { return blocks(0, 0, 3) }, 0, true},
		{"announced in the round after", wire.PReady, func() []byte { return blocks(2, 0, 3) }, 0, true},
		{"announced beyond the end", wire.PReady, func() []byte { return blocks(1, 4, 3) }, 0, true},
		{"announced, so many that the sum wraps", wire.PReady, func() []byte { return blocks(1, 2, 1<<32-1) }, 0, true},
		{"written", wire.PLanded, func() []byte { return blocks(1, 0, 3) }, 0, false},
		{"written in the round after", wire.PLanded, func() []byte { return blocks(2, 0, 3) }, 0, true},
		{"bytes", wire.PData, func() []byte { return wire.MakePData(m, 32, 1) }, 64, false},
		{"bytes of the round before", wire.PData, func() []byte { return wire.MakePData(m, 32, 0) }, 64, true},
		{"bytes beyond the end", wire.PData, func() []byte { return wire.MakePData(m, 33, 1) }, 64, true},
		{"bytes so far that the sum wraps", wire.PData, func() []byte { return wire.MakePData(m, 1<<64-1, 1) }, 64, true},
		{"no bytes", wire.PData, func() []byte { return wire.MakePData(m, 32, 1) }, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHostile(t)
			s, r := h.sends[0], h.recvs[0]
			deliver := func(kind uint8, imm uint64, hdr []byte, body int) {
				h.e.loop.Exclusive(func() { h.e.loop.Deliver(1, kind, imm, hdr, make([]byte, body)) })
			}
			deliver(wire.PInit, wire.Imm(2, 0), wire.MakePInit(m, wire.PartSend{Channel: 9, Bytes: 96, Parts: 6, Per: 1, Addr: h.peer.Addr, Key: h.peer.Key, Readable: true}), 0)
			deliver(wire.PAccept, s.name, wire.MakePAccept(m, wire.PartRecv{Channel: 9, Bytes: 96, Parts: 1}), 0)
			must(t, progress.RestartAll([]progress.Handle{s.h, r.h}))
			deliver(wire.PGo, s.name, blocks(1, 0, 0), 0)
			must(t, s.Ready(0, 5))
			if n := s.lent.Load(); n != 6 {
				t.Fatalf("%d blocks are lent, want 6", n)
			}
			name := s.name
			switch c.kind {
			case wire.PReady, wire.PLanded, wire.PData:
				name = r.name
			}
			deliver(c.kind, name, c.hdr(), c.body)
			down := false
			h.e.loop.Exclusive(func() { down = h.e.loop.Conn(1).Down() != nil })
			if down != c.ends {
				t.Errorf("the peer is ended: %t, want %t", down, c.ends)
			}
			if c.kind != wire.PDone && c.kind != wire.PGo && c.kind != wire.PAccept && !c.ends { // and the same again does
				deliver(c.kind, name, c.hdr(), c.body)
				if h.e.loop.Exclusive(func() { down = h.e.loop.Conn(1).Down() != nil }); !down {
					t.Error("blocks have come twice, and the peer is not ended")
				}
			}
		})
	}
}
