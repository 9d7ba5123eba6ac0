package verbs

import "github.com/weft-mpi/weft/fabric"

// Stats adds what the domain holds.
func (d *Domain) Stats(s *fabric.Stats) {
	s.Transport = "verbs"
	s.Add(fabric.Count{Name: "outstanding_sends", Help: "Work requests that have not completed.", Gauge: true, Value: uint64(d.outstanding)})
	s.Add(fabric.Count{Name: "polls", Help: "Looks at the completion queue.", Value: d.polls})
}
