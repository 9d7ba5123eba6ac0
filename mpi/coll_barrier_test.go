package mpi_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
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

// Ranks that wait leave the processors to those that others wait for. The limit
// is a hundred times what the barriers take, which find the ranks connected.
func TestABarrierOfManyGoroutinesEndsSoon(t *testing.T) {
	tier.Long(t, "it measures, and a busy machine disturbs that")
	const barriers, limit = 3, 12 * time.Second
	n := 512
	if raceEnabled {
		n = 128
	}
	err := mpi.Run(n, func(w *mpi.World) error {
		var start time.Time
		for i := range 2 * barriers {
			if i == barriers {
				start = time.Now()
			}
			if err := w.Comm().Barrier(); err != nil {
				return err
			}
		}
		if took := time.Since(start); took > limit && w.Comm().Rank() == 0 {
			t.Errorf("%d barriers of %d ranks take %v", barriers, n, took)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkBarrierOfMany is a barrier between many goroutines of few processors:
// what a rank that waits costs the others. The first barriers, which connect the
// ranks, are not counted.
func BenchmarkBarrierOfMany(b *testing.B) {
	for _, n := range []int{2, 8, 32, 128, 256, 512} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			err := mpi.Run(n, func(w *mpi.World) error {
				c := w.Comm()
				for range 3 {
					if err := c.Barrier(); err != nil {
						return err
					}
				}
				if c.Rank() == 0 {
					b.ResetTimer()
				}
				for range b.N {
					if err := c.Barrier(); err != nil {
						return err
					}
				}
				if c.Rank() == 0 {
					b.StopTimer()
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
