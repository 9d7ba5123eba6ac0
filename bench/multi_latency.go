package bench

import "github.com/weft-mpi/weft/bench/osufmt"

// runMultiLatency is osu_multi_lat: ping-pong of all pairs at once, with a
// barrier before every round trip.
func runMultiLatency(j *job) error {
	return byType(j, osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, newBuffers[byte](j), newBuffers[int32](j), newBuffers[float32](j),
		multiLatency[byte], multiLatency[int32], multiLatency[float32])
}

func multiLatency[T element](j *job, b *buffers[T], size int) (result, error) {
	sends, recvs, err := b.take(1, size/width[T]())
	if err != nil {
		return result{}, err
	}
	send, recv := sends[0], recvs[0]
	pairs := j.c.Size() / 2
	l, err := standard(j.c, send, recv, (j.c.Rank()+pairs)%(2*pairs))
	if err != nil {
		return result{}, err
	}
	return j.multiLatency(l, size, checksOf(send, recv, size, nil))
}

func (j *job) multiLatency(l link, size int, v checks) (result, error) {
	c, rank, pairs := j.c, j.c.Rank(), j.c.Size()/2
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	errors := 0

	if err := c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			v.arm(i)
		}
		for k := 0; k <= last; k++ {
			if err := c.Barrier(); err != nil {
				return r, err
			}
			if rank >= pairs {
				if err := l.recv(); err != nil {
					return r, err
				}
				if err := l.send(); err != nil {
					return r, err
				}
				continue
			}
			start := now()
			if err := l.send(); err != nil {
				return r, err
			}
			if err := l.recv(); err != nil {
				return r, err
			}
			if i >= warmup && k == last {
				d := now() - start
				r.took(d, micros(d)/2)
			}
		}
		if j.o.Validate {
			errors += v.wrong(i)
		}
	}
	return j.overRanks(r, micros(r.total)/float64(2*iterations), pairs, errors)
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
