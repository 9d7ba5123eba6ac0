package progress

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/expiry"
)

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// Kinds of a toy's requests.
const (
	atOnce  uint8 = iota + 1 // ends as it starts
	letter                   // ends when a packet has gone to Peer and come back
	forever                  // ends when canceled or told to
)

const (
	question uint8 = 1 | fabric.Urgent
	answer   uint8 = 2 | fabric.Urgent
)

// toy is a protocol for tests. The status of its requests tells their Imm
// back, so a result that belongs to another request is seen.
type toy struct {
	Passive
	l        *Loop
	waiting  map[*Request]bool // requests of kind forever
	canceled int
	started  []uint64 // Imms, in the order of starting, if not nil
}

func (s *toy) Start(r *Request) {
	if s.started != nil {
		s.started = append(s.started, r.Imm)
	}
	r.Result.Bytes = 0
	switch r.Kind {
	case atOnce:
		s.finish(r)
	case forever:
		s.waiting[r] = true
	case letter:
		c := s.l.Conn(fabric.Peer(r.Peer))
		if c.Busy() || s.Resume(r) == fabric.ErrAgain {
			c.Enqueue(r)
		}
	}
}

func (s *toy) Resume(r *Request) error {
	ep := s.l.Conn(fabric.Peer(r.Peer)).Endpoint()
	return ep.Send(question, uint64(r.Op()), nil, nil)
}

func (s *toy) finish(r *Request) {
	r.Result.Bytes = r.Imm
	s.l.Finish(r, nil)
}

func (s *toy) Cancel(r *Request, err error) bool {
	if !s.waiting[r] {
		return false
	}
	delete(s.waiting, r)
	s.canceled++
	r.Result.Bytes = r.Imm
	s.l.Finish(r, err)
	return true
}

func (s *toy) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	switch kind {
	case question:
		s.l.Conn(from).Post(answer, imm, nil)
	case answer:
		if r := s.l.Named(s, imm); r != nil {
			s.finish(r)
		} else {
			panic("an answer names no request in flight")
		}
	}
}

func (s *toy) Complete(*Request, error)          {}
func (s *toy) PeerDown(p fabric.Peer, err error) {}

// tell ends the requests of kind forever that are waiting. Under ownership.
func (s *toy) tell() {
	for r := range s.waiting {
		delete(s.waiting, r)
		s.finish(r)
	}
}

// persist makes a persistent request.
func (s *toy) persist(kind uint8, imm uint64) Handle {
	r := s.l.NewShared()
	r.Kind, r.Imm = kind, imm
	return s.l.Persist(s, r)
}

// loops makes n joined ranks with a toy each.
func loops(t testing.TB, n int, cfg Config, opts ...mem.Option) []*toy {
	w := mem.NewNetwork(n, opts...)
	var addrs [][]byte
	var doms []fabric.Domain
	for i := range n {
		d, err := w.Provider().Open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: "test", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		doms, addrs = append(doms, d), append(addrs, d.Addr())
	}
	var toys []*toy
	for _, d := range doms {
		cfg.Domain, cfg.Addrs, cfg.Log = d, addrs, slog.New(slog.DiscardHandler)
		l := New(cfg)
		s := &toy{l: l, waiting: map[*Request]bool{}}
		l.Handle(s, question, answer)
		l.Go()
		toys = append(toys, s)
		t.Cleanup(func() {
			if l.life.Load() != closed {
				l.Close()
			}
			d.Close()
		})
	}
	return toys
}

// lone makes one rank without a thread, whose domain is what wrap makes of one
// of mem: a test that polls by itself.
func lone(t *testing.T, wrap func(fabric.Domain, *toy) fabric.Domain) *Loop {
	d, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &toy{waiting: map[*Request]bool{}}
	s.l = New(Config{Domain: wrap(d, s), Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler), NoThread: true})
	s.l.Handle(s, question, answer)
	t.Cleanup(func() {
		s.l.Close()
		d.Close()
	})
	return s.l
}

// beginForever starts a request that ends when it is told to. For the owner.
func (s *toy) beginForever() *Request {
	r := s.l.New()
	r.Kind = forever
	s.l.Begin(s, r)
	return r
}

// own calls f as the owner.
func (s *toy) own(f func()) {
	for !s.l.Enter() {
		runtime.Gosched()
	}
	f()
	s.l.Leave()
}

// shared fills in a request that anyone may take.
func (s *toy) shared(kind uint8, peer int, token uint64, ctx context.Context) *Request {
	r := s.l.NewShared()
	r.Kind, r.Peer, r.Imm, r.Until = kind, int32(peer), token, expiry.Of(ctx)
	return r
}

// submit starts a request as a goroutine does that may not be the owner.
func (s *toy) submit(kind uint8, peer int, token uint64) Handle {
	r := s.shared(kind, peer, token, nil)
	h := r.Handle()
	s.l.Submit(s, r)
	return h
}

// begin starts one in place, as the owner.
func (s *toy) begin(kind uint8, peer int, token uint64) Handle {
	var h Handle
	s.own(func() {
		r := s.l.New()
		r.Kind, r.Peer, r.Imm, r.Until = kind, int32(peer), token, expiry.Expiry{}
		h = r.Handle()
		s.l.Begin(s, r)
	})
	return h
}

// together runs f on n goroutines and fails if they do not end: something was
// lost then.
func together(t *testing.T, n int, f func(i int)) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		buf := make([]byte, 1<<16)
		panic(fmt.Sprintf("%s: a wake-up or a node was lost:\n%s", t.Name(), buf[:runtime.Stack(buf, true)]))
	}
}

// checkFree checks that every request is on exactly one of the free lists.
func (s *toy) checkFree(t *testing.T) {
	t.Helper()
	s.own(func() {
		q := &s.l.requests
		seen := map[uint32]int{}
		n := 0
		for r := q.own; r != nil; r = r.Link {
			seen[r.id]++
			n++
		}
		if n != q.nOwn {
			t.Errorf("%d requests in the owner's list, counted %d", n, q.nOwn)
		}
		for id := uint32(q.shared.Load()); id != 0; id = q.link(id - 1).Load() {
			seen[id-1]++
		}
		for id := range uint32(len(q.all()) * chunkSize) {
			if seen[id] != 1 {
				t.Errorf("request %d is %d times in the free lists", id, seen[id])
			}
			if r := q.at(id); r.sink != nil || r.Buf != nil || r.waiter != nil || r.done || r.queued != nil {
				t.Errorf("free request %d keeps something: %+v", id, r)
			}
		}
	})
}
