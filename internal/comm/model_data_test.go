package comm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
)

// modelData is a collective call: its arguments, and from them what each rank gives
// and must get, by the plain rules.
type modelData struct {
	call     coll.Call
	name     uint64 // every call has other bytes
	size     int    // ranks
	root     int
	count    int // of elements; the v-forms have up to so many
	elem     int // bytes of an element
	inPlace  bool
	commutes bool
	ordered  bool // the operator is not commutative
	kept     bool // the plan is one that the communicator keeps
	first    int  // ranks of the first of two groups, or 0
}

// modelBuffers is the memory of a call at a rank.
type modelBuffers struct {
	o      Operands
	before []byte // In as it has to remain
	want   []byte // the beginning of Out
	room   []byte // around Out
}

func drawData(rng *rand.Rand, name uint64, size int) *modelData {
	d := &modelData{call: coll.Barrier + coll.Call(rng.IntN(int(coll.Exscan))), name: name, size: size, root: rng.IntN(size),
		count: rng.IntN(4), elem: 1 + rng.IntN(9), inPlace: rng.IntN(4) == 0, kept: rng.IntN(2) == 0}
	if rng.IntN(3) == 0 {
		d.count = rng.IntN(40)
	}
	if d.ordered = rng.IntN(2) == 0; d.ordered {
		d.elem = 8
	} else {
		d.commutes = rng.IntN(2) == 0
	}
	d.inPlace = d.inPlace && d.call != coll.Bcast && d.call != coll.Barrier
	d.kept = d.kept && !d.varies()
	return d
}

func (d *modelData) String() string {
	return fmt.Sprintf("%v of %d ranks, root %d, count %d of %d bytes, in place %t, ordered %t, kept %t", d.call, d.size, d.root, d.count, d.elem, d.inPlace, d.ordered, d.kept)
}

// varies reports whether blocks have lengths of their own.
func (d *modelData) varies() bool {
	return d.call == coll.Gatherv || d.call == coll.Scatterv || d.call == coll.Allgatherv || d.call == coll.Alltoallv
}

// rooted reports whether one rank has the only input, or the only result.
func (d *modelData) rooted() bool {
	switch d.call {
	case coll.Bcast, coll.Gather, coll.Gatherv, coll.Scatter, coll.Scatterv, coll.Reduce:
		return true
	}
	return false
}

// length is that of the block of rank i, or of one from rank i to rank j.
func (d *modelData) length(i, j int) int {
	switch {
	case !d.varies():
		return d.count
	case d.inPlace:
		return (i*j + 5*i + 5*j) % (d.count + 1) // from j to i too
	}
	return (5*i + 3*j) % (d.count + 1)
}

// layout places blocks: side by side, or, in a v-form, backwards and with gaps.
func (d *modelData) layout(counts []int) (displs []int, end int) {
	displs = make([]int, len(counts))
	for k := range counts {
		i := k
		if d.varies() {
			i = len(counts) - 1 - k
			end += 1 + k%2
		}
		displs[i] = end
		end += counts[i]
	}
	return displs, end
}

// element is an element of what a rank gives.
func (d *modelData) element(rank, at int) []byte {
	x := d.name*0x9e3779b97f4a7c15 + uint64(rank)<<32 + uint64(at) + 1
	b := make([]byte, 16)
	for i := range 2 {
		x ^= x >> 30
		x *= 0xbf58476d1ce4e5b9
		x ^= x >> 27
		x *= 0x94d049bb133111eb
		binary.LittleEndian.PutUint64(b[8*i:], x)
	}
	return b[:d.elem]
}

// vector is n elements of a rank's, from its element at on.
func (d *modelData) vector(rank, at, n int) (b []byte) {
	for i := range n {
		b = append(b, d.element(rank, at+i)...)
	}
	return b
}

// fold is the reduction of n elements of the ranks [lo,hi), from element at on.
func (d *modelData) fold(lo, hi, at, n int) []byte {
	sum := d.vector(lo, at, n)
	for r := lo + 1; r < hi; r++ {
		d.combine(sum, d.vector(r, at, n), sum)
	}
	return sum
}

// combine composes the functions x → ax+b modulo 2³², which shows the order of
// operands, or adds bytes.
func (d *modelData) combine(lower, upper, to []byte) {
	if !d.ordered {
		for i := range to {
			to[i] = lower[i] + upper[i]
		}
		return
	}
	le := binary.LittleEndian
	for i := 0; i < len(to); i += 8 {
		a, b := le.Uint32(lower[i:]), le.Uint32(lower[i+4:])
		c, e := le.Uint32(upper[i:]), le.Uint32(upper[i+4:])
		a, c = a|1, c|1 // none forgets what it is applied to
		le.PutUint32(to[i:], a*c)
		le.PutUint32(to[i+4:], c*b+e)
	}
}

// prepare gives a rank its arguments and memory.
func (d *modelData) prepare(rank int) (s coll.Shape, b *modelBuffers) {
	if d.first > 0 {
		return d.between(rank)
	}
	s = coll.Shape{Rank: rank, Size: d.size, Root: d.root, Count: d.count, Bytes: d.elem, Commutes: d.commutes, InPlace: d.inPlace && (!d.rooted() || rank == d.root)}
	root := rank == d.root
	var in, want []byte // what the rank gives, and gets
	size := -1          // of Out in bytes, that of want unless set
	mine := 0           // where in Out the input in place is, in bytes
	switch d.call {
	case coll.Bcast:
		if root {
			in = d.vector(rank, 0, d.count)
		} else {
			want = d.vector(d.root, 0, d.count)
		}
	case coll.Reduce, coll.Allreduce:
		in = d.vector(rank, 0, d.count)
		if root || d.call == coll.Allreduce {
			want = d.fold(0, d.size, 0, d.count)
		}
	case coll.Scan:
		in, want = d.vector(rank, 0, d.count), d.fold(0, rank+1, 0, d.count)
	case coll.Exscan:
		in, size = d.vector(rank, 0, d.count), d.count*d.elem
		if rank > 0 {
			want = d.fold(0, rank, 0, d.count)
		} else if s.InPlace {
			want = slices.Clone(in)
		} else {
			want = bytes.Repeat([]byte{modelBlank}, size)
		}
	case coll.ReduceScatterBlock:
		in, want = d.vector(rank, 0, d.count*d.size), d.fold(0, d.size, rank*d.count, d.count)
		if s.InPlace {
			size = len(in)
		}
	case coll.Gather, coll.Gatherv, coll.Allgather, coll.Allgatherv:
		s.Count = d.length(rank, 0)
		in = d.vector(rank, 0, s.Count)
		if d.rooted() && !root {
			break
		}
		counts := make([]int, d.size)
		for i := range counts {
			counts[i] = d.length(i, 0)
		}
		displs, end := d.layout(counts)
		want, mine = bytes.Repeat([]byte{modelBlank}, end*d.elem), displs[rank]*d.elem
		for i, at := range displs {
			copy(want[at*d.elem:], d.vector(i, 0, counts[i]))
		}
		if d.varies() {
			s.Counts, s.Displs = counts, displs
		}
	case coll.Scatter, coll.Scatterv:
		counts := make([]int, d.size)
		for i := range counts {
			counts[i] = d.length(i, 0)
		}
		displs, end := d.layout(counts)
		s.Count = counts[rank]
		if !s.InPlace {
			want = d.vector(d.root, displs[rank], s.Count)
		}
		if root {
			in = d.vector(rank, 0, end)
			if d.varies() {
				s.Counts, s.Displs = counts, displs
			}
		}
	case coll.Alltoall, coll.Alltoallv:
		in, want = d.exchange(rank, &s)
	}
	return s, d.memory(s.InPlace && d.call != coll.Scatter && d.call != coll.Scatterv, in, want, size, mine)
}

// exchange is prepare for an Alltoall.
func (d *modelData) exchange(rank int, s *coll.Shape) (in, want []byte) {
	leave, arrive, theirs := make([]int, d.size), make([]int, d.size), make([]int, d.size)
	for i := range leave {
		leave[i], arrive[i] = d.length(rank, i), d.length(i, rank)
	}
	from, end := d.layout(leave)
	to, top := d.layout(arrive)
	in, want = d.vector(rank, 0, end), bytes.Repeat([]byte{modelBlank}, top*d.elem)
	if s.InPlace {
		copy(want, in) // the gaps
	}
	for i, at := range to {
		for k := range theirs {
			theirs[k] = d.length(i, k)
		}
		displs, _ := d.layout(theirs)
		copy(want[at*d.elem:], d.vector(i, displs[rank], arrive[i]))
	}
	if d.varies() {
		s.Counts, s.Displs, s.RecvCounts, s.RecvDispls = leave, from, arrive, to
	}
	return in, want
}

// modelBlank is what memory holds before a call.
const modelBlank = 0xb1

// modelMargin is so much memory on either side of Out.
const modelMargin = 16

// memory makes the buffers of a call.
func (d *modelData) memory(inPlace bool, in, want []byte, size, mine int) *modelBuffers {
	if size < 0 {
		size = len(want)
	}
	b := &modelBuffers{want: want, room: bytes.Repeat([]byte{modelBlank}, size+2*modelMargin)}
	b.o = Operands{Out: b.room[modelMargin : modelMargin+size : modelMargin+size], Elem: d.elem, Combine: d.combine}
	if inPlace && size > 0 {
		copy(b.o.Out[mine:], in)
	} else {
		b.o.In, b.before = in, slices.Clone(in)
	}
	return b
}

// check says what is wrong with what a call has left. If it has failed only memory
// that is not the call's is looked at.
func (b *modelBuffers) check(failed bool) error {
	n := len(b.room) - modelMargin
	blank := bytes.Repeat([]byte{modelBlank}, modelMargin)
	switch {
	case !bytes.Equal(b.o.In, b.before):
		return fmt.Errorf("the input has been written")
	case !bytes.Equal(b.room[:modelMargin], blank), !bytes.Equal(b.room[n:], blank):
		return fmt.Errorf("memory beside the result has been written")
	case !failed && !bytes.Equal(b.o.Out[:len(b.want)], b.want):
		return fmt.Errorf("the result is %x, want %x", b.o.Out[:len(b.want)], b.want)
	}
	return nil
}

// plan is a rank's plan of the call.
func (d *modelData) plan(c *Comm, s *coll.Shape) *coll.Plan {
	if d.kept {
		return c.Plan(&PlanKey{Call: d.call, Commutes: d.commutes, InPlace: s.InPlace, Elem: d.elem, Root: s.Root, Count: s.Count, RecvCount: s.RecvCount})
	}
	p := coll.Make(d.call, s)
	return &p
}
