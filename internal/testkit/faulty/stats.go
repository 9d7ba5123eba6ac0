package faulty

import "github.com/weft-mpi/weft/fabric"

// Stats adds the counts of the domain within, if it has any, and how many
// operations were refused.
func (d *domain) Stats(s *fabric.Stats) {
	if r, ok := d.Domain.(fabric.Reporter); ok {
		r.Stats(s)
	} else {
		s.Transport = "faulty"
	}
	s.Add(fabric.Count{Name: "refused", Help: "Operations that were answered ErrAgain on purpose.", Value: d.refused})
}
