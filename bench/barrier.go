package bench

import (
	"github.com/weft-mpi/weft/bench/osufmt"
)

// runBarrier is osu_barrier: the mean time of a barrier on each rank, averaged
// over the ranks.
func runBarrier(j *job) error {
	root := j.c.Rank() == 0
	if root {
		if err := j.sink.Title(osufmt.Title{Name: j.Title}); err != nil {
			return err
		}
		if err := j.sink.Section(osufmt.Section{NoSize: true, Columns: j.columns(osufmt.AvgLatency)}); err != nil {
			return err
		}
		j.progress(0, 0, 1)
	}
	iterations, warmup := j.o.counts(0)
	r := result{samples: j.samples(iterations)}
	for i := range warmup + iterations {
		start := now()
		if err := j.c.Barrier(); err != nil {
			return err
		}
		if i >= warmup {
			d := now() - start
			r.took(d, micros(d))
		}
	}
	if err := j.c.Barrier(); err != nil {
		return err
	}
	r, err := j.overRanks(r, micros(r.total)/float64(iterations), j.c.Size(), 0)
	if err != nil || !root {
		return err
	}
	return j.sink.Row(j.row(Char, 0, r))
}
