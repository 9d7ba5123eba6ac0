package comm

import "errors"

// ErrRevoked is the error of operations on a communicator that has been revoked.
var ErrRevoked = errors.New("the communicator has been revoked, by this rank or another: its living ranks may go on with what Shrink makes")

// Revoke ends all communication on the communicator with ErrRevoked, here at once and at
// all other ranks when they hear of it (MPIX_Comm_revoke). What may still be called are
// agreements, shrinks, and local calls. Local.
func (c *Comm) Revoke() {
	c.in.Loop.Exclusive(func() {
		if c.in.failuresOf(c).revocation.Revoke() {
			c.revoked()
		}
	})
}

// Revoked reports whether the communicator has been revoked, as far as this rank knows. It
// stays so. Local.
func (c *Comm) Revoked() bool { return c.isRevoked.Load() } // pairs with the store in revoked

// revoked ends what is under way on the communicator, but for its last barrier. For the
// owner.
func (c *Comm) revoked() {
	if c.freed { // what had begun before may be under way
		c.P2P.Forbid(c.ID, spareNone, ErrRevoked)
		c.in.Parts.Revoke(c.ID, ErrRevoked)
		c.P2P.Allow(c.ID)
		if c = c.in.running[c.ID]; c != nil { // the one that collective calls are under way on
			c.breakFrom(c.seq.Load()-maxUnderWay, ErrRevoked)
		}
		return
	}
	c.isRevoked.Store(true) // before over, which sends a call to look
	c.over.Store(true)
	c.P2P.Forbid(c.ID, spareNone, ErrRevoked)
	c.in.Parts.Revoke(c.ID, ErrRevoked)
	c.breakFrom(c.seq.Load()-maxUnderWay, ErrRevoked)
}

// spareNone has Forbid leave no tag alone.
func spareNone(int32) bool { return false }

// maxUnderWay is more than the collective calls that are under way at once, and less than
// half of the numbers that tags tell apart.
const maxUnderWay = seqMask / 4
