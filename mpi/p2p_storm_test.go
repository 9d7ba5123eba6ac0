package mpi_test

import (
	"context"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// To take back many sends costs the same for each, whether they have been
// announced or wait for room, and whether Cancel or their contexts end them.
func TestStormsOfCancelsTakeLinearTime(t *testing.T) {
	tier.Long(t, "it measures, and a busy machine disturbs that")
	for _, s := range []struct {
		name  string
		start func(c *mpi.Comm, b []byte) (mpi.Request, error)
		each  bool // a context of its own for each, and the contexts end them
	}{
		{"announced, by Cancel", func(c *mpi.Comm, b []byte) (mpi.Request, error) { return mpi.Issend(c, b, 1, 1) }, false},
		{"announced, by contexts", func(c *mpi.Comm, b []byte) (mpi.Request, error) { return mpi.Issend(c, b, 1, 1) }, true},
		{"waiting for room, by contexts", func(c *mpi.Comm, b []byte) (mpi.Request, error) { return mpi.Isend(c, b[:4000], 1, 1) }, true},
	} {
		t.Run(s.name, func(t *testing.T) {
			const few, times = 3000, 8
			// A square would make it 64 times as long; what else the machine does
			// may stretch one of the two.
			for try := 0; ; try++ {
				short, long := storm(t, few, s.start, s.each), storm(t, few*times, s.start, s.each)
				if long < 3*times*short {
					return
				}
				if try == 4 {
					t.Fatalf("%d took %v, %d times as many %v", few, short, times, long)
				}
			}
		})
	}
}

func storm(t *testing.T, n int, start func(*mpi.Comm, []byte) (mpi.Request, error), each bool) (took time.Duration) {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 1 {
			return c.Barrier()
		}
		b := make([]byte, 4000)
		rs := make([]mpi.Request, n)
		cancels := make([]context.CancelFunc, n)
		for i := range rs {
			of := c
			if each {
				ctx, cancel := context.WithCancel(t.Context())
				of, cancels[i] = c.WithContext(ctx), cancel
			}
			var err error
			if rs[i], err = start(of, b); err != nil {
				return err
			}
		}
		began := time.Now()
		for i := range rs {
			if each {
				cancels[i]()
			} else if err := mpi.Cancel(&rs[i]); err != nil {
				return err
			}
		}
		mpi.Waitall(rs, make([]mpi.Status, n))
		took = time.Since(began)
		return c.Barrier()
	}, mpi.WithFabric("mem"), mpi.WithLimits(mpi.Limits{PeerBytes: 1 << 30, PeerMessages: 1 << 20, Bytes: 1 << 30, Messages: 1 << 20}))
	if err != nil {
		t.Fatal(err)
	}
	return took
}
