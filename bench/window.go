package bench

import (
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// windows measures a bandwidth with a function for each datatype.
func (j *job) windows(
	char func(*job, *window[byte], int) (result, error),
	integer func(*job, *window[int32], int) (result, error),
	float func(*job, *window[float32], int) (result, error),
) error {
	return byType(j, osufmt.Title{}, []osufmt.Column{osufmt.Bandwidth}, newWindow[byte](j), newWindow[int32](j), newWindow[float32](j), char, integer, float)
}

// window is one rank's buffers and requests for a window of messages in flight.
type window[T element] struct {
	buffers[T]
	j            *job
	sends, recvs [][]T
	out, in      []mpi.Request
	ack          []byte
	sent         []bool // elements of a message, nil: all
}

func newWindow[T element](j *job) *window[T] {
	return &window[T]{
		buffers: buffers[T]{o: &j.o},
		j:       j,
		out:     make([]mpi.Request, j.o.Window),
		in:      make([]mpi.Request, j.o.Window),
		ack:     make([]byte, 4),
	}
}

// resize prepares the buffers for messages of size bytes.
func (w *window[T]) resize(size int) (err error) {
	n := size / width[T]()
	w.sends, w.recvs, err = w.take(len(w.out), n)
	w.sent = w.j.o.Derived.mask(n)
	return err
}

// arm prepares the validation of iteration i.
func (w *window[T]) arm(size, i int) {
	for n := range w.distinct() {
		arm(w.sends[n], w.recvs[n], size, i+n, w.sent)
	}
}

// wrong counts the elements that arrived wrong in iteration i.
func (w *window[T]) wrong(size, i int) (errors int) {
	for n := range w.distinct() {
		errors += wrong(w.recvs[n], size, i+n, w.sent)
	}
	return errors
}

// distinct is the number of different buffers: 1 with -b single.
func (w *window[T]) distinct() int { return len(w.send) }

// armed are the buffers of a window that is validated, of whatever elements.
type armed interface {
	arm(size, i int)
	wrong(size, i int) int
}

// exchange times windows between ranks 0 and 1, in one direction or both: ways
// is 1 or 2. Precondition: the buffers have been resized to size.
func (w *window[T]) exchange(size, ways int, step func(peer int) error) (result, error) {
	return exchange(w.j, w, size, w.j.o.sent(size, width[T]()), ways, step)
}

func exchange(j *job, w armed, size, sent, ways int, step func(peer int) error) (result, error) {
	iterations, warmup := j.o.counts(size)
	peer, last := 1-j.c.Rank(), j.o.ValidationWarmup
	r := result{samples: j.samples(iterations)}
	megabytes := float64(sent) / 1e6 * float64(j.o.Window*ways)

	if err := j.c.Barrier(); err != nil {
		return r, err
	}
	for i := range warmup + iterations {
		if j.o.Validate {
			w.arm(size, i)
			if err := j.c.Barrier(); err != nil {
				return r, err
			}
		}
		for k := 0; k <= last; k++ {
			start := now()
			if err := step(peer); err != nil {
				return r, err
			}
			if i >= warmup && k == last {
				d := now() - start
				r.took(d, megabytes/d.Seconds())
			}
		}
		if j.o.Validate {
			errors := 0
			if j.c.Rank() == 1 || ways == 2 {
				errors = w.wrong(size, i)
			}
			n, err := j.addErrors(errors, peer)
			if err != nil {
				return r, err
			}
			r.errors += n
		}
	}
	r.values = []float64{megabytes * float64(iterations) / r.total.Seconds()}
	return r, nil
}
