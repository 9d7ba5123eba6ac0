package bench

import (
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// runLatency is osu_latency: rank 0 sends and receives, rank 1 receives and
// sends, and half of the round trip is the latency.
func runLatency(j *job) error {
	b, i, f := buffers[byte]{o: &j.o}, buffers[int32]{o: &j.o}, buffers[float32]{o: &j.o}
	defer func() { b.free(); i.free(); f.free() }()
	return j.sweep(osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, func(t Datatype, size int) (result, error) {
		switch t {
		case Int:
			return latency(j, &i, size)
		case Float:
			return latency(j, &f, size)
		}
		return latency(j, &b, size)
	})
}

func latency[T element](j *job, b *buffers[T], size int) (result, error) {
	sends, recvs, err := b.take(1, size/width[T]())
	if err != nil {
		return result{}, err
	}
	send, recv := sends[0], recvs[0]
	c, peer := j.c, 1-j.c.Rank()
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	var total time.Duration

	if err := c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			arm(send, recv, size, i)
			if err := c.Barrier(); err != nil {
				return r, err
			}
		}
		for k := 0; k <= last; k++ {
			if c.Rank() != 0 {
				if _, err := mpi.Recv(c, recv, peer, 1); err != nil {
					return r, err
				}
				if err := mpi.Send(c, send, peer, 1); err != nil {
					return r, err
				}
				continue
			}
			timed := i >= warmup && k == last
			var start time.Duration
			if timed {
				start = now()
			}
			if err := mpi.Send(c, send, peer, 1); err != nil {
				return r, err
			}
			if _, err := mpi.Recv(c, recv, peer, 1); err != nil {
				return r, err
			}
			if timed {
				d := now() - start
				total += d
				if r.samples != nil {
					r.samples = append(r.samples, micros(d)/2)
				}
			}
		}
		if j.o.Validate {
			n, err := j.addErrors(wrong(recv, size, i), peer)
			if err != nil {
				return r, err
			}
			r.errors += n
		}
	}
	r.values = []float64{micros(total) / float64(2*iterations)}
	r.spread()
	return r, nil
}

// addErrors gives rank 0 the sum of its own count of errors and that of rank
// peer; rank peer gets its own back.
func (j *job) addErrors(n, peer int) (int, error) {
	buf := []int64{int64(n)}
	if j.c.Rank() != 0 {
		return n, mpi.Send(j.c, buf, 0, tagErrors)
	}
	_, err := mpi.Recv(j.c, buf, peer, tagErrors)
	return n + int(buf[0]), err
}
