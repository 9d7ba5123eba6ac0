package mem

import "github.com/weft-mpi/weft/fabric"

// Stats adds what the domain holds.
func (d *domain) Stats(s *fabric.Stats) {
	s.Transport = "mem"
	connected, inflight, memory := uint64(0), uint64(0), uint64(0)
	for p, ep := range d.eps {
		if ep != nil && d.peers[p].down == nil {
			connected++
			memory += ep.q.held + slotBytes*uint64(len(ep.q.in.slots))
		}
		inflight += uint64(d.peers[p].inflight)
	}
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.Add(fabric.Count{Name: "operations", Help: "One-sided operations under way.", Gauge: true, Value: inflight})
	s.AddMemory(memory)
}

// Stats adds what the domain holds.
func (d *simDomain) Stats(s *fabric.Stats) {
	s.Transport = "mem"
	connected := uint64(0)
	for p, ep := range d.eps {
		if ep != nil && d.down[p] == nil {
			connected++
		}
	}
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.Add(fabric.Count{Name: "operations", Help: "One-sided operations under way.", Gauge: true, Value: uint64(len(d.ops))})
}

// Lost does nothing: the ranks of a network know of each other.
func (d *domain) Lost(fabric.Peer, error) {}

// Lost does nothing: a move brings the news.
func (d *simDomain) Lost(fabric.Peer, error) {}
