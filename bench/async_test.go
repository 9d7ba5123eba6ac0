package bench

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// asyncJob is a rank's part of the benchmark with short computations.
func asyncJob(c *mpi.Comm, iterations int) *job {
	b, _ := Lookup("async")
	o := b.Defaults
	o.Iterations, o.IterationsLarge, o.Warmup, o.WarmupLarge = iterations, iterations, 1, 1
	o.Burst, o.Validate = 100*time.Microsecond, true
	return &job{Benchmark: b, o: o, c: c}
}

func TestAsyncTimesEveryOperationButTheWarmUp(t *testing.T) {
	for _, sending := range []Sending{BySsend, BySend} {
		for _, size := range []int{8, 4096, 1 << 16} {
			for _, iterations := range []int{1, 7} {
				err := mpi.Run(2, func(w *mpi.World) error {
					j := asyncJob(w.Comm(), iterations)
					j.o.Sending = sending
					b := &buffers[byte]{o: &j.o}
					j.o.Multiple = true
					r, err := async(j, b, size, 100)
					if err != nil {
						return err
					}
					if w.Comm().Rank() == 1 {
						return nil
					}
					if len(r.samples) != iterations || r.errors != 0 {
						t.Errorf("%v of %d bytes: %d times of %d operations, %d wrong bytes", sending, size, len(r.samples), iterations, r.errors)
					}
					if m := slices.Max(r.samples); len(r.values) != 2 || r.values[0] <= 0 || r.values[0] > m || r.values[1] != m {
						t.Errorf("%v of %d bytes: median and maximum %v of %v", sending, size, r.values, r.samples)
					}
					return nil
				}, mpi.WithFabric("mem"))
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// The test plays rank 1 and delays the message that a third receive is posted:
// until then no probe may find the third operation.
func TestAnAsyncOperationBeginsOnlyWhenItsReceiveIsPosted(t *testing.T) {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		j := asyncJob(c, 3)
		j.o.Burst = time.Microsecond
		a := &asyncRank{job: j, size: 8, send: make([]byte, 8)}
		if c.Rank() == 0 {
			_, err := a.operations(0, 3)
			return err
		}
		for range ahead {
			if _, err := mpi.Recv(c, make([]byte, 8), 0, tagAsync); err != nil {
				return err
			}
		}
		for range 10000 {
			if came, _, err := mpi.Iprobe(c, 0, tagAsync); came || err != nil {
				return errors.Join(errors.New("an operation began before its receive was posted"), err)
			}
			runtime.Gosched()
		}
		if err := mpi.Send(c, []byte{}, 0, tagPosted); err != nil {
			return err
		}
		_, err := mpi.Recv(c, make([]byte, 8), 0, tagAsync)
		return err
	}, mpi.WithFabric("mem"))
	if err != nil {
		t.Error(err)
	}
}

func TestTheComputingRankOfAsyncCountsWrongBytes(t *testing.T) {
	const size, total = 64, 4
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		j := asyncJob(c, total)
		recv := [][]byte{make([]byte, size), make([]byte, size)}
		a := &asyncRank{job: j, size: size, recv: recv, rounds: 100}
		if c.Rank() == 1 {
			for k := range ahead {
				if err := a.post(k); err != nil {
					return err
				}
			}
			if err := a.compute(total); err != nil {
				return err
			}
			if a.errors != 2 {
				t.Errorf("two wrong bytes in four messages are %d", a.errors)
			}
			return nil
		}
		send := make([]byte, size)
		for k := range total {
			arm(send, nil, size, k, nil)
			if k%2 == 1 {
				send[k] ^= 1
			}
			if err := mpi.Send(c, send, 1, tagAsync); err != nil {
				return err
			}
		}
		for range total - ahead {
			if _, err := mpi.Recv(c, []byte{}, 1, tagPosted); err != nil {
				return err
			}
		}
		return nil
	}, mpi.WithFabric("mem"))
	if err != nil {
		t.Error(err)
	}
}

func TestTheWaitsOfAsyncAreThoseOfItsTwin(t *testing.T) {
	// From srand48(1) and drand48() of the C library.
	d := newDraws()
	for i, want := range []float64{0.0416303447718782, 0.454492444728629, 0.834817218166915} {
		if got := d.next(); got < want-1e-12 || got > want+1e-12 {
			t.Errorf("draw %d is %v, want %v", i, got, want)
		}
	}
}
