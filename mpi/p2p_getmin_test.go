package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Whether a Send of some length waits for its receive is the same on all ranks.
func TestRanksReadMessagesFromTheSameLengthOn(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
			mine := mpi.GetMinOf(w)
			if mine <= 0 {
				t.Errorf("rank %d reads from %d bytes on", c.Rank(), mine)
			}
			if c.Rank() > 0 {
				return mpi.Send(c, []int{mine}, 0, 1)
			}
			for range c.Size() - 1 {
				its := []int{0}
				st, err := mpi.Recv(c, its, mpi.AnySource, 1)
				if err != nil {
					return err
				}
				if its[0] != mine {
					t.Errorf("rank %d reads from %d bytes on, rank 0 from %d", st.Source, its[0], mine)
				}
			}
			return nil
		})
	})
}
