package faulty

import "github.com/weft-mpi/weft/fabric"

// Stats adds the counts of the domain within, and how many operations were refused.
func (d *domain) Stats(s *fabric.Stats) {
	d.Domain.Stats(s)
	s.Add(fabric.Count{Name: "refused", Help: "Operations that were answered ErrAgain on purpose.", Value: d.refused})
}
