package comm

import (
	"context"

	"github.com/weft-mpi/weft/progress"
)

// Barrier blocks until every rank of the communicator has called it (MPI_Barrier,
// MPI-4.0 §6.3). After an error, which may be that of ctx, the ranks are no
// longer in step. Non-local.
//
// It is the dissemination algorithm: in round k each rank hears from the one
// 2ᵏ before it and tells the one 2ᵏ after it, ⌈log₂ n⌉ rounds in all. The tag of a
// round is its distance.
func (c *Comm) Barrier(ctx context.Context) error {
	id := c.Library()
	for step := 1; step < c.Size; step *= 2 {
		to, from, tag := (c.Rank+step)%c.Size, (c.Rank-step+c.Size)%c.Size, int32(step)
		// The engine is called from here and no function deeper, as in Dup.
		var err error
		if c.P2P.TrySend(to, id, tag, nil) {
			_, err = c.P2P.Recv(ctx, from, id, tag, nil)
		} else {
			both := c.P2P.Isendrecv(ctx, id, nil, to, tag, nil, from, tag)
			_, err = progress.WaitResult(&both)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
