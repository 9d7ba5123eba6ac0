package faulty

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// Faults are the chances of each fault, in 256.
type Faults struct {
	Again int // operations that answer ErrAgain
	Split int // Polls that do less than they could
	Hold  int // completions that wait for a later Poll
	Early int // Waits that return at once
	NoGet int // Gets that are refused
}

// Some is a fair share of each fault that changes no answer for good: NoGet
// is 0.
var Some = Faults{Again: 16, Split: 64, Hold: 64, Early: 32}

// Provider wraps p. Each domain draws from a generator of its own, of seed and
// rank, in its owner's calls only.
func Provider(p fabric.Provider, seed uint64, f Faults) fabric.Provider {
	return provider{p, seed, f}
}

type provider struct {
	fabric.Provider
	seed   uint64
	faults Faults
}

func (p provider) Open(c fabric.Config) (fabric.Domain, error) {
	d, err := p.Provider.Open(c)
	if err != nil {
		return nil, err
	}
	return Domain(d, c.Size, p.seed+uint64(c.Rank)<<32, p.faults), nil
}

// Domain wraps the domain of a rank in a job of size ranks.
func Domain(d fabric.Domain, size int, seed uint64, f Faults) fabric.Domain {
	w := &domain{Domain: d, caps: d.Caps(), faults: f, eps: make([]*endpoint, size)}
	w.rng.Seed(seed, 0)
	w.early.rng.Seed(seed, 1)
	return w
}

// chance says whether something happens that happens so often in 256.
func chance(rng *rand.PCG, of256 int) bool { return of256 > 0 && int(rng.Uint64()>>56) < of256 }

// domain is a domain with faults.
type domain struct {
	fabric.Domain
	caps   fabric.Caps
	faults Faults

	// closed is stored by Close and loaded by the owner: no faults after it.
	closed atomic.Bool
	early  struct { // of whoever waits
		sync.Mutex
		rng rand.PCG
	}

	// The owner's.
	rng     rand.PCG
	eps     []*endpoint
	held    []event // not handed over yet, oldest first
	refused uint64
	h       fabric.Handler
}

func (d *domain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	if err != nil {
		return nil, err
	}
	if int(p) >= len(d.eps) {
		return ep, nil
	}
	if d.eps[p] == nil || d.eps[p].Endpoint != ep {
		d.eps[p] = &endpoint{Endpoint: ep, d: d}
	}
	return d.eps[p], nil
}

func (d *domain) End(p fabric.Peer, err error) bool {
	if int(p) < len(d.eps) && d.eps[p] != nil {
		d.eps[p].down = true
	}
	return d.Domain.End(p, err)
}

func (d *domain) Close() error {
	d.closed.Store(true)
	return d.Domain.Close()
}

// Wait returns early now and then.
func (d *domain) Wait(timeout time.Duration) error { return d.Domain.Wait(d.maybe(timeout)) }

// Sleep does as Wait.
func (d *domain) Sleep(timeout time.Duration) error { return d.Domain.Sleep(d.maybe(timeout)) }

func (d *domain) maybe(timeout time.Duration) time.Duration {
	d.early.Lock()
	defer d.early.Unlock()
	if chance(&d.early.rng, d.faults.Early) {
		return time.Nanosecond
	}
	return timeout
}
