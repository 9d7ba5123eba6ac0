package partitioned

import "github.com/weft-mpi/weft/progress/counters"

// counts are of rounds that have completed. The owner adds to them with plain
// stores.
type counts struct {
	early, late    uint64 // blocks that were ready before their receiver was, and the others
	sent, received struct{ rounds, bytes uint64 }
}

// countSent counts the round that has ended.
func (s *Send) countSent() {
	n, early := uint64(s.shape.blocks()), uint64(min(s.early, s.shape.blocks()))
	c := &s.e.counts
	c.early += early
	c.late += n - early
	c.sent.rounds++
	c.sent.bytes += s.shape.bytes
}

// countReceived counts the round that has ended.
func (r *Recv) countReceived(bytes uint64) {
	r.e.counts.received.rounds++
	r.e.counts.received.bytes += bytes
}

// Observe adds the engine's counts to a snapshot.
func (e *Engine) Observe(s *counters.Snapshot) {
	blocks := counters.Family{Name: "weft_part_blocks_total", Labels: []string{"when"},
		Help: "Blocks of partitioned sends by whether they were ready before their receiver had begun the round (early)."}
	s.Add(blocks, e.counts.early, "early")
	s.Add(blocks, e.counts.late, "late")
	rounds := counters.Family{Name: "weft_part_rounds_total", Help: "Rounds of partitioned operations that have completed.", Labels: []string{"direction"}}
	s.Add(rounds, e.counts.sent.rounds, "sent")
	s.Add(rounds, e.counts.received.rounds, "received")
	bytes := counters.Family{Name: "weft_part_bytes_total", Help: "Bytes of rounds of partitioned operations that have completed.", Unit: "bytes", Labels: []string{"direction"}}
	s.Add(bytes, e.counts.sent.bytes, "sent")
	s.Add(bytes, e.counts.received.bytes, "received")
}
