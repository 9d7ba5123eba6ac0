package pt2pt

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/fabric/tcp"
	"github.com/weft-mpi/weft/fabric/verbs"
)

// realSeeds is how many plans are played over each real transport.
func realSeeds() uint64 {
	if testing.Short() {
		return 30
	}
	return 200
}

// runReal plays a seed's plan over transports and returns what broke.
func runReal(seed uint64, lie func(*realDomain, *realMessage), ps ...fabric.Provider) (trace []byte, err error) {
	rng := rand.New(rand.NewPCG(seed, 0x4ea1))
	p := drawPlan(rng)
	size := p.nets[0].Size
	n, err := newRealNets(fmt.Sprintf("oracle %d %d", os.Getpid(), seed), size, ps...)
	if err != nil {
		return nil, err
	}
	n.lie = lie
	for i := range ps {
		if i == len(p.nets) {
			p.nets = append(p.nets, p.nets[0])
		}
		c := &p.nets[i].Caps
		if rng.IntN(3) == 0 { // the transport's own lengths
			*c = n.domains[i][0].Caps()
		}
		*c = n.limit(i, *c)
	}
	p.nets = p.nets[:len(ps)]
	if len(ps) > 1 || ps[0].Name() == "shm" {
		p.deaths = nil // shared memory sees the end of processes only
	}
	if len(p.deaths) > 0 {
		if err := n.meet(); err != nil {
			n.close()
			return nil, err
		}
	}
	w := newSimWorld(rng, size, n, p.limits)
	w.drawShapes(rand.New(rand.NewPCG(seed, 0x1a7007)))
	w.tracing = true
	w.note("%+v", p)
	err = w.run(p)
	n.close()
	return w.trace, err
}

// The oracle's log check over real transports: the plans of the simulation,
// where the network moves as it likes.
func TestPlansOverRealTransports(t *testing.T) {
	for name, ps := range map[string][]fabric.Provider{
		"shm": {shm.Provider{}}, "tcp": {tcp.Provider{}}, "shm+tcp": {shm.Provider{}, tcp.Provider{}},
		"verbs": {verbs.Provider{}}, "shm+verbs": {shm.Provider{}, verbs.Provider{}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range ps {
				if err := p.Available(); err != nil {
					if os.Getenv("WEFT_ROCE") != "" {
						t.Fatalf("WEFT_ROCE is set: %v", err)
					}
					t.Skip(err)
				}
			}
			start, events := time.Now(), 0
			for seed := *simFrom; seed < *simFrom+realSeeds(); seed++ {
				trace, err := runReal(seed, nil, ps...)
				if err != nil {
					t.Fatalf("%s\nplan %d: %v", tail(trace, traceLines), seed, err)
				}
				for _, b := range trace {
					if b == '\n' {
						events++
					}
				}
			}
			t.Logf("%d plans, %d events in %v", realSeeds(), events, time.Since(start).Round(time.Millisecond))
		})
	}
}

// The check above finds what a transport does wrong, whichever it is.
func TestTheOracleSeesWhatARealTransportDoesWrong(t *testing.T) {
	if err := (shm.Provider{}).Available(); err != nil {
		t.Skip(err)
	}
	for what, lie := range map[string]func() func(*realDomain, *realMessage){
		"a byte differs": func() func(*realDomain, *realMessage) {
			return func(d *realDomain, m *realMessage) {
				if len(m.body) > 3 {
					m.body = append([]byte{m.body[0] ^ 1}, m.body[1:]...)
				}
			}
		},
		"a message is lost": func() func(*realDomain, *realMessage) {
			n := 0
			return func(d *realDomain, m *realMessage) { n++; m.lost = n == 20 }
		},
		"a message comes twice": func() func(*realDomain, *realMessage) {
			n := 0
			return func(d *realDomain, m *realMessage) {
				if n++; n == 20 {
					d.hand(*m)
				}
			}
		},
		"two messages change places": func() func(*realDomain, *realMessage) {
			var held *realMessage
			n := 0
			return func(d *realDomain, m *realMessage) {
				switch n++; {
				case n >= 20 && held == nil:
					held = &realMessage{from: m.from, kind: m.kind, imm: m.imm, hdr: append([]byte(nil), m.hdr...), body: append([]byte(nil), m.body...)}
					held.lost, m.lost = false, true
				case held != nil && held.from == m.from && !held.lost:
					d.hand(*m)
					*m = *held
					held.lost = true
				}
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			for seed := uint64(1); seed <= 20; seed++ {
				if _, err := runReal(seed, lie(), shm.Provider{}); err != nil {
					t.Logf("plan %d: %v", seed, err)
					return
				}
			}
			t.Error("nothing was noticed in 20 plans")
		})
	}
}
