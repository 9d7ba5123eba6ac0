package bench

import (
	"fmt"
	"slices"
	"sync"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
	"github.com/weft-mpi/weft/mpi"
)

// runOverlap measures how much of a transfer goes on while the receiver, or
// both ranks, compute. All times are medians at the receiver: of the transfer
// alone, of the work alone, then of the transfer with the work in between. A
// transfer lasts from posting the receive to the return of its Wait. The hidden
// time is the transfer alone plus the work alone, less the two together.
func runOverlap(j *job) error {
	j.rate = workRate()
	title := osufmt.Title{After: []string{
		fmt.Sprintf("[ computing: %s ] [ work: %g of the pure communication ]", j.o.Computing, j.o.Work),
	}}
	return byType(j, title, overlapColumns, newBuffers[byte](j), newBuffers[int32](j), newBuffers[float32](j), overlap[byte], overlap[int32], overlap[float32])
}

var overlapColumns = []osufmt.Column{osufmt.Overall, osufmt.Compute, osufmt.PureComm, osufmt.Overlap}

// hidden is how much of the pure communication, in percent, does not add to the work: v is
// the time of both together, of the work and of the communication.
func hidden(v []float64) float64 { return max(0, 100*(1-(v[0]-v[1])/v[2])) }

// overlapped is one rank's part of the benchmark at one size.
type overlapped struct {
	*job
	checks
	size   int
	start  func() (mpi.Request, error)
	errors int
	x      float64 // the operand of the work
}

func overlap[T element](j *job, b *buffers[T], size int) (result, error) {
	sends, recvs, err := b.take(1, size/width[T]())
	if err != nil {
		return result{}, err
	}
	send, recv := sends[0], recvs[0]
	start := func() (mpi.Request, error) { return mpi.Irecv(j.c, recv, 0, 1) }
	if j.c.Rank() == 0 {
		start = func() (mpi.Request, error) { return mpi.Isend(j.c, send, 1, 1) }
	}
	o := &overlapped{job: j, checks: checksOf(send, recv, size, nil), size: size, start: start, x: 1}
	return o.measure()
}

func (o *overlapped) measure() (result, error) {
	v := make([]float64, 4) // overall, compute, pure and errors
	pure, err := o.median(true, o.transfer(0))
	if err != nil {
		return result{}, err
	}
	// The receiver's time sets the amount of work on either rank.
	v[2] = pure
	if err := o.share(v[2:3]); err != nil {
		return result{}, err
	}
	rounds := 0
	if o.c.Rank() == 1 || o.o.Computing == BothRanks {
		rounds = max(1, int(v[2]*o.o.Work*o.rate))
	}
	if v[1], err = o.median(false, func() error { work(&o.x, rounds); return nil }); err != nil {
		return result{}, err
	}
	if v[0], err = o.median(true, o.transfer(rounds)); err != nil {
		return result{}, err
	}
	v[3] = float64(o.errors)
	if err := o.share(v); err != nil {
		return result{}, err
	}
	return result{values: append(v[:3:3], hidden(v)), errors: int(v[3])}, nil
}

// share copies v of rank 1 to rank 0.
func (o *overlapped) share(v []float64) error {
	if o.c.Rank() == 1 {
		return mpi.Send(o.c, v, 0, tagGather)
	}
	_, err := mpi.Recv(o.c, v, 1, tagGather)
	return err
}

// median is the median time of step in microseconds, with a barrier before each.
// The result is a small difference of large times. In a mean, a few disturbed
// iterations would hide it.
func (o *overlapped) median(transfers bool, step func() error) (float64, error) {
	iterations, warmup := o.o.counts(o.size)
	times := make([]float64, 0, iterations)
	for i := range warmup + iterations {
		if transfers && o.o.Validate {
			o.arm(i)
		}
		if err := o.c.Barrier(); err != nil {
			return 0, err
		}
		start := now()
		if err := step(); err != nil {
			return 0, err
		}
		if i >= warmup {
			times = append(times, micros(now()-start))
		}
		if transfers && o.o.Validate && o.c.Rank() == 1 {
			o.errors += o.wrong(i)
		}
	}
	slices.Sort(times)
	return spread.Quantile(times, 0.5), nil
}

// transfer returns this rank's part of a message from rank 0 to rank 1, with
// rounds of work between its start and its Wait.
func (o *overlapped) transfer(rounds int) func() error {
	return func() error {
		r, err := o.start()
		if err != nil {
			return err
		}
		work(&o.x, rounds)
		_, err = mpi.Wait(&r)
		return err
	}
}

// work computes on x without calls, for a time in proportion to rounds. It is
// not inlined, so that the compiler can't leave it out.
//
//go:noinline
func work(x *float64, rounds int) {
	v := *x
	for range rounds {
		v = v*0.999999 + 0.000001
	}
	*x = v
}

// workRate is how many rounds of work take a microsecond in this process: the most of a
// few tries, since any disturbance makes one slower.
var workRate = sync.OnceValue(func() (best float64) {
	const rounds = 1 << 20
	x := 1.0
	for range 5 {
		start := now()
		work(&x, rounds)
		best = max(best, rounds/micros(now()-start))
	}
	return best
})
