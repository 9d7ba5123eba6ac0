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
func newSimNets(rng *rand.Rand, cs []mem.SimConfig) *simNets {
	n := &simNets{rng: rng, via: func(a, b int) int { return 0 }}
	if len(cs) > 1 {
		n.via = func(a, b int) int { return (a ^ b) & 1 }
	}
	for i, c := range cs {
		if len(cs) > 1 {
			c.Meet = func(a, b int) bool { return n.via(a, b) == i }
		}
		n.all = append(n.all, mem.NewSim(rng, c))
	}
	return n
}

func (n *simNets) open(rank int) (ds []fabric.Domain, via []int, addrs [][]byte) {
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
	return ds, via, n.all[0].Addrs()
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

func (n *simNets) watch(f func(mem.SimEvent)) {
	for _, s := range n.all {
		s.Observe = f
	}
}

func (n *simNets) busy() bool { return false }

func (n *simNets) tired(round int) bool { return round > 20000 }
