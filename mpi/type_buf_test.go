package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// particle has padding behind its first field and a field that is not sent.
type particle struct {
	kind  int8
	place [3]float64
	local int64 `mpi:"-"`
	mass  float32
}

func TestStructsComeWithoutWhatIsNotSent(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{0, 1, 100, 10000} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
					mine := make([]particle, n)
					for i := range mine {
						mine[i] = particle{int8(i), [3]float64{float64(i), 1, 2}, int64(c.Rank()), float32(i) / 2}
					}
					if c.Rank() == 0 {
						ok(c.Send(mpi.OfStructs(mine), 1, 3))
						return
					}
					got := make([]particle, n)
					for i := range got {
						got[i].local = 1
					}
					st := get(c.Recv(mpi.OfStructs(got), 0, 3))
					if !slices.Equal(got, mine) || st.Bytes != uint64(n*29) {
						stop(fmt.Errorf("%d structs came wrong, %+v", n, st))
					}
				})
			})
		}
	})
}
