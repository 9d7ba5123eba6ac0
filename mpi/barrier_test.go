package mpi_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestNobodyLeavesABarrierBeforeAllHaveCome(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 2, 3, 5, 8} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				come := shared[atomic.Int64]()
				run(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
					for round := range int64(20) {
						come.Add(1)
						if err := c.Barrier(); err != nil {
							return err
						}
						if got := come.Load(); got < (round+1)*int64(n) {
							t.Errorf("rank %d left barrier %d when %d had come", c.Rank(), round, got)
						}
					}
					return nil
				})
			})
		}
	})
}

// A barrier does not get into the way of messages with the same ranks and tags.
func TestABarrierAndMessagesDoNotMix(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			in := []int{0}
			r, err := mpi.Irecv(c, in, mpi.AnySource, mpi.AnyTag)
			if err != nil {
				return err
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if err := mpi.Send(c, []int{7}, 1-c.Rank(), 1); err != nil {
				return err
			}
			st, err := mpi.Wait(&r)
			if in[0] != 7 || st.Bytes != 8 {
				t.Errorf("got %d, %+v: a message of the barrier", in[0], st)
			}
			return err
		})
	})
}
