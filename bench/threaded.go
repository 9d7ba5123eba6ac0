package bench

import (
	"strconv"
	"sync"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// runThreaded is osu_latency_mt with goroutines for threads: S senders on rank
// 0 and R receivers on rank 1 share the iterations. Iteration i is that of
// sender i mod S and receiver i mod R. One sender uses tags 1 and 2, so that
// any free receiver replies; several use tag i.
//
// Each goroutine sums its own times. In OSU all senders add to one variable
// without a lock: its value has the same meaning, the mean half round trip that
// a thread sees, but less accuracy.
func runThreaded(j *job) error {
	n := j.o.Senders
	if j.c.Rank() != 0 {
		n = j.o.Receivers
	}
	b, i, f := crew[byte](j, n), crew[int32](j, n), crew[float32](j, n)
	defer func() { dismiss(b); dismiss(i); dismiss(f) }()
	title := osufmt.Title{Before: []string{
		"Number of Sender threads: " + strconv.Itoa(j.o.Senders) + " ", // with OSU's space at the end
		"Number of Receiver threads: " + strconv.Itoa(j.o.Receivers),
	}}
	return j.sweep(title, []osufmt.Column{osufmt.AvgLatency}, func(t Datatype, size int) (result, error) {
		switch t {
		case Int:
			return threaded(j, i, size)
		case Float:
			return threaded(j, f, size)
		}
		return threaded(j, b, size)
	})
}

// crew makes the buffers of n goroutines.
func crew[T element](j *job, n int) []*buffers[T] {
	c := make([]*buffers[T], n)
	for i := range c {
		c[i] = &buffers[T]{o: &j.o}
	}
	return c
}

func dismiss[T element](c []*buffers[T]) {
	for _, b := range c {
		b.free()
	}
}

// share is one goroutine's part of an exchange.
type share struct {
	total   time.Duration
	samples []float64
	errors  int
	err     error
}

func threaded[T element](j *job, crew []*buffers[T], size int) (result, error) {
	iterations, _ := j.o.counts(size)
	parts := make([]share, len(crew))
	sends, recvs := make([][]T, len(crew)), make([][]T, len(crew))
	for id, b := range crew {
		s, r, err := b.take(1, size/width[T]())
		if err != nil {
			return result{}, err
		}
		sends[id], recvs[id] = s[0], r[0]
		parts[id].samples = j.samples(iterations)
	}
	gate := make(chan error, len(crew))
	var wg sync.WaitGroup
	for id := range crew {
		p := &parts[id]
		wg.Go(func() {
			if p.err = <-gate; p.err != nil {
				return
			}
			if j.c.Rank() == 0 {
				ping(j, p, sends[id], recvs[id], size, id)
			} else {
				pong(j, p, sends[id], recvs[id], size, id)
			}
		})
	}
	err := j.c.Barrier()
	for range crew {
		gate <- err
	}
	wg.Wait()
	r := result{samples: j.samples(iterations)}
	var total time.Duration
	for i := range parts {
		p := &parts[i]
		total += p.total
		r.errors += p.errors
		if r.samples != nil {
			r.samples = append(r.samples, p.samples...)
		}
		if err == nil {
			err = p.err
		}
	}
	if err != nil {
		return r, err
	}
	if j.o.Validate {
		if r.errors, err = j.addErrors(r.errors, 1); err != nil {
			return r, err
		}
	}
	r.values = []float64{micros(total) / float64(2*iterations)}
	r.spread()
	return r, nil
}

// tags are those of iteration i: of the message and of the reply.
func (j *job) tags(i int) (there, back int) {
	if j.o.Senders > 1 {
		return i, i
	}
	return 1, 2
}

func ping[T element](j *job, p *share, send, recv []T, size, id int) {
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	for i := id; i < warmup+iterations; i += j.o.Senders {
		there, back := j.tags(i)
		if j.o.Validate {
			arm(send, recv, size, i-id, nil)
		}
		for k := 0; k <= last; k++ {
			start := now()
			if p.err = mpi.Send(j.c, send, 1, there); p.err != nil {
				return
			}
			if _, p.err = mpi.Recv(j.c, recv, 1, back); p.err != nil {
				return
			}
			if i >= warmup && k == last {
				d := now() - start
				p.total += d
				if p.samples != nil {
					p.samples = append(p.samples, micros(d)/2)
				}
			}
		}
		if j.o.Validate {
			p.errors += wrong(recv, size, i-id, nil)
		}
	}
}

func pong[T element](j *job, p *share, send, recv []T, size, id int) {
	iterations, warmup := j.o.counts(size)
	for i := id; i < warmup+iterations; i += j.o.Receivers {
		there, back := j.tags(i)
		if j.o.Validate {
			arm(send, recv, size, i-id, nil)
		}
		for k := 0; k <= j.o.ValidationWarmup; k++ {
			if _, p.err = mpi.Recv(j.c, recv, 0, there); p.err != nil {
				return
			}
			if p.err = mpi.Send(j.c, send, 0, back); p.err != nil {
				return
			}
		}
		if j.o.Validate {
			p.errors += wrong(recv, size, i-id, nil)
		}
	}
}
