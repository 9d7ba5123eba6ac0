package pt2pt

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// rig is a job over fabric/mem. Some of its ranks are engines, the others are
// driven by the test packet by packet.
type rig struct {
	t   *testing.T
	net *mem.Network
	n   int
	ctx context.Context
}

func newRig(t *testing.T, n int, opts ...mem.Option) *rig {
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the test waited too long"))
	t.Cleanup(cancel)
	return &rig{t: t, net: mem.NewNetwork(n, opts...), n: n, ctx: ctx}
}

func (g *rig) addrs() (addrs [][]byte) {
	for i := range g.n {
		addrs = append(addrs, []byte("mem:"+string(rune('0'+i))))
	}
	return addrs
}

func (g *rig) open(rank int) fabric.Domain {
	g.t.Helper()
	d, err := g.net.Provider().Open(fabric.Config{Rank: fabric.Peer(rank), Size: g.n, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		g.t.Fatal(err)
	}
	return d
}

// engine is one rank's engine with what the test wants to see of it.
type engine struct {
	*Engine
	g   *rig
	spy *spy
}

func (g *rig) engine(rank int, change ...func(*spy)) *engine {
	g.t.Helper()
	s := &spy{Domain: g.open(rank)}
	for _, f := range change {
		f(s)
	}
	l := progress.New(progress.Config{Domain: s, Addrs: g.addrs(), Log: slog.New(slog.DiscardHandler)})
	e := &engine{Engine: New(l, rank, g.n), g: g, spy: s}
	l.Go()
	g.t.Cleanup(func() {
		l.Close()
		s.Close()
	})
	return e
}

// own calls f as the owner of the engine's loop.
func (e *engine) own(f func()) {
	for !e.loop.Enter() {
		runtime.Gosched()
	}
	f()
	e.loop.Leave()
}

// until turns the loop until cond, asked under ownership, holds.
func (e *engine) until(what string, cond func() bool) {
	e.g.t.Helper()
	h := e.Irecv(e.g.ctx, e.rank, 98, 0, nil) // of no message: to have something to test
	for end := time.Now().Add(patience); ; {
		ok := false
		if _, _, err := progress.Test(&h); err != nil {
			e.g.t.Fatal(err)
		}
		e.own(func() { ok = cond() })
		if ok {
			break
		}
		if time.Now().After(end) {
			e.g.t.Fatalf("rank %d waited too long for: %s", e.rank, what)
		}
		runtime.Gosched()
	}
	e.must(e.Send(e.g.ctx, Standard, e.rank, 98, 0, nil))
	if _, err := progress.Wait(&h); err != nil {
		e.g.t.Fatal(err)
	}
}

func (e *engine) must(err error) {
	e.g.t.Helper()
	if err != nil {
		e.g.t.Fatal(err)
	}
}

// clean checks that nothing is left of what was.
func (e *engine) clean() {
	e.g.t.Helper()
	e.own(func() {
		if n := e.match.Posted(); n != 0 {
			e.g.t.Errorf("rank %d: %d receives are posted still", e.rank, n)
		}
		if n := e.match.Unexpected(); n != 0 {
			e.g.t.Errorf("rank %d: %d messages are unexpected still", e.rank, n)
		}
		for i, p := range e.peers {
			if p.unexpected != 0 || p.in.total != 0 {
				e.g.t.Errorf("rank %d holds %d bytes of rank %d's and has %d of its %d bytes coming", e.rank, p.unexpected, i, p.in.got, p.in.total)
			}
		}
		e.loop.EachOfAll(func(r *progress.Request) {
			e.g.t.Errorf("rank %d: a request of kind %d with %d is in flight still, step %d", e.rank, r.Kind, r.Peer, r.Step)
		})
	})
	if n := e.spy.registered.Load(); n != 0 {
		e.g.t.Errorf("rank %d: %d regions are registered still", e.rank, n)
	}
}

// spy is a domain that counts and, where it is told to, refuses.
type spy struct {
	fabric.Domain
	caps       func(*fabric.Caps)
	noGet      bool // Get answers ErrUnsupported
	holdGet    bool // Get is accepted and not carried out
	partly     bool // Get and Put are carried out in part, then answer ErrUnsupported
	begun      []fabric.Op
	ends       bool // End is taken, and PeerDown comes when the peer is killed
	held       []fabric.Op
	before     func() // what the next Poll does first
	registered atomic.Int64
	sent       [256]int // by kind, of the owner
	gets       int
}

func (s *spy) Caps() fabric.Caps {
	c := s.Domain.Caps()
	if s.caps != nil {
		s.caps(&c)
	}
	return c
}

func (s *spy) End(fabric.Peer, error) bool { return s.ends }

func (s *spy) Register(b []byte, a fabric.Access) (fabric.Region, error) {
	r, err := s.Domain.Register(b, a)
	if err == nil {
		s.registered.Add(1)
	}
	return r, err
}

func (s *spy) Deregister(r fabric.Region) error {
	s.registered.Add(-1)
	return s.Domain.Deregister(r)
}

func (s *spy) Poll(h fabric.Handler, max int) int {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	begun := s.begun
	s.begun = nil
	for _, op := range begun {
		h.Complete(op, fabric.ErrUnsupported)
	}
	return len(begun) + s.Domain.Poll(h, max)
}

func (s *spy) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := s.Domain.Connect(p, addr)
	if err != nil {
		return nil, err
	}
	return &spyEndpoint{ep, s}, nil
}

type spyEndpoint struct {
	fabric.Endpoint
	s *spy
}

func (e *spyEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	err := e.Endpoint.Send(kind, imm, hdr, body)
	if err == nil {
		e.s.sent[kind]++
	}
	return err
}

func (e *spyEndpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) error {
	switch {
	case e.s.noGet:
		return fabric.ErrUnsupported
	case e.s.holdGet:
		e.s.held = append(e.s.held, op)
		return nil
	case e.s.partly:
		clear(dst.Bytes[:len(dst.Bytes)/2])
		e.s.begun = append(e.s.begun, op)
		return nil
	}
	err := e.Endpoint.Get(dst, src, op)
	if err == nil {
		e.s.gets++
	}
	return err
}

func (e *spyEndpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) error {
	if !e.s.partly {
		return e.Endpoint.Put(src, dst, op)
	}
	e.s.begun = append(e.s.begun, op)
	return nil
}

// raw is a rank without an engine.
type raw struct {
	g   *rig
	d   fabric.Domain
	eps map[int]fabric.Endpoint
	got []packet
}

type packet struct {
	from fabric.Peer
	kind uint8
	imm  uint64
	hdr  []byte
	body []byte
}

func (g *rig) raw(rank int) *raw {
	d := g.open(rank)
	g.t.Cleanup(func() { d.Close() })
	return &raw{g: g, d: d, eps: map[int]fabric.Endpoint{}}
}

func (r *raw) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	r.got = append(r.got, packet{from, kind, imm, append([]byte{}, hdr...), append([]byte{}, body...)})
}
func (r *raw) Complete(fabric.Op, error)       {}
func (r *raw) PeerDown(p fabric.Peer, _ error) {}

// send sends one packet.
func (r *raw) send(to int, kind uint8, imm uint64, hdr, body []byte) {
	r.g.t.Helper()
	if r.eps[to] == nil {
		ep, err := r.d.Connect(fabric.Peer(to), r.g.addrs()[to])
		if err != nil {
			r.g.t.Fatal(err)
		}
		r.eps[to] = ep
	}
	for end := time.Now().Add(patience); ; {
		err := r.eps[to].Send(kind, imm, hdr, body)
		if err == nil {
			return
		}
		if err != fabric.ErrAgain || time.Now().After(end) {
			r.g.t.Fatalf("send of kind %d: %v", kind, err)
		}
		r.d.Poll(r, 64)
		runtime.Gosched()
	}
}

// next waits for a packet of a kind and answers it; those before it are gone.
func (r *raw) next(kind uint8) packet {
	r.g.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		for len(r.got) > 0 {
			p := r.got[0]
			r.got = r.got[1:]
			if p.kind == kind {
				return p
			}
		}
		r.d.Poll(r, 64)
		runtime.Gosched()
	}
	r.g.t.Fatalf("no packet of kind %#x came", kind)
	return packet{}
}

// first and rts make the headers.
func first(n int) []byte { return wire.MakeFirst(make([]byte, wire.FirstSize), uint64(n), false) }

func rts(remote fabric.Remote, n int, req uint64) []byte {
	return wire.MakeRTS(make([]byte, wire.RTSSize), remote.Addr, uint64(n), remote.Key, req, 0)
}

// pattern is n bytes that tell their place and their message.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed*31 + 1)
	}
	return b
}
