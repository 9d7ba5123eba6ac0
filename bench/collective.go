package bench

import (
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// collectiveCall is a collective call of a benchmark on one rank.
type collectiveCall[T element] struct {
	sends, recvs int // elements of the two buffers; at least n each
	call         func(send, recv []T) error
	// want is the element i of recv afterwards, of the first results ones. v is an
	// element of a rank's send.
	want    func(v func(rank, i int) T, i int) T
	results int
}

// runCollective is osu_allreduce and so on: the mean time of the call on each rank,
// averaged over the ranks. A barrier, which is not timed, is between two calls. The
// root is rank 0.
func runCollective(j *job) error {
	return byType(j, osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}, newBuffers[byte](j), newBuffers[int32](j), newBuffers[float32](j),
		collective[byte], collective[int32], collective[float32])
}

func collective[T element](j *job, b *buffers[T], size int) (result, error) {
	x := callOf[T](j.Name, j.c, size/width[T]())
	send, recv, err := b.pair(size/width[T](), x.sends, x.recvs)
	if err != nil {
		return result{}, err
	}
	c, me := j.c, j.c.Rank()
	iterations, warmup := j.o.counts(size)
	last := j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	errors := 0

	if err := c.Barrier(); err != nil {
		return r, err
	}
	round := 0
	sent := func(rank, at int) T { return T((at + 3*rank + size + round) % 8) }
	for i := range warmup + iterations {
		round = i
		if j.o.Validate {
			for at := range send {
				send[at] = sent(me, at)
			}
			clear(recv)
			if me == 0 && j.Name == "bcast" {
				copy(recv, send)
			}
		}
		for k := 0; k <= last; k++ {
			start := now()
			if err := x.call(send, recv); err != nil {
				return r, err
			}
			if d := now() - start; i >= warmup && k == last {
				r.took(d, micros(d))
			}
			if err := c.Barrier(); err != nil {
				return r, err
			}
		}
		for at := 0; j.o.Validate && at < x.results; at++ {
			if recv[at] != x.want(sent, at) {
				errors++
			}
		}
	}
	return j.overRanks(r, micros(r.total)/float64(iterations), c.Size(), errors)
}

// callOf is the call of the benchmark of that name with n elements, or with blocks
// of n elements.
func callOf[T element](name string, c *mpi.Comm, n int) collectiveCall[T] {
	p, me := c.Size(), c.Rank()
	x := collectiveCall[T]{sends: n, recvs: n, results: n}
	// sum is the reduction of the first ranks.
	sum := func(ranks int) func(func(rank, i int) T, int) T {
		return func(v func(rank, i int) T, i int) (s T) {
			for rank := range ranks {
				s += v(rank, i)
			}
			return s
		}
	}
	ofRank := func(v func(rank, i int) T, i int) T { return v(i/n, i%n) }
	atRoot := 0 // results of a call that has them at the root only
	if me == 0 {
		atRoot = 1
	}
	switch name {
	case "allreduce":
		x.call, x.want = func(send, recv []T) error { return mpi.Allreduce(c, mpi.Sum, send, recv) }, sum(p)
	case "reduce":
		x.call, x.want = func(send, recv []T) error { return mpi.Reduce(c, mpi.Sum, send, recv, 0) }, sum(p)
		x.results = n * atRoot
	case "exscan":
		x.call, x.want = func(send, recv []T) error { return mpi.Exscan(c, mpi.Sum, send, recv) }, sum(me)
		x.results = n * min(me, 1)
	case "bcast":
		x.call = func(_, recv []T) error { return mpi.Bcast(c, recv, 0) }
		x.want = func(v func(rank, i int) T, i int) T { return v(0, i) }
	case "gather":
		x.call, x.want = func(send, recv []T) error { return mpi.Gather(c, send, recv, 0) }, ofRank
		x.recvs, x.results = max(p*n*atRoot, n), p*n*atRoot
	case "scatter":
		x.call = func(send, recv []T) error { return mpi.Scatter(c, send, recv, 0) }
		x.want = func(v func(rank, i int) T, i int) T { return v(0, me*n+i) }
		x.sends = max(p*n*atRoot, n)
	case "allgather":
		x.call, x.want = func(send, recv []T) error { return mpi.Allgather(c, send, recv) }, ofRank
		x.recvs, x.results = p*n, p*n
	case "alltoall":
		x.call = func(send, recv []T) error { return mpi.Alltoall(c, send, recv) }
		x.want = func(v func(rank, i int) T, i int) T { return v(i/n, me*n+i%n) }
		x.sends, x.recvs, x.results = p*n, p*n, p*n
	case "agree":
		x.call, x.results = func(_, _ []T) error { _, err := c.Agree(1); return err }, 0
	}
	return x
}
