package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The ranks of a communicator meet by flags from its third barrier on: one round
// up to 8 of them, two up to 64, three above.
func TestNobodyLeavesABarrierByFlagsBeforeAllHaveCome(t *testing.T) {
	for _, n := range []int{9, 17, 64, 65} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var come atomic.Int64
			err := mpi.Run(n, func(w *mpi.World) error {
				for round := range int64(10) {
					come.Add(1)
					if err := w.Comm().Barrier(); err != nil {
						return err
					}
					if got := come.Load(); got < (round+1)*int64(n) {
						t.Errorf("rank %d left barrier %d when %d had come", w.Comm().Rank(), round, got)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Barriers of several communicators under way at once do not touch each other, and
// one by goroutines of one rank is several in turn.
func TestBarriersOfDuplicatesDoNotMix(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			const rounds = 200
			done := make(chan error)
			comms := []*mpi.Comm{get(c.Dup()), get(c.Dup()), get(c.Dup())}
			for _, d := range comms {
				for range 2 {
					go func() {
						for range rounds {
							if err := d.Barrier(); err != nil {
								done <- err
								return
							}
						}
						done <- nil
					}()
				}
			}
			for range 2 * len(comms) {
				ok(<-done)
			}
		})
	})
}

// Flags of communicators that were freed are used again, whatever their values, and
// one that finds no room for flags meets by messages.
func TestFlagsAreUsedAgain(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		rounds, kept := 10000, 5000 // there is room for 4,032 communicators of 2 ranks
		if raceEnabled || testing.Short() {
			rounds = 300
		}
		come := shared[atomic.Int64]()
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			barriers := func(d *mpi.Comm, n int) {
				for range n {
					before := come.Add(1)
					ok(d.Barrier())
					if come.Load() < before&^1 {
						t.Errorf("rank %d left a barrier too early", c.Rank())
					}
					ok(d.Barrier())
				}
			}
			for i := range rounds {
				d := get(c.Dup())
				barriers(d, 1+i%3)
				ok(d.Free())
			}
			if raceEnabled || testing.Short() {
				return
			}
			all := make([]*mpi.Comm, kept)
			for i := range all {
				all[i] = get(c.Dup())
				barriers(all[i], 2)
			}
			for _, d := range all {
				ok(d.Barrier())
			}
		})
	})
}

// A rank that dies ends the barriers of the others, also of those that wait for
// other ranks' flags, before and in the call.
func TestARankThatFailsEndsABarrierByFlags(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{2, 3, 10} {
			for _, before := range []int{2, 3, 5} {
				t.Run(fmt.Sprintf("%d ranks, behind %d", n, before), func(t *testing.T) {
					bad := errors.New("bad luck")
					err := try(t, fabric, n, func(w *mpi.World, c *mpi.Comm) error {
						for range before {
							if err := c.Barrier(); err != nil {
								return err
							}
						}
						if c.Rank() == n/2 {
							return bad
						}
						err := c.Barrier()
						want(t, fmt.Sprintf("rank %d in Barrier", c.Rank()), err, mpi.ErrProcFailed)
						want(t, fmt.Sprintf("rank %d in the next", c.Rank()), c.Barrier(), mpi.ErrProcFailed)
						return err
					})
					if !errors.Is(err, bad) {
						t.Errorf("Run = %v: want the failure", err)
					}
				})
			}
		}
	})
}

// A barrier that its context ends leaves the ranks out of step: the next one says
// so, and Finalize is not one of the communicator's.
func TestABarrierThatWasGivenUpIsTheLast(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, before := range []int{0, 1, 4} {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				for range before {
					ok(c.Barrier())
				}
				if c.Rank() == 0 {
					gone, stop := context.WithCancel(t.Context())
					stop()
					want(t, "a barrier alone", c.WithContext(gone).Barrier(), mpi.ErrCanceled)
					want(t, "the next", c.Barrier(), mpi.ErrCanceled)
				}
			})
		}
	})
}

// A rank in the fourth barrier waits for one which waits for it. Ranks whose
// memory others do not reach have its messages in the report.
func TestTheWatchdogSaysThatABarrierHangs(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		barrier := "Barrier, number 5 of MPI_COMM_WORLD: waits for rank 1"
		if fabric == "verbs" || fabric == "tcp" {
			barrier = "Barrier, number 5 of MPI_COMM_WORLD: no message has matched"
		}
		hang(t, fabric, func(c *mpi.Comm) error {
			for range 3 {
				if err := c.WithContext(t.Context()).Barrier(); err != nil {
					return err
				}
			}
			if c.Rank() == 0 {
				return c.Barrier()
			}
			_, err := mpi.Recv(c, make([]byte, 8), 0, 5)
			return err
		}, barrier, "rank 0 waits in Barrier, number 5 of MPI_COMM_WORLD, which rank 1 has not called: rank 1 is in a receive from rank 0, tag 5",
			"ranks 0 and 1 wait for each other: deadlock", "a goroutine is blocked in it", "coll_flags_test.go:")
	})
}
