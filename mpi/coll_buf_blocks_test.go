package mpi_test

import (
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The squares of a matrix lie one extent apart within a row of squares, so that some of those
// that no block has overlap others: blocks are received anyway, and into none that overlap.
func TestBlocksAreReceivedBetweenElementsThatOverlap(t *testing.T) {
	const size, side = 4, 2 // 2 times 2 squares
	square := func() *mpi.Datatype {
		d := get(mpi.TypeResized(get(mpi.TypeVector(side, side, 2*side, mpi.TypeInt32)), 0, 4*side))
		ok(d.Commit())
		return d
	}
	counts, displs := []int{1, 1, 1, 1}, []int{0, 1, 4, 5}
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, size, func(_ *mpi.World, c *mpi.Comm) {
			d := square()
			mine := slices.Repeat([]int32{int32(c.Rank())}, side*side)
			want := []int32{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}
			matrix := func() ([]int32, mpi.Buf) {
				m := make([]int32, len(want)+2*size) // the last element, which no block has, ends behind the matrix
				return m, mpi.As(d, m, 6)
			}
			check := func(what string, got []int32, err error) {
				if ok(err); !slices.Equal(got[:len(want)], want) {
					t.Errorf("%s: %v, want %v", what, got, want)
				}
			}
			got, recv := matrix()
			check("Allgatherv", got, c.Allgatherv(mpi.Of(mine), recv, counts, displs))
			got, recv = matrix()
			if err := c.Gatherv(mpi.Of(mine), recv, counts, displs, 1); c.Rank() == 1 {
				check("Gatherv", got, err)
			} else {
				ok(err)
			}
			got, recv = matrix()
			all := slices.Repeat(mine, size)
			check("Alltoallv", got, c.Alltoallv(mpi.Of(all), slices.Repeat([]int{side * side}, size), nil, recv, counts, displs))
			near := get(mpi.TypeResized(d, 0, 4))
			ok(near.Commit())
			err := c.Allgatherv(mpi.Of(slices.Repeat(mine, 2)), mpi.As(near, got, 8), []int{2, 2, 2, 2}, []int{0, 2, 4, 6})
			wantWords(t, "blocks whose elements overlap", err, mpi.ErrType, "overlap")
		})
	})
}
