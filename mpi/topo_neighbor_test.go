package mpi_test

import (
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A block that is sent from a slot of a grid arrives at the slot in the other direction, however
// small and periodic the dimensions are. Rank r sends 10r + s from slot s.
func TestNeighborAlltoallOnSmallGrids(t *testing.T) {
	both := []bool{true, true, true}
	for _, tc := range []struct {
		dims     []int
		periodic []bool
		want     [][]int // what each rank gets
	}{
		{[]int{1}, both, [][]int{{1, 0}}},
		{[]int{2}, both, [][]int{{11, 10}, {1, 0}}},
		{[]int{3}, both, [][]int{{21, 10}, {1, 20}, {11, 0}}},
		{[]int{3}, nil, [][]int{{-1, 10}, {1, 20}, {11, -1}}},
		{[]int{1, 1}, both, [][]int{{1, 0, 3, 2}}},
		{[]int{1, 2}, both, [][]int{{1, 0, 13, 12}, {11, 10, 3, 2}}},
		{[]int{2, 1}, both, [][]int{{11, 10, 3, 2}, {1, 0, 13, 12}}},
		{[]int{2, 1}, []bool{false, true}, [][]int{{-1, 10, 3, 2}, {1, -1, 13, 12}}},
		{[]int{2, 2}, both, [][]int{{21, 20, 13, 12}, {31, 30, 3, 2}, {1, 0, 33, 32}, {11, 10, 23, 22}}},
		{[]int{1, 2, 1}, both, [][]int{{1, 0, 13, 12, 5, 4}, {11, 10, 3, 2, 15, 14}}},
	} {
		act(t, "mem", len(tc.want), func(_ *mpi.World, all *mpi.Comm) {
			o := mpi.CartOptions{Dims: tc.dims}
			if tc.periodic != nil {
				o.Periodic = tc.periodic[:len(tc.dims)]
			}
			c := get(all.CartCreate(o))
			recv := slices.Repeat([]int{-1}, 2*len(tc.dims))
			send := slices.Clone(recv)
			for slot := range send {
				send[slot] = 10*c.Rank() + slot
			}
			if ok(mpi.NeighborAlltoall(c, send, recv)); !slices.Equal(recv, tc.want[c.Rank()]) {
				t.Errorf("%v: rank %d gets %v, want %v", tc.dims, c.Rank(), recv, tc.want[c.Rank()])
			}
		})
	}
}
