package shm

import "github.com/weft-mpi/weft/fabric"

// Stats adds what the domain holds.
func (d *Domain) Stats(s *fabric.Stats) {
	s.Transport = "shm"
	connected := uint64(0)
	for _, e := range d.peers {
		if e != nil && e.up && e.down == nil {
			connected++
		}
	}
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.Add(fabric.Count{Name: "operations", Help: "One-sided operations under way.", Gauge: true, Value: uint64(len(d.jobs))})
	s.Add(fabric.Count{Name: "armings", Help: "Times the doorbell was armed, to sleep.", Value: d.armings})
}
