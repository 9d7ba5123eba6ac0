package pt2pt

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// session is a job of three ranks on a simulated network: an engine, a hostile
// peer that sends what it is told, and an honest engine.
type session struct {
	t          *testing.T
	feed       []byte
	sim        *mem.Sim
	e, honest  *Engine
	peer       fabric.Domain
	way        fabric.Endpoint
	ops        []uint64 // requests that the engine has named
	mine       []*sessionReq
	packetSize int
}

const hostile, honestRank = 1, 2

// sessionReq is a request of the engine, its buffer between canaries.
type sessionReq struct {
	h     progress.Handle
	mem   []byte
	buf   []byte
	after []byte // what mem was when it ended
	recv  bool
}

const canary = 0xC5

func (s *session) next() int {
	if len(s.feed) == 0 {
		return 0
	}
	b := s.feed[0]
	s.feed = s.feed[1:]
	return int(b)
}

// number is one that matters, or any.
func (s *session) number() uint64 {
	edges := [...]uint64{0, 1, 2, 31, 32, 33, 100, 200, maxChunked, maxChunked + 1, 1 << 32, 1 << 63, 1<<64 - 1}
	switch b := s.next(); {
	case b < 96 && len(s.ops) > 0:
		return s.ops[b%len(s.ops)]
	case b < 192:
		return edges[b%len(edges)]
	default:
		return uint64(b)<<56 | uint64(s.next())<<8 | uint64(s.next())
	}
}

// The hostile peer's domain hands over to the session, which notes the names.

func (s *session) Deliver(_ fabric.Peer, kind uint8, imm uint64, hdr, _ []byte) {
	switch kind {
	case wire.RTS:
		s.ops = append(s.ops, wire.RTSHeader(hdr).Request())
	case wire.EagerSync:
		s.ops = append(s.ops, wire.NumberHeader(hdr).Number())
	case wire.CTS:
		s.ops = append(s.ops, wire.CTSHeader(hdr).Request())
	case wire.Grant:
		s.ops = append(s.ops, wire.GrantHeader(hdr).Request())
	case wire.Cancel:
		s.ops = append(s.ops, imm)
	}
}
func (s *session) Complete(fabric.Op, error)       {}
func (s *session) PeerDown(p fabric.Peer, _ error) {}

func newSession(t *testing.T, feed []byte) *session {
	s := &session{t: t, feed: feed, packetSize: 32}
	b := s.next()
	s.sim = mem.NewSim(rand.New(rand.NewPCG(uint64(b), 1)), mem.SimConfig{Size: 3, Depth: 64,
		Caps: fabric.Caps{MaxEager: s.packetSize, Chunk: 16, RndvMin: 80, RndvMinMapped: 80, Get: b%2 == 0, Put: b&4 != 0, PutFirst: b&12 == 4}})
	engine := func(rank int) *Engine {
		cfg := s.sim.Config(rank)
		d, err := s.sim.Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		l := progress.New(progress.Config{Domain: d, Addrs: s.sim.Addrs(), Log: cfg.Log, NoThread: true})
		t.Cleanup(func() { d.Close(); l.Close() })
		e := New(l, rank, 3)
		l.Go()
		lim := DefaultLimits
		lim.Stall = 0
		if b&2 != 0 {
			lim.PeerMessages, lim.Messages = 2, 6
		}
		e.Limit(lim)
		return e
	}
	s.e, s.honest = engine(0), engine(honestRank)
	var err error
	if s.peer, err = s.sim.Open(s.sim.Config(hostile)); err != nil {
		t.Fatal(err)
	}
	if s.way, err = s.peer.Connect(0, s.sim.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.peer.Close() })
	return s
}

// turn lets everything that is under way arrive.
func (s *session) turn() {
	for range 8 {
		for s.sim.Step() {
		}
		s.peer.Poll(s, 64)
		for _, e := range []*Engine{s.e, s.honest} {
			e.Iprobe(e.rank, pumpContext, 0)
		}
	}
}

func (s *session) request(n int) *sessionReq {
	q := &sessionReq{mem: bytes.Repeat([]byte{canary}, n+64)}
	q.buf = q.mem[32 : 32+n : 32+n]
	s.mine = append(s.mine, q)
	return q
}

// packet sends one packet of the hostile peer, most of them nearly right.
func (s *session) packet() {
	kinds := [...]uint8{wire.Eager, wire.EagerFirst, wire.EagerMore, wire.EagerSync, wire.EagerReady, wire.RTS, wire.CTS,
		wire.Data, wire.FIN, wire.Cancel, wire.Cancelled, wire.Flow, wire.Grant, wire.Written}
	sizes := map[uint8]int{wire.EagerFirst: wire.FirstSize, wire.EagerSync: wire.NumberSize, wire.RTS: wire.RTSSize, wire.CTS: wire.CTSSize,
		wire.Data: wire.NumberSize, wire.FIN: wire.FINSize, wire.Cancelled: wire.FlagSize,
		wire.Grant: wire.GrantSize, wire.Written: wire.FINSize}
	b := s.next()
	kind := kinds[b%len(kinds)]
	if b == 255 {
		kind = uint8(s.next())
	}
	hdr := make([]byte, 0, fabric.MaxHeader)
	for len(hdr) < sizes[kind] {
		hdr = binary.LittleEndian.AppendUint64(hdr, s.number())
	}
	if b == 254 {
		hdr = hdr[:s.next()%(len(hdr)+1)]
	}
	imm := wire.Imm(world, int32(s.next()%3))
	switch kind {
	case wire.CTS, wire.Data, wire.FIN, wire.Cancel, wire.Cancelled, wire.Grant, wire.Written:
		imm = s.number()
	case wire.Flow:
		imm = uint64(s.next() % 5)
	}
	s.way.Send(kind, imm, hdr[:min(len(hdr), fabric.MaxHeader)], make([]byte, s.next()%(s.packetSize+1)))
}

func (s *session) act() {
	source := [...]int{hostile, hostile, AnySource, honestRank}[s.next()%4]
	tag := [...]int32{0, 1, 2, AnyTag}[s.next()%4]
	switch n := s.next(); s.next() % 8 {
	case 0, 1:
		q := s.request(n)
		q.recv = true
		q.h = s.e.Irecv(background, source, world, tag, q.buf)
	case 2:
		q := s.request(n)
		q.h = s.e.Isend(background, Mode(n%3), hostile, world, max(tag, 0), q.buf)
	case 3:
		if len(s.mine) > 0 {
			progress.Cancel(s.mine[n%len(s.mine)].h)
		}
	case 4:
		if m, res, ok, _ := s.e.Improbe(source, world, tag); ok {
			q := s.request(int(min(res.Bytes, 300)))
			q.recv = true
			q.h = s.e.Imrecv(background, &m, q.buf)
		}
	case 5:
		s.honest.Isend(background, Standard, 0, world, max(tag, 0), make([]byte, n))
	default:
		s.turn()
	}
	s.collect()
}

// collect looks which requests have ended.
func (s *session) collect() {
	for i, q := range s.mine {
		if q.after != nil {
			continue
		}
		if ok, _, _ := progress.Test(&q.h); ok {
			q.after = bytes.Clone(q.mem)
		}
		if n := len(q.mem) - 32; !bytes.Equal(q.mem[:32], q.mem[n:]) || q.mem[0] != canary {
			s.t.Fatalf("request %d has written beside its buffer", i)
		}
	}
}

// FuzzSession decodes bytes into what an engine and a hostile peer do to one
// another. Nothing panics or is written where it may not be; once the peer is
// dead every request ends, and the honest rank never notices.
func FuzzSession(f *testing.F) {
	for seed := range uint64(64) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := make([]byte, 50+rng.IntN(400))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, feed []byte) {
		s := newSession(t, feed)
		for len(s.feed) > 0 {
			if s.next()%2 == 0 {
				s.packet()
			} else {
				s.act()
			}
		}
		s.turn()
		s.sim.Kill(hostile)
		s.turn()
		s.collect()
		// What may match the honest rank waits for it.
		for range s.mine {
			for tag := range int32(3) {
				s.honest.Isend(background, Standard, 0, world, tag, nil)
			}
		}
		s.turn()
		s.collect()
		in := bytes.Repeat([]byte{1}, 200)
		h := s.e.Irecv(background, honestRank, world+2, 0, in)
		out := s.honest.Isend(background, Standard, 0, world+2, 0, make([]byte, 200))
		room := make([]byte, 300)
		for drained := 0; drained < 10000; drained++ { // messages in the way, if the engine holds as many as it may
			s.turn()
			if ok, _, err := progress.Test(&h); ok {
				if err != nil || !bytes.Equal(in, make([]byte, 200)) {
					t.Fatalf("a message of the honest rank: %v, %v", err, in)
				}
				break
			}
			if _, found, _ := s.e.Iprobe(AnySource, world, AnyTag); found {
				s.e.Irecv(background, AnySource, world, AnyTag, room)
			}
		}
		s.turn()
		if ok, _, err := progress.Test(&out); !h.Null() || !ok || err != nil {
			t.Fatalf("the honest rank's send: %t, %v", ok, err)
		}
		s.collect()
		for i, q := range s.mine {
			if q.after == nil {
				t.Errorf("request %d has not ended", i)
			} else if q.recv && !bytes.Equal(q.mem, q.after) {
				t.Errorf("the buffer of request %d was written after its end", i)
			}
		}
	})
}
