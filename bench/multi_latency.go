package bench

import (
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// runMultiLatency is osu_multi_lat: ping-pong of all pairs at once, with a
// barrier before every round trip.
func runMultiLatency(j *job) error {
	b, i, f := buffers[byte]{o: &j.o}, buffers[int32]{o: &j.o}, buffers[float32]{o: &j.o}
	defer func() { b.free(); i.free(); f.free() }()
	return j.sweep(osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, func(t Datatype, size int) (result, error) {
		switch t {
		case Int:
			return multiLatency(j, &i, size)
		case Float:
			return multiLatency(j, &f, size)
		}
		return multiLatency(j, &b, size)
	})
}

func multiLatency[T element](j *job, b *buffers[T], size int) (result, error) {
	sends, recvs, err := b.take(1, size/width[T]())
	if err != nil {
		return result{}, err
	}
	send, recv := sends[0], recvs[0]
	c, rank, pairs := j.c, j.c.Rank(), j.c.Size()/2
	peer := (rank + pairs) % (2 * pairs)
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	var total time.Duration
	errors := 0

	if err := c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			arm(send, recv, size, i, nil)
		}
		for k := 0; k <= last; k++ {
			if err := c.Barrier(); err != nil {
				return r, err
			}
			if rank >= pairs {
				if _, err := mpi.Recv(c, recv, peer, 1); err != nil {
					return r, err
				}
				if err := mpi.Send(c, send, peer, 1); err != nil {
					return r, err
				}
				continue
			}
			start := now()
			if err := mpi.Send(c, send, peer, 1); err != nil {
				return r, err
			}
			if _, err := mpi.Recv(c, recv, peer, 1); err != nil {
				return r, err
			}
			if i >= warmup && k == last {
				d := now() - start
				total += d
				if r.samples != nil {
					r.samples = append(r.samples, micros(d)/2)
				}
			}
		}
		if j.o.Validate {
			errors += wrong(recv, size, i, nil)
		}
	}
	return j.overRanks(r, micros(total)/float64(2*iterations), pairs, errors)
}

// overRanks completes r on rank 0 from the average times of the first n ranks:
// their mean, minimum and maximum. A sample is the mean of an iteration over
// these ranks. Errors are summed over all ranks.
func (j *job) overRanks(r result, average float64, n, errors int) (result, error) {
	all, err := j.gather(append([]float64{average, float64(errors)}, r.samples...), ranks(j.c.Size()))
	if err != nil || j.c.Rank() != 0 {
		return r, err
	}
	m := mean(all[:n])
	r.values = m[:1:1]
	r.min, r.max = average, average
	for _, v := range all[:n] {
		r.min, r.max = min(r.min, v[0]), max(r.max, v[0])
	}
	for _, v := range all {
		r.errors += int(v[1])
	}
	if r.samples != nil {
		r.samples = m[2:]
	}
	return r, nil
}
