package bench

import (
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// nonblockingTitle has OSU's line, and an empty one behind it.
var nonblockingTitle = osufmt.Title{After: []string{"Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n"}}

// overlap is osu_ibcast and so on: the mean time of the call and its Wait, and that with
// work in between, for as long as the rank's own call took without. All are averaged over
// the ranks, which make no calls while they work.
func (x *collectiveCall) overlap() (result, error) {
	x.call = x.around(0)
	r, err := x.repeat()
	if err != nil {
		return r, err
	}
	iterations, _ := x.o.counts(x.size)
	each := 1 / float64(iterations)
	pure := micros(r.total) * each
	x.call = x.around(max(1, int(pure*x.rate)))
	if r, err = x.repeat(); err != nil {
		return r, err
	}
	all, err := x.gather([]float64{micros(r.total) * each, micros(x.working) * each, pure, float64(x.errors)}, ranks(x.c.Size()))
	if err != nil || x.c.Rank() != 0 {
		return result{}, err
	}
	v, errors := mean(all), 0
	for _, of := range all {
		errors += int(of[3])
	}
	return result{values: append(v[:3:3], hidden(v)), errors: errors}, nil
}

// around is the call and its Wait, with rounds of work in between.
func (x *collectiveCall) around(rounds int) func() error {
	operand := 1.0
	return func() error {
		r, err := x.start()
		if err != nil {
			return err
		}
		if rounds > 0 {
			begin := now()
			work(&operand, rounds)
			x.worked = now() - begin
		}
		_, err = mpi.Wait(&r)
		return err
	}
}
