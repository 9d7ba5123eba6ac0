package comm

import "slices"

// What comes about the failed ranks of a communicator before this rank has made it, and
// after it has freed it.

// restingFailures is of how many freed communicators a rank keeps failures.
const restingFailures = 1024

// meetFailures has a communicator that has just been made take what came for it before.
// For the owner.
func (in *Instance) meetFailures(c *Comm) {
	if f := in.failed[c.ID]; f != nil && f.c != c {
		delete(in.failed, c.ID) // of one that had this id long ago
	}
	all := in.earlyFailures[c.ID]
	if all == nil {
		return
	}
	in.forgetFailing(c.ID)
	f := in.failuresOf(c)
	for _, e := range all {
		f.take(e.from, e)
	}
}

// forgetFailing drops what has come for a communicator that this rank will not make.
func (in *Instance) forgetFailing(id uint32) {
	in.earlyFailing -= len(in.earlyFailures[id])
	delete(in.earlyFailures, id)
}

// restFailures keeps the failures of a communicator that has been freed, or what they
// would begin with.
func (in *Instance) restFailures(c *Comm) {
	if f := in.failed[c.ID]; f == nil || f.c != c {
		if c.sizeOfAll() == 1 {
			return
		}
		c = &Comm{P2P: c.P2P, ID: c.ID, Rank: c.Rank, Size: c.Size, Ranks: c.Ranks, Remote: c.Remote, in: in, freed: true, brokenFrom: c.brokenFrom, told: c.told}
	}
	in.resting = append(in.resting, c)
	if len(in.resting) <= restingFailures {
		return
	}
	old := in.resting[0]
	in.resting = slices.Delete(in.resting, 0, 1)
	if f := in.failed[old.ID]; f != nil && f.c == old {
		delete(in.failed, old.ID)
	}
}

// restingOf returns the failures of a freed communicator that had none, or nil.
func (in *Instance) restingOf(id uint32) *failures {
	for _, c := range slices.Backward(in.resting) {
		if c.ID == id {
			return in.failuresOf(c)
		}
	}
	return nil
}
