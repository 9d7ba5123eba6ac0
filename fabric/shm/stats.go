package shm

import "github.com/weft-mpi/weft/fabric"

// Stats adds what the domain holds.
func (d *Domain) Stats(s *fabric.Stats) {
	s.Transport = "shm"
	connected, rings := uint64(0), uint64(0)
	for _, e := range d.peers {
		if e != nil && e.up && e.down == nil {
			connected++
			rings += e.tx.bytes()
		}
	}
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.Add(fabric.Count{Name: "operations", Help: "One-sided operations under way.", Gauge: true, Value: uint64(len(d.jobs))})
	s.AddMemory(rings)
	s.Add(fabric.Count{Name: "alloc_bytes", Help: "Memory of Alloc that this process has in use.", Unit: "bytes", Gauge: true, Value: allocated()})
	s.Add(fabric.Count{Name: "armings", Help: "Times the doorbell was armed, to sleep.", Value: d.armings})
}

// bytes is how much memory the ring takes.
func (m *ringMem) bytes() uint64 {
	if m.first {
		return offLines
	}
	return uint64(len(m.mem))
}

// allocated is how much memory of the process's arena is in use.
func allocated() (n uint64) {
	if a := inUse.Load(); a != nil {
		n = a.held.Load()
	}
	return n
}

// Lost does nothing: the pidfd of a peer tells of its death.
func (d *Domain) Lost(fabric.Peer, error) {}
