package comm

import (
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Finish ends the communicator as the end of its engine does, which goes on: no
// call begins on it any more, and what is under way in it at this rank fails with
// err. What a peer is in the middle of is completed. Messages that nothing has
// received are dropped. It reports whether the communicator was not over before.
// Local.
func (c *Comm) Finish(err error) (first bool) {
	if c.end() {
		return false
	}
	// A blocking call says that it is under way and then loads broken: so it finds this,
	// or is found here, and the ban stays for what it begins.
	whole := c.broken.CompareAndSwap(nil, &cause.BrokenError{Err: err}) // pairs with the load in Broken
	c.giveFlags(whole)
	idle := !c.busy.Load() && c.barrier.mu.TryLock()
	if idle {
		c.barrier.mu.Unlock()
	}
	c.in.Loop.Exclusive(func() {
		// Others that have found the communicator usable have queued their operations.
		c.in.Loop.Behind(func() {
			for _, id := range []uint32{c.ID, c.Library()} {
				c.P2P.Forbid(id, func(int32) bool { return false }, err)
			}
			c.in.Loop.EachKept(func(r *progress.Request) {
				if cid, _ := wire.Match(r.Imm); r.Persistent() && wire.User(cid) == c.ID {
					r.Retire(err)
				}
			})
			c.P2P.Allow(c.ID)
			c.P2P.Close(c.ID)
			c.P2P.Unpend(c.ID)
			c.freed = idle
			c.in.restFailures(c)
			c.forget()
		})
	})
	return true
}
