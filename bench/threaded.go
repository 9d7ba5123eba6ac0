package bench

import (
	"errors"
	"strconv"
	"sync"

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
	title := osufmt.Title{Before: []string{
		"Number of Sender threads: " + strconv.Itoa(j.o.Senders) + " ", // with OSU's space at the end
		"Number of Receiver threads: " + strconv.Itoa(j.o.Receivers),
	}}
	return byType(j, title, []osufmt.Column{osufmt.AvgLatency}, newCrew[byte](j, n), newCrew[int32](j, n), newCrew[float32](j, n),
		threaded[byte], threaded[int32], threaded[float32])
}

// crew are the buffers of some goroutines.
type crew[T element] []*buffers[T]

func newCrew[T element](j *job, n int) crew[T] {
	c := make(crew[T], n)
	for i := range c {
		c[i] = newBuffers[T](j)
	}
	return c
}

func (c crew[T]) free() (err error) {
	for _, b := range c {
		err = errors.Join(err, b.free())
	}
	return err
}

// share is one goroutine's part of an exchange.
type share struct {
	result
	checks
	send, recv func(peer, tag int) error
	err        error
}

func threaded[T element](j *job, crew crew[T], size int) (result, error) {
	sends, recvs := make([][]T, len(crew)), make([][]T, len(crew))
	for id, b := range crew {
		s, r, err := b.take(1, size/width[T]())
		if err != nil {
			return result{}, err
		}
		sends[id], recvs[id] = s[0], r[0]
	}
	parts := make([]share, len(crew))
	for id := range parts {
		send, recv := sends[id], recvs[id]
		parts[id] = share{
			checks: checksOf(send, recv, size, nil),
			send:   func(peer, tag int) error { return mpi.Send(j.c, send, peer, tag) },
			recv: func(peer, tag int) error {
				_, err := mpi.Recv(j.c, recv, peer, tag)
				return err
			},
		}
	}
	return j.threaded(parts, size)
}

func (j *job) threaded(parts []share, size int) (result, error) {
	iterations, _ := j.o.counts(size)
	exchange := j.pong
	if j.c.Rank() == 0 {
		exchange = j.ping
	}
	for id := range parts {
		parts[id].samples = j.samples(iterations)
	}
	gate := make(chan error, len(parts))
	var wg sync.WaitGroup
	for id := range parts {
		p := &parts[id]
		wg.Go(func() {
			if p.err = <-gate; p.err != nil {
				return
			}
			exchange(p, size, id)
		})
	}
	err := j.c.Barrier()
	for range parts {
		gate <- err
	}
	wg.Wait()
	r := result{samples: j.samples(iterations)}
	for i := range parts {
		p := &parts[i]
		r.total += p.total
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
	r.values = []float64{micros(r.total) / float64(2*iterations)}
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

func (j *job) ping(p *share, size, id int) {
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	for i := id; i < warmup+iterations; i += j.o.Senders {
		there, back := j.tags(i)
		if j.o.Validate {
			p.arm(i - id)
		}
		for k := 0; k <= last; k++ {
			start := now()
			if p.err = p.send(1, there); p.err != nil {
				return
			}
			if p.err = p.recv(1, back); p.err != nil {
				return
			}
			if i >= warmup && k == last {
				d := now() - start
				p.took(d, micros(d)/2)
			}
		}
		if j.o.Validate {
			p.errors += p.wrong(i - id)
		}
	}
}

func (j *job) pong(p *share, size, id int) {
	iterations, warmup := j.o.counts(size)
	for i := id; i < warmup+iterations; i += j.o.Receivers {
		there, back := j.tags(i)
		if j.o.Validate {
			p.arm(i - id)
		}
		for k := 0; k <= j.o.ValidationWarmup; k++ {
			if p.err = p.recv(0, there); p.err != nil {
				return
			}
			if p.err = p.send(0, back); p.err != nil {
				return
			}
		}
		if j.o.Validate {
			p.errors += p.wrong(i - id)
		}
	}
}
