package comm

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/progress/counters"
)

// callCounts counts the collective calls of a communicator by call and algorithm. A
// blocking call adds with a plain store, since there is one at a time; the owner of
// the loop loads it (Observe). So does a start of a persistent one, which the owner makes.
// Nonblocking ones may be started by several goroutines.
// Most communicators, above all those of windows, have no calls and no memory for them.
type callCounts struct {
	blocking, later, again atomic.Pointer[callTable]
}

// callTable has the calls of one kind.
type callTable [coll.LastCall + 1][algorithms]uint64

// algorithms is how many a call may have; the last ones of a Barrier are those by a tree
// and by flags.
const (
	algorithms = 4
	byFlagsToo = algorithms - 1
	byTree     = algorithms - 2
)

// tableOf is that of one kind, made at its first call.
func tableOf(p *atomic.Pointer[callTable]) *callTable {
	if t := p.Load(); t != nil { // pairs with the swap below
		return t
	}
	p.CompareAndSwap(nil, new(callTable))
	return p.Load()
}

// block counts a blocking call.
func (m *callCounts) block(call coll.Call, algorithm uint8) {
	count(tableOf(&m.blocking).of(call, algorithm))
}

// starts is what counts the starts of a persistent call.
func (m *callCounts) starts(call coll.Call, algorithm uint8) *uint64 {
	return tableOf(&m.again).of(call, algorithm)
}

func (t *callTable) of(call coll.Call, algorithm uint8) *uint64 {
	return &t[call%coll.Call(len(t))][algorithm%algorithms]
}

// count adds one, for the only one that does.
func count(n *uint64) { membar.StoreRelease(n, atomic.LoadUint64(n)+1) } // pairs with the load in join

// start counts a nonblocking call.
func (m *callCounts) start(call coll.Call, algorithm uint8) {
	if call.Known() {
		atomic.AddUint64(&tableOf(&m.later)[call][algorithm%algorithms], 1) // pairs with the load in join
	}
}

// callSums are the calls of several communicators.
type callSums struct{ blocking, later, again callTable }

func (s *callSums) join(m *callCounts) {
	s.blocking.join(m.blocking.Load())
	s.later.join(m.later.Load())
	s.again.join(m.again.Load())
}

// join adds the counts of another table, which is in use, or nil.
func (t *callTable) join(o *callTable) {
	if o == nil {
		return
	}
	for call := range o {
		for a := range algorithms {
			t[call][a] += atomic.LoadUint64(&o[call][a])
		}
	}
}

// tallies is the sink with the counts of an Instance.
type tallies struct{ aborts }

// Observe adds the counts of all communicators that there are or were.
func (t tallies) Observe(s *counters.Snapshot) {
	in := t.in
	in.mu.Lock()
	sum, live := in.made, len(in.live)
	for c := range in.live {
		sum.join(&c.made)
	}
	in.mu.Unlock()
	f := counters.Family{Name: "weft_coll_calls_total", Help: "Collective calls that have been begun, by operation and algorithm.", Labels: []string{"op", "algorithm"}}
	for call := coll.Barrier; call <= coll.LastCall; call++ {
		for a := range algorithms {
			name := algorithmName(call, a)
			if n := sum.blocking[call][a]; n > 0 {
				s.Add(f, n, call.String(), name)
			}
			if n := sum.later[call][a]; n > 0 {
				op := call.String()
				s.Add(f, n, "I"+strings.ToLower(op[:1])+op[1:], name)
			}
			if n := sum.again[call][a]; n > 0 {
				s.Add(f, n, call.String()+"Init", name)
			}
		}
	}
	s.Add(counters.Family{Name: "weft_communicators", Help: "Communicators that have not been freed.", Gauge: true}, uint64(live))
	in.chosen(s)
}

// chosen adds how many peers each transport serves. Under ownership.
func (in *Instance) chosen(s *counters.Snapshot) {
	type choice struct {
		fabric.Domain
		sample fabric.Peer // that it serves
		peers  uint64
	}
	var all []choice
	for rank := range in.World.Size {
		if rank == in.World.Rank {
			continue
		}
		p := fabric.Peer(rank)
		via := in.Loop.Via(p)
		i := slices.IndexFunc(all, func(c choice) bool { return c.Domain == via })
		if i < 0 {
			i = len(all)
			all = append(all, choice{Domain: via, sample: p})
		}
		all[i].peers++
	}
	f := counters.Family{Name: "weft_fabric_chosen", Help: "Peers that a transport was chosen for, connected or not.", Gauge: true, Labels: []string{"transport"}}
	for _, c := range all {
		s.Add(f, c.peers, in.Loop.TransportOf(c.sample))
	}
}

func algorithmName(call coll.Call, a int) string {
	if all := coll.Algorithms(call); a < len(all) {
		return all[a].Name
	}
	if a == byTree {
		return "tree"
	}
	return "flags"
}

// retire keeps the counts of a communicator that is over; under mu.
func (in *Instance) retire(c *Comm) {
	if _, there := in.live[c]; there {
		in.made.join(&c.made)
		delete(in.live, c)
	}
}
