package comm

import (
	"context"

	"github.com/weft-mpi/weft/internal/coll"
)

// An intercommunicator has two groups without a rank in common. The program's messages
// go to ranks of the other group. The library's context is that of both: there the
// plans of collective calls send within the group and between the two, and creations
// have the ranks of both take part as one group.

// Peers is how many ranks the program's messages can go to. Local.
func (c *Comm) Peers() int {
	if c.Remote != nil {
		return c.Remote.Len()
	}
	return c.Size
}

// Merge makes one intracommunicator of both groups of an intercommunicator
// (MPI_Intercomm_merge, MPI-4.0 §7.6.2). The ranks of a group give the same high; the
// group that gives true comes second. If both give the same, that one comes first
// whose first rank has the lower number in the job. failed and place are as in Spec.
// Non-local.
func (c *Comm) Merge(ctx context.Context, high bool, failed error, place [3]uintptr) (*Comm, error) {
	k := c.creationOfAll(coll.Merge, failed)
	k.part, k.high = k.tell, high
	return k.wait(ctx, place)
}
