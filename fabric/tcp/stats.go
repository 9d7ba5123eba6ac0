package tcp

import (
	"github.com/weft-mpi/weft/fabric"
)

// counts are what the transport counts besides what can be found by looking. The
// owner adds to them with plain stores.
type counts struct {
	emptyReads          uint64 // system calls
	noRoom              uint64 // Sends that were answered with ErrAgain
	gets, puts, atomics uint64 // of peers, carried out here
}

// Stats adds what the domain holds and has counted.
func (d *Domain) Stats(s *fabric.Stats) {
	s.Transport = "tcp"
	var connected, bulk, operations, buffers uint64
	for _, e := range d.eps {
		if e == nil || e.down != nil {
			continue
		}
		operations += uint64(e.inFlight)
		if e.msg != nil {
			connected++
		}
		if e.bulk != nil {
			bulk++
		}
	}
	for _, c := range d.conns {
		if c != nil {
			buffers += uint64(cap(c.in) + cap(c.staged))
			if c.seal != nil {
				buffers += uint64(cap(c.seal.out))
			}
		}
	}
	for _, b := range d.buffers.free {
		buffers += uint64(cap(b))
	}
	n := &d.counts
	s.Add(fabric.Count{Name: "connected_peers", Help: "Peers that are connected.", Gauge: true, Value: connected})
	s.Add(fabric.Count{Name: "bulk_connections", Help: "Connections for bulk data, besides those for messages.", Gauge: true, Value: bulk})
	s.Add(fabric.Count{Name: "operations", Help: "One-sided operations under way.", Gauge: true, Value: operations})
	s.AddMemory(buffers)
	s.Add(fabric.Count{Name: "empty_reads", Help: "System calls that found nothing to read.", Value: n.emptyReads})
	s.Add(fabric.Count{Name: "full_sends", Help: "Messages that had to wait for room in the connection's buffer.", Value: n.noRoom})
	s.Add(fabric.Count{Name: "served_gets", Help: "Gets of peers that were begun here.", Value: n.gets})
	s.Add(fabric.Count{Name: "served_puts", Help: "Puts of peers whose bytes are here.", Value: n.puts})
	s.Add(fabric.Count{Name: "served_atomics", Help: "Atomics of peers that were carried out here.", Value: n.atomics})
	s.Add(fabric.Count{Name: "redials", Help: "Rounds in which a rank has tried a peer's addresses again.", Value: d.redials.Load()})
	s.Add(fabric.Count{Name: "refused_greetings", Help: "Connections that were refused: they did not prove that they belong to the job, say.", Value: uint64(d.guard.Refused())})
}
