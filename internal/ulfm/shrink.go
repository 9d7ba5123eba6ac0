package ulfm

// A Shrink is one rank's part in making a communicator of those that live: agreements,
// between which the ranks that the agreement before has not found dead meet to make it. It
// ends with an agreement that all who have met have made it. Each rank begins with Brings,
// and makes an agreement of what that returns; then with Decided for the outcome, and so
// on.
type Shrink struct {
	last Set // failed ranks, of the last agreement
	met  bool
}

// Bits of the Flags of a Shrink's agreements.
const well = 1 // the sender has made the communicator of the last agreement's living

// Brings is the Flags for the next agreement. made says that the meeting that Decided has
// asked for has gone well here.
func (s *Shrink) Brings(made bool) (flags uint64) {
	if s.met && made {
		return well
	}
	return 0
}

// Decided takes the outcome of an agreement. If again, the ranks but failed meet, and then
// make another agreement; else all of those that had met have the communicator.
func (s *Shrink) Decided(v Value) (failed Set, again bool) {
	if s.met && v.Flags&well != 0 {
		return s.last, false
	}
	s.last, s.met = v.Failed, true
	return s.last, true
}
