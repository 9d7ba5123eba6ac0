package partitioned

import (
	"bytes"
	"context"
	"encoding/binary"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// hostile is a rank whose peer sends what it likes.
type hostile struct {
	t     *testing.T
	net   *mem.Sim
	dom   fabric.Domain
	e     *Engine
	peer  fabric.Region // memory of the peer that can be read and written
	sends []*Send
	recvs []*Recv
	mem   [][]byte  // of the receives
	open  [4]bool   // receives that have not been seen to end
	rest  [4][]byte // of those that have: their memory
}

func newHostile(t *testing.T) *hostile {
	h := &hostile{t: t}
	h.net = mem.NewSim(rand.New(rand.NewPCG(1, 1)), mem.SimConfig{Size: 2, Depth: 4,
		Caps: fabric.Caps{MaxEager: 64, Chunk: 64, RndvMin: 16, RndvMinMapped: 16, Get: true, Put: true}})
	var err error
	if h.dom, err = h.net.Open(h.net.Config(0)); err != nil {
		t.Fatal(err)
	}
	other, err := h.net.Open(h.net.Config(1))
	if err == nil {
		h.peer, err = other.Register(make([]byte, 4096), fabric.RemoteRead|fabric.RemoteWrite)
	}
	if err != nil {
		t.Fatal(err)
	}
	l := progress.New(progress.Config{Domain: h.dom, Addrs: h.net.Addrs(), Log: slog.New(slog.DiscardHandler), NoThread: true})
	h.e = New(l, 0)
	l.Go()
	t.Cleanup(func() {
		h.dom.Close()
		other.Close()
		l.Close()
	})
	for i, c := range []struct{ bytes, parts, step int }{{96, 6, 1}, {4, 2, 1}, {0, 3, 1}, {96, 6, 2}} {
		out, in := newPlace(c.bytes, c.step), newPlace(c.bytes, c.step)
		h.sends = append(h.sends, h.e.PsendInitData(context.Background(), 1, 2, 0, out.data(), c.parts))
		h.recvs = append(h.recvs, h.e.PrecvInitData(context.Background(), 1, 2, 0, in.data(), c.parts))
		h.mem = append(h.mem, in.mem)
		h.rest[i] = bytes.Clone(in.mem)
	}
	return h
}

var hostileKinds = []uint8{wire.PInit, wire.PAccept, wire.PGo, wire.PReady, wire.PData, wire.PLanded, wire.PDone, wire.PFree, wire.PStop, wire.PStill}

// packet hands over a packet that eight bytes describe.
func (h *hostile) packet(b []byte) {
	names := []uint64{0, 1<<32 | 77, uint64(b[0])}
	for i := range h.sends {
		names = append(names, h.sends[i].name, h.recvs[i].name)
	}
	name := names[int(b[1])%len(names)]
	sizes := [...]uint64{96, 4, 0, uint64(b[3])}
	m := make([]byte, fabric.MaxHeader)
	kind, imm, hdr, body := hostileKinds[int(b[0])%len(hostileKinds)], name, []byte(nil), []byte(nil)
	switch kind {
	case wire.PInit:
		imm = wire.Imm(2, 0)
		hdr = wire.MakePInit(m, wire.PartSend{Channel: uint64(b[2]), Bytes: sizes[b[3]%4], Parts: 1 + uint32(b[4]%8), Per: 1 + uint32(b[5]%8),
			Addr: h.peer.Addr + uint64(b[6]), Key: h.peer.Key, Readable: b[7]&1 == 0})
	case wire.PAccept:
		hdr = wire.MakePAccept(m, wire.PartRecv{Channel: uint64(b[2]), Bytes: sizes[b[3]%4], Parts: uint32(b[4]), Verdict: wire.Verdict(b[5] % 6),
			Addr: h.peer.Addr + uint64(b[6]), Key: h.peer.Key})
	case wire.PData:
		hdr, body = wire.MakePData(m, uint64(b[2]), uint32(b[3]%3)), bytes.Repeat([]byte{b[4]}, int(b[5]%65))
	case wire.PFree, wire.PStop:
		hdr = wire.MakePEnd(m, b[2]&1 == 0, wire.PartEnd(b[3]%6))
	case wire.PStill:
	default:
		hdr = wire.MakePBlocks(m, uint32(b[2]%3), uint32(b[3]%8), uint32(b[4]%9), wire.Fate(b[5]%4))
	}
	switch b[7] % 32 { // headers that no engine makes
	case 0:
		hdr = hdr[:len(hdr)/2]
	case 1:
		for i := range hdr {
			hdr[i] ^= b[i%8]
		}
	}
	h.e.loop.Exclusive(func() { h.e.loop.Deliver(1, kind, imm, hdr, body) })
}

// call makes a call of the rank's own.
func (h *hostile) call(b []byte) {
	i := int(b[1]) % len(h.sends)
	s, r := h.sends[i], h.recvs[i]
	switch b[0] % 8 {
	case 0:
		progress.Restart(s.h)
	case 1:
		h.open[i] = progress.Restart(r.h) == nil || h.open[i]
	case 2:
		s.Ready(int(b[2])%s.parts, int(b[3])%s.parts)
	case 3:
		r.Arrived(int(b[2]) % r.parts)
	case 4:
		progress.Test(&s.h)
	case 5:
		progress.Test(&r.h)
	case 6:
		h.net.Step()
	case 7:
		h.e.loop.Exclusive(func() {
			for i, r := range h.recvs {
				if r.active {
					r.e.Cancel(r.side.r, context.Canceled)
				}
				h.sends[i].settle()
			}
		})
	}
}

// look checks that nobody writes to the memory of a receive that has ended.
func (h *hostile) look() {
	for i, r := range h.recvs {
		switch {
		case r.active:
		case h.open[i]:
			h.open[i] = false
			h.rest[i] = append(h.rest[i][:0], h.mem[i]...)
		case !bytes.Equal(h.mem[i], h.rest[i]):
			h.t.Fatalf("receive %d is at rest, and its memory was written to", i)
		}
	}
}

// FuzzDeliver feeds an engine packets of a peer that keeps to no protocol, and calls
// of its own rank. The engine does not panic and writes to no memory that is not its
// own. What has nothing to do with that peer goes on.
func FuzzDeliver(f *testing.F) {
	add := func(rows ...[8]byte) {
		var all []byte
		for _, r := range rows {
			all = append(all, r[:]...)
		}
		f.Add(all)
	}
	// A packet's row begins with its kind, a call's with 128 and what it is.
	packet := func(kind uint8, rest ...byte) (row [8]byte) {
		row[0] = byte(slices.Index(hostileKinds, kind))
		row[7] = 2
		copy(row[1:], rest)
		return row
	}
	call := func(what, side byte, rest ...byte) (row [8]byte) {
		row[0], row[1] = 128+what, side
		copy(row[2:], rest)
		return row
	}
	recv, send := byte(4), byte(3) // places of the first receive and send among the names
	start := [][8]byte{packet(wire.PInit, 0, 9, 0, 5, 0, 0, 2), call(1, 0)}
	add(start...)
	add(append(start, packet(wire.PReady, recv, 1, 0, 6), call(6, 0), call(3, 0), call(5, 0))...)
	add(append(start, packet(wire.PReady, recv, 1, 0, 6), packet(wire.PData, recv, 0, 1, 7, 64), packet(wire.PData, recv, 64, 1, 7, 32), call(5, 0), call(6, 0), call(1, 0))...)
	add(append(start, packet(wire.PData, recv, 0, 1, 7, 64), packet(wire.PReady, recv, 1, 0, 6), packet(wire.PData, recv, 64, 1, 7, 32), call(5, 0), call(6, 0), call(1, 0))...)
	add(append(start, packet(wire.PLanded, recv, 1, 0, 3), packet(wire.PLanded, recv, 1, 2, 3))...)
	accept := [][8]byte{packet(wire.PAccept, send, 9, 0, 6, 1), call(0, 0), packet(wire.PGo, send, 1)}
	add(append(accept, call(2, 0, 0, 5), packet(wire.PDone, send, 1, 0, 6, 0), call(4, 0))...)
	add(append(accept, call(2, 0, 0, 2), packet(wire.PDone, send, 1, 0, 3, 1), packet(wire.PStop, send), call(4, 0))...)
	add(append(accept, packet(wire.PFree, send, 1), call(4, 0), call(0, 0))...)
	scattered := recv + 6 // the receive into a layout, the fourth that matches
	four := append(slices.Repeat(start[:1], 4), call(1, 3))
	add(append(four, packet(wire.PReady, scattered, 1, 0, 6), call(5, 3))...)
	add(append(four, packet(wire.PData, scattered, 0, 1, 7, 64), packet(wire.PData, scattered, 64, 1, 7, 32), call(5, 3))...)
	f.Fuzz(func(t *testing.T, rows []byte) {
		h := newHostile(t)
		for ; len(rows) >= 8; rows = rows[8:] {
			row := rows[:8]
			if row[0] < 128 {
				h.packet(row)
			} else {
				h.call(row)
			}
			h.look()
			h.e.loop.Glance(func() bool { return false })
			h.look()
		}
		for h.net.Step() {
			h.e.loop.Glance(func() bool { return false })
			h.look()
		}
		h.goesOn()
	})
}

// goesOn sends from the rank to itself.
func (h *hostile) goesOn() {
	out, in := make([]byte, 8), make([]byte, 8)
	binary.LittleEndian.PutUint64(out, 0x0102030405060708)
	s := h.e.PsendInit(context.Background(), 0, 4, 0, out, 4)
	r := h.e.PrecvInit(context.Background(), 0, 4, 0, in, 2)
	if err := progress.RestartAll([]progress.Handle{s.h, r.h}); err != nil {
		h.t.Fatal(err)
	}
	if err := s.Ready(0, 3); err != nil {
		h.t.Fatal(err)
	}
	for _, x := range []*progress.Handle{&s.h, &r.h} {
		if ended, _, err := progress.Test(x); !ended || err != nil {
			h.t.Errorf("a message to oneself: %t, %v", ended, err)
		}
	}
	if !bytes.Equal(in, out) {
		h.t.Errorf("%x came as %x", out, in)
	}
}
