package rma

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// narrow is a domain that offers less than its own: a way, and packets of a length.
type narrow struct {
	fabric.Domain
	way   way
	eager int
}

func (d narrow) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.MaxEager = min(c.MaxEager, d.eager)
	c.Chunk = min(c.Chunk, c.MaxEager)
	c.Reach = c.Reach && d.way == reached
	if d.way == packets {
		c.Put, c.Get, c.PutFirst = false, false, false
	}
	return c
}

// memNetworks are networks of goroutines, one for each way.
func memNetworks(n int) func(way) fabric.Provider {
	return func(way) fabric.Provider { return mem.NewNetwork(n).Provider() }
}

// mesh is the ranks of a job, each pair of which goes a way of its own.
type mesh struct {
	n       int
	loops   []*progress.Loop
	engines []*Engine
	closed  []bool
	gate    *meeting
	alloc   func(int) ([]byte, error)
	line    func(rank int) string // unless nil, windows have separate memory
}

// greeting is a kind of the tests.
const greeting = 112 | wire.Urgent

// greeters count the packets with which ranks meet: connections stand before windows
// are made.
type greeters struct {
	progress.Passive
	mu   sync.Mutex
	n    int
	want int
	all  chan struct{}
}

func (g *greeters) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n++; g.n == g.want {
		close(g.all)
	}
}
func (g *greeters) Start(*progress.Request)              {}
func (g *greeters) Resume(*progress.Request) error       { return nil }
func (g *greeters) Cancel(*progress.Request, error) bool { return false }
func (g *greeters) Complete(*progress.Request, error)    {}
func (g *greeters) PeerDown(fabric.Peer, error)          {}

// newMesh opens a domain of each of three networks for every rank, one for each way.
func newMesh(job string, n, eager int, open func(w way) fabric.Provider, between func(a, b int) way, alloc func(int) ([]byte, error)) (_ *mesh, err error) {
	log := slog.New(slog.DiscardHandler)
	g := &mesh{n: n, closed: make([]bool, n), gate: newMeeting(n), alloc: alloc}
	var doms [ways][]fabric.Domain
	for w := range ways {
		p := open(w)
		for i := range n {
			d, err := p.Open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: fmt.Sprint(job, w), Log: log})
			if err != nil {
				for _, ds := range doms {
					for _, d := range ds {
						d.Close()
					}
				}
				return nil, err
			}
			doms[w] = append(doms[w], narrow{d, w, eager})
		}
	}
	met := &greeters{want: n * (n - 1), all: make(chan struct{})}
	for i := range n {
		var via []int
		var addrs [][]byte
		for p := range n {
			w := between(i, p)
			via, addrs = append(via, int(w)), append(addrs, doms[w][p].Addr())
		}
		l := progress.New(progress.Config{Domain: doms[0][i], More: []fabric.Domain{doms[1][i], doms[2][i]}, Via: via, Addrs: addrs, Log: log, Ranks: n, Oversubscribed: true})
		l.Handle(met, greeting)
		g.loops, g.engines = append(g.loops, l), append(g.engines, New(l, i, alloc))
		l.Go()
	}
	if met.want == 0 {
		close(met.all)
	}
	for i, l := range g.loops {
		l.Exclusive(func() {
			for p := range n {
				if p != i {
					l.Conn(fabric.Peer(p)).Post(greeting, 0, nil)
				}
			}
		})
	}
	select {
	case <-met.all:
	case <-time.After(patience):
		err = errors.New("the ranks have not met")
	}
	if err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *mesh) kill(rank int) error {
	g.closed[rank] = true
	return g.loops[rank].Close()
}

func (g *mesh) close() (err error) {
	for i, l := range g.loops {
		if !g.closed[i] {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// idle returns what is left of the operations of a rank.
func (g *mesh) idle(rank int) (err error) {
	e := g.engines[rank]
	e.loop.Exclusive(func() {
		if n := len(e.ops) - len(e.idle); n != 0 {
			err = fmt.Errorf("rank %d has %d operations left", rank, n)
		}
		for p, l := range e.lanes {
			if l.first != nil || l.asked != 0 {
				err = fmt.Errorf("rank %d has operations with %d in a lane, and %d pieces under way", rank, p, l.asked)
			}
		}
		for _, w := range e.wins {
			for i := range w.targets {
				if t := &w.targets[i]; t.open.first != nil || t.flushes.first != nil || len(t.kept) > 0 {
					err = fmt.Errorf("rank %d has operations or memory of target %d left", rank, i)
				}
			}
			if len(w.pending)+len(w.local.waiting)+len(w.global.waiting) > 0 {
				err = fmt.Errorf("rank %d has locks that are waited for", rank)
			}
		}
	})
	return err
}

// window makes a window of all ranks, with a part for each.
func (g *mesh) window(id uint32, mem [][]byte, unit int) ([]*Win, error) {
	all := make([]*Win, g.n)
	for i, e := range g.engines {
		var err error
		var part []byte
		if mem != nil {
			part = mem[i]
		}
		var line func() string
		if at := g.line; at != nil {
			line = func() string { return at(i) }
		}
		if all[i], err = e.Prepare(id, nil, i, g.n, part, unit, line); err != nil {
			return nil, err
		}
	}
	for i, w := range all {
		parts := make([]Part, g.n)
		for k := range all {
			parts[k] = all[k].Part(i)
		}
		if err := w.Join(parts, g.gate.wait); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// meeting is a barrier of all ranks, which a death breaks. A rank whose context ends has
// not come, and may come again.
type meeting struct {
	mu     sync.Mutex
	n, got int
	open   chan struct{}
	broken chan struct{}
	why    error
}

func newMeeting(n int) *meeting {
	return &meeting{n: n, open: make(chan struct{}), broken: make(chan struct{})}
}

func (m *meeting) wait(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	open := m.open
	if m.got++; m.got == m.n {
		m.got, m.open = 0, make(chan struct{})
		close(open)
	}
	m.mu.Unlock()
	select {
	case <-open:
		return nil
	case <-m.broken:
		return m.why
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		if open != m.open {
			return nil
		}
		m.got--
		return context.Cause(ctx)
	}
}

func (m *meeting) breaks(why error) {
	m.why = why
	close(m.broken)
}
