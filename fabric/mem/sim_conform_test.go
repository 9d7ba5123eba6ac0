package mem_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
)

// A Sim is driven by one goroutine. Here each Poll makes a few moves before it, and
// whoever sleeps makes moves until it is rung: a job that runs by itself, under one
// lock. Reach is left out: the suite's cases store and load as if all ranks had one
// view. TestAStoreInASimWaitsForItsMove and those behind it are for that.
func TestConformanceOfASim(t *testing.T) {
	for name, c := range map[string]mem.SimConfig{
		"depth 2":   {Depth: 2},
		"difficult": {Depth: 16, Again: 40, Split: 100},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.Split == 0 {
				t.Skip("the difficult one has all of it")
			}
			seed := uint64(0)
			var last *selfDriven
			fabrictest.Run(t, fabrictest.Harness{
				Open: func(t testing.TB, n int) (ds []fabric.Domain) {
					seed++
					c.Size = n
					c.Caps = fabric.Caps{MaxEager: 4096, Chunk: 2048, RndvMin: 8192, RndvMinMapped: 8192,
						Get: true, Put: true, Atomics: true, LocalUnregistered: true}
					last = &selfDriven{Sim: mem.NewSim(rand.New(rand.NewPCG(seed, 3)), c)}
					for r := range n {
						inner, err := last.Open(last.Config(r))
						if err != nil {
							t.Fatal(err)
						}
						d := &drivenDomain{Domain: inner, job: last, rank: r, woken: make(chan struct{}, 1), closed: make(chan struct{})}
						t.Cleanup(func() {
							if err := d.Close(); err != nil && !errors.Is(err, fabric.ErrClosed) {
								t.Errorf("Close: %v", err)
							}
						})
						ds = append(ds, d)
					}
					return ds
				},
				Kill: func(_ testing.TB, rank fabric.Peer) {
					last.mu.Lock()
					defer last.mu.Unlock()
					last.Kill(int(rank))
				},
				ChecksRemote: true,
				Allocates:    true,
				Brief:        true,
			})
		})
	}
}

// selfDriven is a Sim whose ranks move it on.
type selfDriven struct {
	*mem.Sim
	mu sync.Mutex
}

// drivenDomain is a domain of it.
type drivenDomain struct {
	fabric.Domain
	job    *selfDriven
	rank   int
	inside bool // the owner holds the lock: a handler calls
	eps    map[fabric.Peer]*drivenEndpoint
	woken  chan struct{} // holds one Wake
	closed chan struct{}
}

// own runs f under the lock. It is the owner's.
func (d *drivenDomain) own(f func()) {
	if !d.inside {
		d.job.mu.Lock()
		defer d.job.mu.Unlock()
	}
	f()
}

func (d *drivenDomain) Connect(p fabric.Peer, addr []byte) (e fabric.Endpoint, err error) {
	d.own(func() {
		if e, err = d.Domain.Connect(p, addr); err != nil {
			return
		}
		if d.eps == nil {
			d.eps = map[fabric.Peer]*drivenEndpoint{}
		}
		if d.eps[p] == nil {
			d.eps[p] = &drivenEndpoint{Endpoint: e, d: d}
		}
		e = d.eps[p]
	})
	return e, err
}

func (d *drivenDomain) Register(b []byte, a fabric.Access) (r fabric.Region, err error) {
	d.own(func() { r, err = d.Domain.Register(b, a) })
	return r, err
}

func (d *drivenDomain) Deregister(r fabric.Region) (err error) {
	d.own(func() { err = d.Domain.Deregister(r) })
	return err
}

func (d *drivenDomain) Poll(h fabric.Handler, most int) int {
	d.job.mu.Lock()
	defer d.job.mu.Unlock()
	for range 4 {
		d.job.Step()
	}
	d.inside = true
	defer func() { d.inside = false }()
	return d.Domain.Poll(h, most)
}

func (d *drivenDomain) Arm(w fabric.Wake) (err error) {
	d.own(func() { err = d.Domain.Arm(w) })
	return err
}

func (d *drivenDomain) Disarm() { d.own(d.Domain.Disarm) }

func (d *drivenDomain) End(p fabric.Peer, err error) (follows bool) {
	d.own(func() { follows = d.Domain.End(p, err) })
	return follows
}

func (d *drivenDomain) Wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

func (d *drivenDomain) Wait(timeout time.Duration) error {
	for start := time.Now(); ; runtime.Gosched() {
		select {
		case <-d.closed:
			return fabric.ErrClosed
		case <-d.woken:
			return nil
		default:
		}
		d.job.mu.Lock()
		d.job.Step()
		rung := d.job.Woken(d.rank)
		d.job.mu.Unlock()
		if rung || timeout > 0 && time.Since(start) > timeout {
			return nil
		}
	}
}

func (d *drivenDomain) Close() (err error) {
	d.own(func() {
		if err = d.Domain.Close(); err == nil {
			close(d.closed)
		}
	})
	return err
}

type drivenEndpoint struct {
	fabric.Endpoint
	d *drivenDomain
}

func (e *drivenEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) (err error) {
	e.d.own(func() { err = e.Endpoint.Send(kind, imm, hdr, body) })
	return err
}

func (e *drivenEndpoint) Put(src fabric.Segment, dst fabric.Remote, op fabric.Op) (err error) {
	e.d.own(func() { err = e.Endpoint.Put(src, dst, op) })
	return err
}

func (e *drivenEndpoint) Get(dst fabric.Segment, src fabric.Remote, op fabric.Op) (err error) {
	e.d.own(func() { err = e.Endpoint.Get(dst, src, op) })
	return err
}

func (e *drivenEndpoint) Atomic(a fabric.Atomic, dst fabric.Remote, op fabric.Op) (err error) {
	e.d.own(func() { err = e.Endpoint.Atomic(a, dst, op) })
	return err
}

func (e *drivenEndpoint) Flush(op fabric.Op) (err error) {
	e.d.own(func() { err = e.Endpoint.Flush(op) })
	return err
}

func (e *drivenEndpoint) Reach(r fabric.Remote) (b []byte, err error) {
	e.d.own(func() { b, err = e.Endpoint.Reach(r) })
	return b, err
}

func (e *drivenEndpoint) Knock(urgent bool) { e.d.own(func() { e.Endpoint.Knock(urgent) }) }
