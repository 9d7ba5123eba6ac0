package pt2pt

import (
	"math/rand/v2"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// simNets are the networks of a job: one, or two of which each pair of ranks
// uses one.
type simNets struct {
	rng *rand.Rand
	all []*mem.Sim
	via func(a, b int) int // which of them
}

// newSimNets makes them. Ranks of which both are even, or both odd, meet in the
// first.
func newSimNets(rng *rand.Rand, cs []mem.SimConfig, observe func(mem.SimEvent)) *simNets {
	n := &simNets{rng: rng, via: func(a, b int) int { return 0 }}
	if len(cs) > 1 {
		n.via = func(a, b int) int { return (a ^ b) & 1 }
	}
	for i, c := range cs {
		c.Observe = observe
		if len(cs) > 1 {
			c.Meet = func(a, b int) bool { return n.via(a, b) == i }
		}
		n.all = append(n.all, mem.NewSim(rng, c))
	}
	return n
}

// open opens a rank's domains, and says which leads to each rank.
func (n *simNets) open(rank int) (ds []fabric.Domain, via []int) {
	for _, s := range n.all {
		d, err := s.Open(s.Config(rank))
		if err != nil {
			panic(err)
		}
		ds = append(ds, d)
	}
	for p := range n.all[0].Size {
		via = append(via, n.via(rank, p))
	}
	return ds, via
}

// step makes a move in one of the networks.
func (n *simNets) step() bool {
	i := 0
	if len(n.all) > 1 {
		i = n.rng.IntN(len(n.all))
	}
	for k := range n.all {
		if n.all[(i+k)%len(n.all)].Step() {
			return true
		}
	}
	return false
}

// calm ends all faults until the function it returns is called.
func (n *simNets) calm() (rouse func()) {
	var was []mem.SimConfig
	for _, s := range n.all {
		was = append(was, s.SimConfig)
		s.Calm()
	}
	return func() {
		for i, s := range n.all {
			s.SimConfig = was[i]
		}
	}
}

func (n *simNets) quiet() bool {
	for _, s := range n.all {
		if !s.Quiet() {
			return false
		}
	}
	return true
}

func (n *simNets) regions(rank int) (sum int) {
	for _, s := range n.all {
		sum += s.Regions(rank)
	}
	return sum
}

func (n *simNets) kill(rank int) {
	for _, s := range n.all {
		s.Kill(rank)
	}
}

// mute ends the observation.
func (n *simNets) mute() {
	for _, s := range n.all {
		s.Observe = nil
	}
}
