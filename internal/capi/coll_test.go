//go:build !race

package capi

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The collective calls that programs make most often allocate no more than those of package
// mpi: of one rank nothing but a barrier does.
func TestCollectiveCallsDoNotAllocate(t *testing.T) {
	const typeInt, opSum, world = 0x209, 0x21, commWorld
	from, to := outside(t, 64), outside(t, 64)
	err := mpi.Run(1, func(w *mpi.World) error {
		comms.put(world, &comm{w.Comm()}, nil)
		defer comms.drop(world)
		barriers := testing.AllocsPerRun(100, func() { _ = w.Comm().Barrier() })
		for name, x := range map[string]struct {
			call func(*Args) error
			args []any
			most float64
		}{
			"MPI_Barrier":   {barrier, []any{world}, barriers},
			"MPI_Bcast":     {bcast, []any{from, 4, typeInt, 0, world}, 0},
			"MPI_Reduce":    {reduce, []any{from, to, 4, typeInt, opSum, 0, world}, 0},
			"MPI_Allreduce": {allreduce, []any{from, to, 4, typeInt, opSum, world}, 0},
			"MPI_Allgather": {allgather, []any{from, 4, typeInt, to, 4, typeInt, world}, 0},
			"MPI_Alltoall":  {alltoall, []any{from, 4, typeInt, to, 4, typeInt, world}, 0},
		} {
			a := newArgs(t, x.args...)
			if err := x.call(a); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n := testing.AllocsPerRun(100, func() { _ = x.call(a) }); n > x.most {
				t.Errorf("%s allocates %v times", name, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
