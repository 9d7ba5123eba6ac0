package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
	"github.com/weft-mpi/weft/mpi"
)

// ErrValidation is returned by a run with -c if a byte arrived wrong.
var ErrValidation = errors.New("data validation failed")

// Tags of the run's own messages. OSU uses 1, 2, 10, 100 and 101 for the
// measured ones.
const (
	tagErrors  = 102
	tagGather  = 103
	tagVerdict = 104
)

// job is one rank's part of a run.
type job struct {
	*Benchmark
	o        Options
	c        *mpi.Comm
	sink     Sink
	progress Progress
	rate     float64 // overlap: rounds of work in a microsecond
}

// result is a benchmark's result at one size.
type result struct {
	values   []float64 // the leading columns
	total    time.Duration
	min, max float64   // for the full listing
	samples  []float64 // of each iteration, for percentiles; may be nil
	errors   int       // elements that arrived wrong, on all ranks; rank 0 only
}

// epoch makes the clock cheap: the time since a Time with a monotonic reading
// costs one clock read, time.Now two.
var epoch = time.Now()

func now() time.Duration { return time.Since(epoch) }

func micros(d time.Duration) float64 { return float64(d) / 1e3 }

// wantSamples reports whether each iteration's time must be kept.
func (j *job) wantSamples() bool { return j.o.Full || len(j.o.Percentiles) > 0 }

// samples returns room for one value for each iteration if they are wanted.
func (j *job) samples(iterations int) []float64 {
	if !j.wantSamples() {
		return nil
	}
	return make([]float64, 0, iterations)
}

// took adds the time of an iteration, and its sample if samples are wanted.
func (r *result) took(d time.Duration, sample float64) {
	r.total += d
	if r.samples != nil {
		r.samples = append(r.samples, sample)
	}
}

// spread fills in the extremes of the samples.
func (r *result) spread() {
	if len(r.samples) > 0 {
		r.min, r.max = slices.Min(r.samples), slices.Max(r.samples)
	}
}

// columns are the leading columns and those that the options add.
func (j *job) columns(lead ...osufmt.Column) []osufmt.Column {
	cols := slices.Clone(lead)
	if j.o.Full {
		cols = append(cols, osufmt.MinLatency, osufmt.MaxLatency, osufmt.Iterations)
	}
	if j.o.Validate {
		cols = append(cols, osufmt.Validation)
	}
	tail := osufmt.TailLatency
	if lead[0].Better == osufmt.Higher {
		tail = osufmt.TailBandwidth
	}
	for _, p := range j.o.Percentiles {
		cols = append(cols, tail(p))
	}
	if j.o.Derived.Kind != NotDerived {
		cols = append(cols, osufmt.TransmitSize)
	}
	return cols
}

// row lays r out under columns.
func (j *job) row(t Datatype, size int, r result) osufmt.Row {
	v := slices.Clone(r.values)
	if j.o.Full {
		iterations, _ := j.o.counts(size)
		v = append(v, r.min, r.max, float64(iterations))
	}
	if j.o.Validate {
		v = append(v, float64(r.errors))
	}
	if len(j.o.Percentiles) > 0 {
		slices.Sort(r.samples)
		for _, p := range j.o.Percentiles {
			v = append(v, spread.Quantile(r.samples, float64(p)/100))
		}
	}
	if j.o.Derived.Kind != NotDerived {
		v = append(v, float64(j.o.sent(size, t.Size())))
	}
	return osufmt.Row{Size: size, Values: v}
}

// sweep measures every size of every datatype and reports the rows. measure is
// called on all ranks.
func (j *job) sweep(title osufmt.Title, lead []osufmt.Column, measure func(t Datatype, size int) (result, error)) error {
	title.Name, title.Own = j.Title, j.Own
	root := j.c.Rank() == 0
	if root {
		if err := j.sink.Title(title); err != nil {
			return err
		}
	}
	for _, t := range j.o.Types {
		sizes := j.o.sizes(t)
		if root {
			if err := j.sink.Section(osufmt.Section{Datatype: t.String(), Columns: j.columns(lead...)}); err != nil {
				return err
			}
		}
		for i, size := range sizes {
			if root {
				j.progress(size, i, len(sizes))
			}
			r, err := measure(t, size)
			if err != nil {
				return fmt.Errorf("%s of %d bytes: %w", j.Name, size, err)
			}
			if root {
				if err := j.sink.Row(j.row(t, size, r)); err != nil {
					return err
				}
			}
			if err := j.settle(size, r.errors); err != nil {
				return err
			}
		}
	}
	return nil
}

// byType is sweep with buffers for each datatype, which it frees. What has no
// datatype of these is measured in bytes.
func byType[B, I, F interface{ free() error }](j *job, title osufmt.Title, lead []osufmt.Column, b B, i I, f F,
	char func(*job, B, int) (result, error), integer func(*job, I, int) (result, error), float func(*job, F, int) (result, error),
) error {
	defer func() { b.free(); i.free(); f.free() }()
	return j.sweep(title, lead, func(t Datatype, size int) (result, error) {
		switch t {
		case Int, TwoInt:
			return integer(j, i, size)
		case Float:
			return float(j, f, size)
		}
		return char(j, b, size)
	})
}

// settle makes every rank stop after a validation that failed.
func (j *job) settle(size, wrong int) error {
	if !j.o.Validate {
		return nil
	}
	wrong, err := j.broadcast(wrong)
	if err != nil || wrong == 0 {
		return err
	}
	if j.c.Rank() == 0 {
		if err := j.sink.Line(fmt.Sprintf("DATA VALIDATION ERROR: osu-go %s exited with status 1 on message size %d.", j.Name, size)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s of %d bytes: %w: %d elements are wrong", j.Name, size, ErrValidation, wrong)
}

// broadcast sends n from rank 0 to all others.
func (j *job) broadcast(n int) (int, error) {
	buf := []int64{int64(n)}
	if j.c.Rank() != 0 {
		_, err := mpi.Recv(j.c, buf, 0, tagVerdict)
		return int(buf[0]), err
	}
	for r := 1; r < j.c.Size(); r++ {
		if err := mpi.Send(j.c, buf, r, tagVerdict); err != nil {
			return n, err
		}
	}
	return n, nil
}

// gather returns the v of all ranks in ranks on rank 0, which must be the first
// of them; on the others it returns nil. All v have the same length.
func (j *job) gather(v []float64, ranks []int) ([][]float64, error) {
	if j.c.Rank() != 0 {
		return nil, mpi.Send(j.c, v, 0, tagGather)
	}
	all := make([][]float64, len(ranks))
	all[0] = v
	for i, r := range ranks[1:] {
		all[i+1] = make([]float64, len(v))
		if _, err := mpi.Recv(j.c, all[i+1], r, tagGather); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mean averages equally long rows element by element.
func mean(rows [][]float64) []float64 {
	sum := make([]float64, len(rows[0]))
	for i := range sum {
		for _, r := range rows {
			sum[i] += r[i]
		}
		sum[i] *= 1 / float64(len(rows))
	}
	return sum
}

// ranks are the ranks from 0 to n-1.
func ranks(n int) []int {
	r := make([]int, n)
	for i := range r {
		r[i] = i
	}
	return r
}
