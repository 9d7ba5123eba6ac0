package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// What is sent from a slot of a grid arrives at the slot in the other direction, however
// small and periodic the dimensions are.
func TestNeighborAlltoallOnSmallGrids(t *testing.T) {
	for _, dims := range [][]int{{1}, {2}, {1, 1}, {2, 1}, {2, 2}, {3, 2}} {
		n := 1
		for _, d := range dims {
			n *= d
		}
		t.Run(fmt.Sprint(dims), func(t *testing.T) {
			run(t, "mem", n, func(_ *mpi.World, all *mpi.Comm) error {
				c, err := all.CartCreate(mpi.CartOptions{Dims: dims, Periodic: []bool{true, true}[:len(dims)]})
				if err != nil {
					return err
				}
				send, recv := make([]int, 2*len(dims)), make([]int, 2*len(dims))
				for i := range send {
					send[i] = 100*c.Rank() + i
				}
				if err := mpi.NeighborAlltoall(c, send, recv); err != nil {
					return err
				}
				for i, peer := range c.Neighbors() {
					if want := 100*peer + (i ^ 1); recv[i] != want {
						return fmt.Errorf("slot %d has %d, want %d", i, recv[i], want)
					}
				}
				return nil
			})
		})
	}
}
