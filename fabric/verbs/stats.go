package verbs

import "github.com/weft-mpi/weft/fabric"

// Stats adds what the domain holds.
func (d *Domain) Stats(s *fabric.Stats) {
	s.Transport = "verbs"
	s.Add(fabric.Count{Name: "outstanding_sends", Help: "Work requests that have not completed.", Gauge: true, Value: uint64(d.outstanding)})
	connected := uint64(0)
	for _, e := range d.peers {
		if e != nil && e.up && e.down == nil {
			connected++
		}
	}
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.AddMemory(uint64(len(d.recvMem) + len(d.sendMem)))
	r := d.regions.Counts()
	s.Add(fabric.Count{Name: "registered_bytes", Help: "Memory that is registered with the device.", Unit: "bytes", Gauge: true, Value: r.Bytes})
	s.Add(fabric.Count{Name: "registration_cache_hits", Help: "Registrations that were found in the cache.", Value: r.Hits})
	s.Add(fabric.Count{Name: "registration_cache_misses", Help: "Registrations that were not, of memory that the cache takes.", Value: r.Misses})
	s.Add(fabric.Count{Name: "registration_cache_evictions", Help: "Registrations that have left the cache.", Value: r.Evictions})
	s.Add(fabric.Count{Name: "lost_paths", Help: "Further queue pairs that have failed; others have taken over.", Value: d.lostPaths})
	s.Add(fabric.Count{Name: "polls", Help: "Looks at the completion queue.", Value: d.polls})
}

// Lost does nothing: the socket to a peer ends with its process.
func (d *Domain) Lost(fabric.Peer, error) {}
