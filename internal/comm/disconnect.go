package comm

import (
	"context"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Quiesce waits until nothing of the communicator is in flight at this rank, and then
// for the other ranks to have come as far (MPI_Comm_disconnect, MPI-4.0 §11.10.4). It
// is a collective call, the last one of the communicator, and works on one on which
// others have failed. After an error, that of ctx or of a death, operations may be in
// flight. Non-local.
func (c *Comm) Quiesce(ctx context.Context) error {
	if err := c.in.Loop.WaitFor(expiry.Of(ctx), &quiet{c, c.P2P.Quiet(c.ID)}); err != nil {
		return err
	}
	return c.Barrier(ctx, true)
}

// quiet is also that no nonblocking collective call is under way.
type quiet struct {
	c *Comm
	*pt2pt.Quiet
}

func (q *quiet) Ready() (bool, error) {
	if q.c.calls > 0 {
		return false, q.Gone()
	}
	return q.Quiet.Ready()
}
