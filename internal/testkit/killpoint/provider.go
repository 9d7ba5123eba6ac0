package killpoint

import (
	"github.com/weft-mpi/weft/fabric"
)

// measurer and adopter are what package transports asks of a Provider and a Domain
// besides the contract; see internal/transports/threshold.go.
type measurer interface {
	GetMin(options map[string]string) (int, error)
	Weigh() (int, error)
}

type adopter interface{ SetGetMin(n int) }

// Provider wraps p.
func Provider(p fabric.Provider) fabric.Provider {
	if m, ok := p.(measurer); ok {
		return measuring{provider{p}, m}
	}
	return provider{p}
}

type provider struct{ fabric.Provider }

type measuring struct {
	provider
	measurer
}

func (p provider) Open(c fabric.Config) (fabric.Domain, error) {
	d, err := p.Provider.Open(c)
	if err != nil {
		return nil, err
	}
	opened.Lock()
	defer opened.Unlock()
	opened.addrs = append(opened.addrs, p.Name()+" "+string(d.Addr()))
	return &domain{Domain: d, ways: opened.ways, eps: make([]*endpoint, c.Size), ops: map[fabric.Op]transfer{}}, nil
}

// domain is a domain whose traffic has points.
type domain struct {
	fabric.Domain
	ways Ways

	// The owner's.
	eps []*endpoint
	ops map[fabric.Op]transfer // under way
	h   fabric.Handler         // of the Poll under way
}

// transfer is a Get or a Put.
type transfer struct {
	end  Event
	peer fabric.Peer
}

func (d *domain) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.Get = c.Get && d.ways != Fragments
	c.Pack, c.Write = false, false // they have no points
	c.PutFirst = c.PutFirst || c.Put && d.ways == Writes
	return c
}

func (d *domain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	if err != nil || int(p) >= len(d.eps) {
		return ep, err
	}
	if d.eps[p] == nil || d.eps[p].Endpoint != ep {
		d.eps[p] = &endpoint{ep, d, p}
	}
	return d.eps[p], nil
}

func (d *domain) Close() error {
	happen(Closing, 0, 0)
	return d.Domain.Close()
}

// SetGetMin passes on the threshold of the host, if the domain within has one.
func (d *domain) SetGetMin(n int) {
	if a, ok := d.Domain.(adopter); ok {
		a.SetGetMin(n)
	}
}
