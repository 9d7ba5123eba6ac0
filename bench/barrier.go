package bench

import (
	"errors"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// runBarrier is osu_barrier: the mean time of a barrier on each rank, averaged
// over the ranks.
func runBarrier(j *job) error {
	return j.barriers(j.c.Barrier)
}

// runBarrierPersistent is osu_barrier_persistent.
func runBarrierPersistent(j *job) error {
	r, err := j.c.BarrierInit()
	if err != nil {
		return err
	}
	err = j.barriers(func() error { return startWait(&r) })
	return errors.Join(err, mpi.RequestFree(&r))
}

func (j *job) barriers(call func() error) error {
	return j.once(osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, func() (result, error) { return j.barrier(call) })
}

// runIbarrier is osu_ibarrier.
func runIbarrier(j *job) error {
	j.rate = workRate()
	x := &collectiveCall{job: j, start: j.c.Ibarrier}
	return j.once(nonblockingTitle, overlapColumns, x.overlap)
}

// once is sweep of what has no sizes.
func (j *job) once(title osufmt.Title, lead []osufmt.Column, measure func() (result, error)) error {
	title.Name = j.Title
	root := j.c.Rank() == 0
	if root {
		if err := j.sink.Title(title); err != nil {
			return err
		}
		if err := j.sink.Section(osufmt.Section{NoSize: true, Columns: j.columns(lead...)}); err != nil {
			return err
		}
		j.progress(0, 0, 1)
	}
	r, err := measure()
	if err != nil || !root {
		return err
	}
	return j.sink.Row(j.row(Char, 0, r))
}

func (j *job) barrier(call func() error) (result, error) {
	iterations, warmup := j.o.counts(0)
	r := result{samples: j.samples(iterations)}
	for i := range warmup + iterations {
		start := now()
		if err := call(); err != nil {
			return r, err
		}
		if i >= warmup {
			d := now() - start
			r.took(d, micros(d))
		}
	}
	if err := j.c.Barrier(); err != nil {
		return r, err
	}
	return j.overRanks(r, micros(r.total)/float64(iterations), j.c.Size(), 0)
}
