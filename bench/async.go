package bench

import (
	"fmt"
	"slices"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
	"github.com/weft-mpi/weft/mpi"
)

// Constants of the async benchmark.
const (
	ahead     = 2   // receives that rank 1 has posted at a time
	tagAsync  = 1   // of the operations
	tagPosted = 105 // of the message that another receive is posted
)

// runAsync measures an operation towards a rank that computes, by the clock of
// rank 0, which starts it. Rank 1 posts receives and computes for Burst at a
// time without a call. Between two computations it completes finished receives
// and posts others. Rank 0 begins each operation at a random moment of a
// computation: it first waits for 0 to Burst.
//
// Every operation begins after its receive was posted: the first two because of
// a barrier, each later one because rank 1, after posting, sends an empty
// message that rank 0 receives before it waits. This message is sent between
// two computations, and it is the only one besides the operations. Since two
// receives are posted ahead, some operations follow the previous one within the
// same computation, without a call of rank 1 in between.
func runAsync(j *job) error {
	j.o.Multiple = true // several receives are posted at a time, so each needs its own buffer
	b := &buffers[byte]{o: &j.o}
	defer b.free()
	rounds := 0
	if j.c.Rank() == 1 {
		rounds = max(1, int(workRate()*micros(j.o.Burst)))
	}
	title := osufmt.Title{After: []string{
		fmt.Sprintf("[ operation: %s ] [ computation: %g ms ]", j.o.Sending, micros(j.o.Burst)/1e3),
	}}
	lead := []osufmt.Column{osufmt.Median, osufmt.Max}
	return j.sweep(title, lead, func(_ Datatype, size int) (result, error) {
		return async(j, b, size, rounds)
	})
}

// asyncRank is one rank's part of the benchmark at one size.
type asyncRank struct {
	*job
	size int

	// Of rank 0.
	send  []byte
	waits draws

	// Of rank 1.
	recv   [][]byte
	posted [ahead]mpi.Request // the receive of operation k at k%ahead
	rounds int                // of work in a computation
	x      float64            // the operand of the work
	errors int
}

func async(j *job, b *buffers[byte], size, rounds int) (result, error) {
	sends, recvs, err := b.take(ahead, size)
	if err != nil {
		return result{}, err
	}
	a := &asyncRank{job: j, size: size, send: sends[0], recv: recvs, waits: newDraws(), rounds: rounds, x: 1}
	iterations, warmup := j.o.counts(size)
	if j.c.Rank() == 1 {
		for k := range min(ahead, warmup+iterations) {
			if err := a.post(k); err != nil {
				return result{}, err
			}
		}
	}
	if err := j.c.Barrier(); err != nil {
		return result{}, err
	}
	var times []float64
	if j.c.Rank() == 0 {
		times, err = a.operations(warmup, iterations)
	} else {
		err = a.compute(warmup + iterations)
	}
	if err != nil {
		return result{}, err
	}
	wrong, err := j.gather([]float64{float64(a.errors)}, ranks(2))
	if err != nil || j.c.Rank() == 1 {
		return result{}, err
	}
	slices.Sort(times)
	return result{
		values:  []float64{spread.Quantile(times, 0.5), times[len(times)-1]},
		samples: times,
		errors:  int(wrong[1][0]),
	}, nil
}

// operations is rank 0's side. It returns the times of the operations in
// microseconds, without those of the warm-up.
func (a *asyncRank) operations(warmup, iterations int) ([]float64, error) {
	operation := mpi.Ssend[byte]
	if a.o.Sending == BySend {
		operation = mpi.Send[byte]
	}
	times := make([]float64, 0, iterations)
	for k := range warmup + iterations {
		if k >= ahead {
			if _, err := mpi.Recv(a.c, []byte{}, 1, tagPosted); err != nil {
				return nil, err
			}
		}
		if a.o.Validate {
			arm(a.send, nil, a.size, k, nil)
		}
		// A busy wait, so that the figures contain no wake-up of this rank.
		wait := time.Duration(a.waits.next() * float64(a.o.Burst))
		for begun := now(); now()-begun < wait; {
		}
		start := now()
		if err := operation(a.c, a.send, 1, tagAsync); err != nil {
			return nil, err
		}
		if k >= warmup {
			times = append(times, micros(now()-start))
		}
	}
	return times, nil
}

// compute is rank 1's side once the first receives are posted: it computes
// until all total receives have completed.
func (a *asyncRank) compute(total int) error {
	for k := 0; k < total; {
		work(&a.x, a.rounds)
		for k < total {
			ended, err := a.take(k, total)
			if err != nil {
				return err
			}
			if !ended {
				break
			}
			k++
		}
	}
	return nil
}

// take tests the receive of operation k and reports whether it has completed.
// If so, take posts the next of the total receives, if one is left, and tells
// rank 0.
func (a *asyncRank) take(k, total int) (bool, error) {
	ended, _, err := mpi.Test(&a.posted[k%ahead])
	if err != nil || !ended {
		return false, err
	}
	if a.o.Validate {
		a.errors += wrong(a.recv[k%ahead], a.size, k, nil)
	}
	if k+ahead >= total {
		return true, nil
	}
	if err := a.post(k + ahead); err != nil {
		return false, err
	}
	return true, mpi.Send(a.c, []byte{}, 0, tagPosted)
}

// post posts the receive of operation k.
func (a *asyncRank) post(k int) (err error) {
	if a.o.Validate {
		clear(a.recv[k%ahead])
	}
	a.posted[k%ahead], err = mpi.Irecv(a.c, a.recv[k%ahead], 0, tagAsync)
	return err
}

// draws are pseudo-random numbers from 0 to below 1: those of the C library's
// drand48 after srand48(1), so that the twin in bench/peers waits for the same
// times.
type draws uint64

func newDraws() draws { return 1<<16 | 0x330e }

func (d *draws) next() float64 {
	*d = (*d*0x5deece66d + 0xb) & (1<<48 - 1)
	return float64(*d) / (1 << 48)
}
