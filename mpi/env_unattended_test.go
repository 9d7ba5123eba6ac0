package mpi_test

import (
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// A nonblocking call that all ranks have started ends, though all but one make no
// further call (MPI-4.0 §3.7.4, §6.12). The ranks start one after another, with a
// pause in which the progress threads of the others go to sleep.
func TestANonblockingCollectiveNeedsNoFurtherCall(t *testing.T) {
	const ranks = 4
	onEach(t, func(t *testing.T, fabric string) {
		var started, ended [ranks]signal
		for i := range ranks {
			started[i], ended[i] = newSignal(), newSignal()
		}
		act(t, fabric, ranks, func(w *mpi.World, c *mpi.Comm) {
			var copied *mpi.Comm
			for _, start := range ordered(map[string]func() (mpi.Request, error){
				"Iallreduce": func() (mpi.Request, error) { return mpi.Iallreduce(c, mpi.Sum, []int{1}, make([]int, 1)) },
				"Ialltoall":  func() (mpi.Request, error) { return mpi.Ialltoall(c, make([]int, ranks), make([]int, ranks)) },
				"Ibarrier":   c.Ibarrier,
				"Idup": func() (r mpi.Request, err error) {
					r, copied, err = c.Idup()
					return r, err
				},
			}) {
				before := (c.Rank() + ranks - 1) % ranks
				if c.Rank() > 0 {
					started[before].take()
				}
				<-time.After(3 * time.Millisecond)
				r := begin(start())
				started[c.Rank()].give()
				if c.Rank() == 0 {
					get(mpi.Wait(r))
					for i := range ranks {
						ended[i].give()
					}
				}
				ended[c.Rank()].take()
				get(mpi.Wait(r))
				if c.Rank() == 0 {
					started[before].take()
				}
			}
			ok(copied.Free())
		})
	})
}
