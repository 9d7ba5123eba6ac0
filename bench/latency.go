package bench

import (
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// link holds one rank's calls of a ping-pong: each sends or receives one whole
// message. close, unless nil, is called after the last one.
type link struct {
	send, recv func() error
	close      func() error
}

// linker makes the link to peer over two buffers.
type linker[T element] func(c *mpi.Comm, send, recv []T, peer int) (link, error)

// runLatency is osu_latency: rank 0 sends and receives, rank 1 receives and
// sends, and half of the round trip is the latency.
func runLatency(j *job) error {
	if j.o.Derived.Kind != NotDerived {
		return j.pingPong(derivedLink[byte](&j.o), derivedLink[int32](&j.o), derivedLink[float32](&j.o))
	}
	return j.pingPong(standard[byte], standard[int32], standard[float32])
}

// runSsend is runLatency with synchronous sends.
func runSsend(j *job) error {
	return j.pingPong(synchronous[byte], synchronous[int32], synchronous[float32])
}

// runMprobe is runLatency with receives that probe for the message first.
func runMprobe(j *job) error {
	return j.pingPong(probed[byte], probed[int32], probed[float32])
}

func standard[T element](c *mpi.Comm, send, recv []T, peer int) (link, error) {
	return link{
		send: func() error { return mpi.Send(c, send, peer, 1) },
		recv: func() error {
			_, err := mpi.Recv(c, recv, peer, 1)
			return err
		},
	}, nil
}

func synchronous[T element](c *mpi.Comm, send, recv []T, peer int) (link, error) {
	l, err := standard(c, send, recv, peer)
	l.send = func() error { return mpi.Ssend(c, send, peer, 1) }
	return l, err
}

func probed[T element](c *mpi.Comm, send, recv []T, peer int) (link, error) {
	l, err := standard(c, send, recv, peer)
	l.recv = func() error {
		m, _, err := mpi.Mprobe(c, peer, 1)
		if err != nil {
			return err
		}
		_, err = mpi.Mrecv(&m, recv)
		return err
	}
	return l, err
}

// pingPong measures a latency with the calls of a link.
func (j *job) pingPong(char linker[byte], integer linker[int32], float linker[float32]) error {
	return byType(j, osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, newBuffers[byte](j), newBuffers[int32](j), newBuffers[float32](j),
		linked(char), linked(integer), linked(float))
}

func linked[T element](connect linker[T]) func(*job, *buffers[T], int) (result, error) {
	return func(j *job, b *buffers[T], size int) (result, error) { return latency(j, b, size, connect) }
}

func latency[T element](j *job, b *buffers[T], size int, connect linker[T]) (result, error) {
	sends, recvs, err := b.take(1, size/width[T]())
	if err != nil {
		return result{}, err
	}
	send, recv := sends[0], recvs[0]
	l, err := connect(j.c, send, recv, 1-j.c.Rank())
	if err != nil {
		return result{}, err
	}
	return j.latency(l, size, checksOf(send, recv, size, j.o.Derived.mask(len(send))))
}

func (j *job) latency(l link, size int, v checks) (result, error) {
	c, peer := j.c, 1-j.c.Rank()
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}

	if err := c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			v.arm(i)
			if err := c.Barrier(); err != nil {
				return r, err
			}
		}
		for k := 0; k <= last; k++ {
			if c.Rank() != 0 {
				if err := l.recv(); err != nil {
					return r, err
				}
				if err := l.send(); err != nil {
					return r, err
				}
				continue
			}
			timed := i >= warmup && k == last
			var start time.Duration
			if timed {
				start = now()
			}
			if err := l.send(); err != nil {
				return r, err
			}
			if err := l.recv(); err != nil {
				return r, err
			}
			if timed {
				d := now() - start
				r.took(d, micros(d)/2)
			}
		}
		if j.o.Validate {
			n, err := j.addErrors(v.wrong(i), peer)
			if err != nil {
				return r, err
			}
			r.errors += n
		}
	}
	r.values = []float64{micros(r.total) / float64(2*iterations)}
	r.spread()
	if l.close != nil {
		return r, l.close()
	}
	return r, nil
}

// addErrors returns on rank 0 the sum of its n and the n of rank peer, and on
// rank peer its own n.
func (j *job) addErrors(n, peer int) (int, error) {
	buf := []int64{int64(n)}
	if j.c.Rank() != 0 {
		return n, mpi.Send(j.c, buf, 0, tagErrors)
	}
	_, err := mpi.Recv(j.c, buf, peer, tagErrors)
	return n + int(buf[0]), err
}
