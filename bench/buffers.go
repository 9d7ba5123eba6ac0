package bench

import (
	"github.com/weft-mpi/weft/mpi"
)

// element is the Go type of MPI_CHAR, MPI_INT, MPI_FLOAT or MPI_INT64_T.
type element interface {
	byte | int32 | float32 | int64
}

// pages is a length in bytes from which the Go heap hands out whole pages.
const pages = 8192

// buffers holds the send and receive buffers of one goroutine for a run over
// one datatype. Not safe for concurrent use.
type buffers[T element] struct {
	o          *Options
	send, recv [][]T
	held       [][]T // from mpi.Alloc, to be freed
}

func newBuffers[T element](j *job) *buffers[T] { return &buffers[T]{o: &j.o} }

// take returns count send and receive buffers of n elements, filled as OSU
// fills them. With -b single all of them are one buffer, which is large enough
// for the whole run. They are valid until the next take or free.
func (b *buffers[T]) take(count, n int) (send, recv [][]T, err error) {
	switch {
	case b.o.Multiple:
		if err := b.free(); err != nil {
			return nil, nil, err
		}
		for range count {
			if err := b.grow(n); err != nil {
				return nil, nil, err
			}
		}
	case b.send == nil:
		if err := b.grow(max(n, b.o.MaxSize/width[T]())); err != nil {
			return nil, nil, err
		}
	}
	send, recv = make([][]T, count), make([][]T, count)
	for i := range b.send {
		set(b.send[i][:n], 'a')
		set(b.recv[i][:n], 'b')
	}
	for i := range count {
		k := min(i, len(b.send)-1)
		send[i], recv[i] = b.send[k][:n], b.recv[k][:n]
	}
	return send, recv, nil
}

// pair returns a send and a recv buffer of sends and recvs elements, filled as those
// of take. Both are multiples of n, the number of elements of the size that is
// measured: the first pair is large enough for the whole run. They are valid until the
// next take or free.
func (b *buffers[T]) pair(n, sends, recvs int) (send, recv []T, err error) {
	if b.send == nil {
		most := max(n, b.o.MaxSize/width[T]())
		if send, err = b.make(sends / n * most); err != nil {
			return nil, nil, err
		}
		if recv, err = b.make(recvs / n * most); err != nil {
			return nil, nil, err
		}
		clear(send)
		clear(recv)
		b.send, b.recv = [][]T{send}, [][]T{recv}
	}
	send, recv = b.send[0][:sends], b.recv[0][:recvs]
	set(send, 'a')
	set(recv, 'b')
	return send, recv, nil
}

// grow adds a pair of buffers.
func (b *buffers[T]) grow(n int) error {
	s, err := b.make(n)
	if err != nil {
		return err
	}
	r, err := b.make(n)
	if err != nil {
		return err
	}
	// As OSU does: the kernel serves pages that have been in use for a while
	// better than new ones.
	clear(s)
	clear(r)
	b.send, b.recv = append(b.send, s), append(b.recv, r)
	return nil
}

func (b *buffers[T]) make(n int) ([]T, error) {
	if !b.o.Alloc {
		// Whole pages, as in OSU: nothing else shares a cache line with a
		// buffer.
		return make([]T, max(n, pages/width[T]()))[:n], nil
	}
	buf, err := mpi.Alloc[T](n)
	if err == nil {
		b.held = append(b.held, buf)
	}
	return buf, err
}

// free frees the buffers.
func (b *buffers[T]) free() error {
	var first error
	for _, h := range b.held {
		if err := mpi.Free(h); err != nil && first == nil {
			first = err
		}
	}
	b.send, b.recv, b.held = nil, nil, nil
	return first
}

func set[T element](b []T, v T) {
	for i := range b {
		b[i] = v
	}
}

// width is the length of an element in bytes.
func width[T element]() int {
	var z T
	switch any(z).(type) {
	case byte:
		return 1
	case int64:
		return 8
	}
	return 4
}

// pattern is the value that element i of a message of size bytes has in
// iteration iter: OSU's set_buffer_validation.
func pattern[T element](i, size, iter int) T {
	v := int32(7*(i+1) + size + iter)
	return T(v)
}

// untouched is what element i of a receive buffer has where nothing is received: never
// the pattern.
func untouched[T element](i, size, iter int) T {
	v := int32(7*(i+1) + size + iter)
	return T(^v)
}

// checks are the validation of a pair of buffers, before and behind iteration i.
type checks struct {
	arm   func(i int)
	wrong func(i int) int
}

func checksOf[T element](send, recv []T, size int, sent []bool) checks {
	return checks{
		arm:   func(i int) { arm(send, recv, size, i, sent) },
		wrong: func(i int) int { return wrong(recv, size, i, sent) },
	}
}

// arm writes the pattern of an iteration to send and erases recv. sent says which
// elements are sent; nil: all are.
func arm[T element](send, recv []T, size, iter int, sent []bool) {
	for i := range send {
		send[i] = pattern[T](i, size, iter)
	}
	if sent == nil {
		clear(recv)
		return
	}
	for i := range recv {
		recv[i] = untouched[T](i, size, iter)
	}
}

// wrong counts the elements of recv that do not have the pattern, and those that are not
// sent and have been written to.
func wrong[T element](recv []T, size, iter int, sent []bool) int {
	n := 0
	for i, v := range recv {
		want := pattern[T](i, size, iter)
		if sent != nil && !sent[i] {
			want = untouched[T](i, size, iter)
		}
		if v != want {
			n++
		}
	}
	return n
}
