package bench

import (
	"errors"
	"strings"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// collectiveCall is the call of a benchmark on one rank, with n elements or with
// blocks of n elements.
type collectiveCall struct {
	*job
	kind        string // the name of the blocking benchmark
	nonblocking bool
	persistent  bool
	size, n     int
	sends       int   // elements of the send buffer; at least n
	recvs       int   // elements of the recv buffer; at least n
	counts      []int // reduce_scatter: elements of each rank's result; of calls with displs of each block
	displs      []int // where each block begins
	neighbors   []int // the ranks of each slot

	// The first results elements of recv are known afterwards: number i is the sum, or
	// the pair, of the elements that the ranks from first to before end have at the
	// index at of send.
	results int
	from    func(i int) (first, end, at int)
	mask    []bool // which elements of a block are sent; nil: all

	op        *mpi.Op
	out, in   mpi.Buf   // the buffers of calls with Bufs
	outs, ins []mpi.Buf // their blocks, for each rank: of alltoallw

	call  func() error                // blocking; of a persistent one Start and Wait
	start func() (mpi.Request, error) // non-blocking
	saved mpi.Request                 // persistent
	arm   func(round int)             // with -c, before each round
	wrong func(round int) int         // and behind it: results that are wrong

	worked, working time.Duration // of a non-blocking call: in the last one, and in the timed ones
	errors          int
}

// runCollective is osu_allreduce and so on: the mean time of the call on each rank,
// averaged over the ranks. A barrier, which is not timed, is between two calls. The
// root is rank 0.
func runCollective(j *job) (err error) {
	title, lead := osufmt.Title{}, []osufmt.Column{osufmt.AvgLatency}
	if j.neighborhood() {
		if err = j.onGrid(); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = j.c.Free()
			}
		}()
	}
	if _, nonblocking, _ := j.collective(); nonblocking {
		j.rate = workRate()
		title, lead = nonblockingTitle, overlapColumns
	}
	return byType(j, title, lead, newBuffers[byte](j), newBuffers[int32](j), newBuffers[float32](j),
		collective[byte], collective[int32], collective[float32])
}

// collective is the name of the blocking benchmark of the same call. Those of
// non-blocking calls are the only collective ones whose names begin with an i.
func (b *Benchmark) collective() (kind string, nonblocking, persistent bool) {
	kind, persistent = strings.CutSuffix(b.Name, "_persistent")
	kind, nonblocking = strings.CutPrefix(kind, "i")
	return kind, nonblocking, persistent
}

// neighborhood reports whether a collective benchmark is on a grid.
func (b *Benchmark) neighborhood() bool {
	kind, _, _ := b.collective()
	return strings.HasPrefix(kind, "neighbor_")
}

// onGrid makes the job's communicator a periodic grid of two dimensions, with the ranks
// in their order.
func (j *job) onGrid() (err error) {
	j.c, err = j.c.CartCreate(mpi.CartOptions{Dims: []int{0, 0}, Periodic: []bool{true, true}})
	return err
}

// reduces reports whether a collective benchmark has an operator.
func (b *Benchmark) reduces() bool {
	switch kind, _, _ := b.collective(); kind {
	case "allreduce", "reduce", "exscan", "reduce_scatter":
		return true
	}
	return false
}

func collective[T element](j *job, b *buffers[T], size int) (result, error) {
	x := callOf(j, size, size/width[T]())
	send, recv, err := b.pair(x.n, x.sends, x.recvs)
	if err != nil {
		return result{}, err
	}
	if x.onBufs() {
		if err := x.setBufs(send, recv); err != nil {
			return result{}, err
		}
	} else {
		x.call = callOnSlices(x, send, recv)
	}
	if j.o.Validate {
		validate(x, send, recv)
	}
	r, err := x.measure()
	if x.persistent {
		err = errors.Join(err, mpi.RequestFree(&x.saved))
	}
	return r, err
}

// blockOf is a type of which count elements are a block of n elements of type base, which
// have size bytes. The next block begins right behind them.
func (o *Options) blockOf(base *mpi.Datatype, size, n int) (t *mpi.Datatype, count int, err error) {
	switch d := &o.Derived; {
	case o.Reduction == MaxLoc:
		return mpi.Type2Int, n / 2, nil
	case d.sent(n) == 0: // no sum is defined for a type without elements
		return base, 0, nil
	default:
		t, count, err = d.elements(base, n)
	}
	if err != nil {
		return nil, 0, err
	}
	if _, extent := t.Extent(); extent*count == size {
		return t, count, nil
	}
	if count != 1 {
		if t, err = mpi.TypeContiguous(count, t); err != nil {
			return nil, 0, err
		}
	}
	if t, err = mpi.TypeResized(t, 0, size); err != nil {
		return nil, 0, err
	}
	return t, 1, t.Commit()
}

// callOf has no calls yet.
func callOf(j *job, size, n int) *collectiveCall {
	p, me := j.c.Size(), j.c.Rank()
	x := &collectiveCall{job: j, size: size, n: n, sends: n, recvs: n, results: n}
	x.kind, x.nonblocking, x.persistent = j.collective()
	if j.neighborhood() {
		x.neighbors = j.c.Neighbors()
	}
	slots := len(x.neighbors)
	ofAll := func(i int) (int, int, int) { return 0, p, i }
	ofRank := func(i int) (int, int, int) { return i / n, i/n + 1, i % n }
	atRoot := 0 // results of a call that has them at the root only
	if me == 0 {
		atRoot = 1
	}
	switch x.kind {
	case "allreduce":
		x.from = ofAll
	case "reduce":
		x.from, x.results = ofAll, n*atRoot
	case "exscan":
		x.from, x.results = func(i int) (int, int, int) { return 0, me, i }, n*min(me, 1)
	case "reduce_scatter":
		// As in OSU, the size is the whole vector's, and the first ranks have what the
		// ranks do not divide.
		before := 0
		for rank := range p {
			x.counts = append(x.counts, n/p)
			if rank < n%p {
				x.counts[rank]++
			}
			if rank < me {
				before += x.counts[rank]
			}
		}
		x.from, x.results = func(i int) (int, int, int) { return 0, p, before + i }, x.counts[me]
	case "bcast":
		x.from = func(i int) (int, int, int) { return 0, 1, i }
	case "gather":
		x.from, x.recvs, x.results = ofRank, max(p*n*atRoot, n), p*n*atRoot
	case "scatter":
		x.from, x.sends = func(i int) (int, int, int) { return 0, 1, me*n + i }, max(p*n*atRoot, n)
	case "allgather":
		x.from, x.recvs, x.results = ofRank, p*n, p*n
	case "alltoall", "alltoallw":
		x.from = func(i int) (int, int, int) { return i / n, i/n + 1, me*n + i%n }
		x.sends, x.recvs, x.results = p*n, p*n, p*n
	case "neighbor_allgather", "neighbor_allgatherv":
		x.from = func(i int) (int, int, int) { r := x.neighbors[i/n]; return r, r + 1, i % n }
		x.recvs, x.results = slots*n, slots*n
	case "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw", "neighbor_isend":
		// What comes to a slot is that of the other direction at the neighbor.
		x.from = func(i int) (int, int, int) { r := x.neighbors[i/n]; return r, r + 1, (i/n^1)*n + i%n }
		x.sends, x.recvs, x.results = slots*n, slots*n, slots*n
	default: // no data
		x.results = 0
	}
	if j.o.Reduction == MaxLoc {
		x.results &^= 1
	}
	return x
}

// unreceived is what the memory of recv holds before a round of a validation, and what its
// gaps hold behind it: never an element that is sent.
const unreceived = 100

// sent is the element at the index at that a rank sends in a round. Up to eight blocks of
// a rank differ, whatever their length.
func (x *collectiveCall) sent(rank, at, round int) int {
	return (at%x.n + 5*(at/x.n) + 3*rank + x.size + round) % 8
}

// want is what recv has at the index i behind a round.
func (x *collectiveCall) want(i, round int) (sum int) {
	if x.mask != nil && !x.mask[i%x.n] {
		return unreceived
	}
	first, end, at := x.from(i)
	if x.o.Reduction == MaxLoc {
		best := first
		of := func(rank int) (value, index int) { return x.sent(rank, at&^1, round), x.sent(rank, at|1, round) }
		for rank := first; rank < end; rank++ {
			value, index := of(rank)
			if most, at := of(best); value > most || value == most && index < at {
				best = rank
			}
		}
		return x.sent(best, at, round)
	}
	for rank := first; rank < end; rank++ {
		sum += x.sent(rank, at, round)
	}
	return sum
}

// validate sets arm and wrong.
func validate[T element](x *collectiveCall, send, recv []T) {
	me := x.c.Rank()
	x.mask = x.o.Derived.mask(x.n)
	x.arm = func(round int) {
		for at := range send {
			send[at] = T(x.sent(me, at, round))
		}
		set(recv, unreceived)
		for at := 0; x.kind == "bcast" && me == 0 && at < len(recv); at++ {
			recv[at] = T(x.want(at, round))
		}
	}
	x.wrong = func(round int) (errors int) {
		for i, got := range recv[:x.results] {
			if got != T(x.want(i, round)) {
				errors++
			}
		}
		return errors
	}
}

// measure is the result of the call at its size.
func (x *collectiveCall) measure() (result, error) {
	if x.nonblocking {
		return x.overlap()
	}
	r, err := x.repeat()
	if err != nil {
		return r, err
	}
	iterations, _ := x.o.counts(x.size)
	return x.overRanks(r, micros(r.total)/float64(iterations), x.c.Size(), x.errors)
}

// repeat times the call.
func (x *collectiveCall) repeat() (result, error) {
	iterations, warmup := x.o.counts(x.size)
	last := x.o.ValidationWarmup
	r := result{samples: x.samples(iterations)}
	if err := x.c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if x.arm != nil {
			x.arm(i)
		}
		for k := 0; k <= last; k++ {
			start := now()
			if err := x.call(); err != nil {
				return r, err
			}
			if d := now() - start; i >= warmup && k == last {
				r.took(d, micros(d))
				x.working += x.worked
			}
			if err := x.c.Barrier(); err != nil {
				return r, err
			}
		}
		if x.wrong != nil {
			x.errors += x.wrong(i)
		}
	}
	return r, nil
}
