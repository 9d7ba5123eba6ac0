package mpi_test

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// The model of collective calls: what they give, from the inputs of all ranks, which
// every rank makes by itself, folded one rank after another.

// form is how a test makes its calls. A persistent one counts as nonblocking.
type form struct{ nonblocking, persistent, inPlace bool }

var forms = []form{{}, {nonblocking: true}, {nonblocking: true, persistent: true},
	{inPlace: true}, {inPlace: true, nonblocking: true}, {inPlace: true, nonblocking: true, persistent: true}}

// notInPlace are the others.
var notInPlace = forms[:3]

// either is the call of a form with a request.
func either[F any](f form, nonblocking, persistent F) F {
	if f.persistent {
		return persistent
	}
	return nonblocking
}

// again starts a persistent call first with zeros in the buffers, and then twice with what
// they have now.
func again[T any](r mpi.Request, buffers [][]T) {
	was := make([][]T, len(buffers))
	for i, b := range buffers {
		was[i] = slices.Clone(b)
	}
	for _, b := range buffers {
		clear(b)
	}
	for i := range 3 {
		for k := range buffers {
			if i > 0 {
				copy(buffers[k], was[k])
			}
		}
		ok(mpi.Start(&r))
		get(mpi.Wait(&r))
	}
	ok(mpi.RequestFree(&r))
}

// trial is one rank's part in one collective call.
type trial[T mpi.Scalar] struct {
	c *mpi.Comm
	form
	root, n int
	element func(rank, i int) T // of a rank's input
	op      *mpi.Op
	fold    func(lower, upper T) T
	guards  [][]T // behind the buffers
	made    [][]T // what may be buffers of the next call
}

// vector is n elements of a rank's input, from its element at on.
func (x *trial[T]) vector(rank, at, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = x.element(rank, at+i)
	}
	x.made = append(x.made, v)
	return v
}

// folded combines n elements, from at on, of the ranks 0 to last.
func (x *trial[T]) folded(last, at, n int) []T {
	v := x.vector(0, at, n)
	for rank := 1; rank <= last; rank++ {
		for i := range v {
			v[i] = x.fold(v[i], x.element(rank, at+i))
		}
	}
	return v
}

// all is n elements of each rank, one rank's after another's.
func (x *trial[T]) all(n int) (v []T) {
	for rank := range x.c.Size() {
		v = append(v, x.vector(rank, 0, n)...)
	}
	return v
}

// room is a buffer of n elements, all zero, behind which nothing may be written.
func (x *trial[T]) room(n int) []T {
	b := make([]T, n+3)
	copy(b[n:], x.vector(1000, 0, 3))
	x.guards, x.made = append(x.guards, b[n:]), append(x.made, b[:n])
	return b[:n]
}

// buffers are the send and the recv of a call with the rank's own input, and room for
// n elements. In place the input begins at recv[at].
func (x *trial[T]) buffers(input []T, n, at int) (send, recv []T) {
	recv = x.room(n)
	if x.inPlace {
		copy(recv[at:], input)
		return mpi.InPlace[T](), recv
	}
	x.made = append(x.made, input)
	return input, recv
}

// check ends the rank unless got is want, and nothing was written elsewhere.
func (x *trial[T]) check(call string, got, want []T) {
	if !slices.Equal(got, want) {
		stop(fmt.Errorf("%s of %d, %T, root %d, %+v: rank %d of %d got %v, want %v", call, x.n, want, x.root, x.form, x.c.Rank(), x.c.Size(), got, want))
	}
	for _, g := range x.guards {
		if !slices.Equal(g, x.vector(1000, 0, 3)) {
			stop(fmt.Errorf("%s of %d, %T, root %d, %+v: rank %d of %d has memory behind a buffer overwritten", call, x.n, want, x.root, x.form, x.c.Rank(), x.c.Size()))
		}
	}
	x.guards, x.made = nil, nil
}

// end is what a call returned: a nonblocking one is waited for.
func (x *trial[T]) end(r mpi.Request, err error) {
	ok(err)
	if r.Null() {
		stop(fmt.Errorf("a nonblocking call has returned the null request"))
	}
	if x.persistent {
		again(r, x.made)
		return
	}
	get(mpi.Wait(&r))
}

// scattered are places of blocks with gaps between them, the last rank's first, and
// how many elements they take.
func scattered(counts []int) (displs []int, total int) {
	displs = make([]int, len(counts))
	for i := len(counts) - 1; i >= 0; i-- {
		total++
		displs[i] = total
		total += counts[i]
	}
	return displs, total + 1
}

// lengths are counts of blocks that differ; some are 0.
func lengths(ranks, n, seed int) []int {
	counts := make([]int, ranks)
	for i := range counts {
		counts[i] = (5*i + seed) % (n + 1)
	}
	return counts
}

// uneven is a number of blocks of n elements in the mean.
func uneven(ranks, n int) []int {
	counts := slices.Repeat([]int{n}, ranks)
	for i := 1; i < ranks; i += 2 {
		more := min(n, i)
		counts[i-1], counts[i] = n+more, n-more
	}
	return counts
}

func countOf(counts []int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// word is the hash of a word of the free monoid of up to eight letters, whose product
// is not commutative: the letters as digits of a number in a base, modulo the prime
// 2^61-1, and in the highest bits the word's length, less one. Two words have one hash
// only by chance.
type word uint64

const prime, base = 1<<61 - 1, 0x123456789abcdef

func letter(rank, i int) word { return word(rank*1000 + i + 1) }

func join(lower, upper word) word {
	h := uint64(lower) & prime
	for range upper>>61 + 1 {
		hi, lo := bits.Mul64(h, base)
		_, h = bits.Div64(hi, lo, prime)
	}
	return word((h+uint64(upper)&prime)%prime) | (lower>>61+upper>>61+1)<<61
}

// joinAll is join for NewVectorOp.
func joinAll(in, inout []word) {
	for i := range in {
		inout[i] = join(in[i], inout[i])
	}
}
