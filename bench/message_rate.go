package bench

import (
	"fmt"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// runMessageRate is osu_mbw_mr: each rank of the first half sends windows to
// its partner in the second half, with a barrier before every window. With an
// odd number of ranks the last one only takes part in the barriers.
func runMessageRate(j *job) error {
	title := osufmt.Title{
		Tight: true,
		After: []string{fmt.Sprintf("[ pairs: %d ] [ window size: %d ]", j.c.Size()/2, j.o.Window)},
	}
	lead := []osufmt.Column{osufmt.MBs}
	if j.o.PrintRate {
		lead = append(lead, osufmt.MessagesS)
	}
	return byType(j, title, lead, newWindow[byte](j), newWindow[int32](j), newWindow[float32](j),
		messageRate[byte], messageRate[int32], messageRate[float32])
}

func messageRate[T element](j *job, w *window[T], size int) (result, error) {
	if err := w.resize(size); err != nil {
		return result{}, err
	}
	return j.messageRate(w, size, w.push, w.pull)
}

func (j *job) messageRate(w armed, size int, push, pull func(peer int) error) (result, error) {
	c, rank, pairs := j.c, j.c.Rank(), j.c.Size()/2
	var peer int
	var step func(peer int) error
	switch {
	case rank < pairs:
		peer, step = rank+pairs, push
	case rank < 2*pairs:
		peer, step = rank-pairs, pull
	default:
		step = func(int) error { return nil }
	}
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	megabytes := float64(size) / 1e6 * float64(j.o.Window*pairs)
	errors := 0

	if err := c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			w.arm(size, i)
		}
		for k := 0; k <= last; k++ {
			if err := c.Barrier(); err != nil {
				return r, err
			}
			start := now()
			if err := step(peer); err != nil {
				return r, err
			}
			if i >= warmup && k == last {
				d := now() - start
				r.took(d, megabytes/d.Seconds())
			}
		}
		if j.o.Validate && rank >= pairs && rank < 2*pairs {
			errors += w.wrong(size, i)
		}
	}

	// The mean time of the senders is the time of the run.
	all, err := j.gather([]float64{r.total.Seconds(), float64(errors)}, ranks(c.Size()))
	if err != nil || rank != 0 {
		return r, err
	}
	seconds := mean(all[:pairs])[0]
	bandwidth := megabytes * float64(iterations) / seconds
	r.values = []float64{bandwidth}
	if j.o.PrintRate {
		r.values = append(r.values, 1e6*bandwidth/float64(size))
	}
	for _, v := range all {
		r.errors += int(v[1])
	}
	return r, nil
}
