package mpi

import (
	"cmp"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
)

// blocks are the places of the blocks of a v-form in a buffer, one for each peer: that
// of rank i has counts[i] elements, from displs[i] on. Where an empty block is does not
// matter.
type blocks struct{ counts, displs []int }

// parties is for whom the blocks of a buffer are: one for each.
type parties struct {
	n    int
	name string // of one of them
}

// everyone are the ranks that blocks go to, or come from.
func (c *Comm) everyone() parties { return parties{c.peers, "rank"} }

// slots are those of a neighborhood.
func slots(n int) parties { return parties{n, "slot"} }

// irregular plans a v-form. The plan has all that it needs of s.
func (x *operation) irregular(c *Comm, call coll.Call, s *coll.Shape) error {
	s.Rank, s.Size, s.Remote, s.Bytes, s.Gaps, s.Near = c.rank, c.size, c.remote, x.o.Elem, x.gaps(), c.core.Near
	p := coll.Make(call, s)
	x.plan = &p
	if c.compares {
		x.compare(c, call, s)
	}
	return nil
}

// blocks checks the counts and displs of a buffer of n elements. They count elements of
// the buffer's type.
func (x *operation) blocks(call, buffer string, n int, counts, displs []int, of parties) (blocks, error) {
	if !x.bufs {
		return of.blocks(call, buffer, n, counts, displs)
	}
	return x.blocksOfBuf(call, buffer, n, counts, displs, of)
}

// blocks checks the counts and displs of a buffer that has room for so many
// elements. displs that are nil stand for blocks one after another.
func (of parties) blocks(call, buffer string, room int, counts, displs []int) (blocks, error) {
	if len(counts) != of.n {
		return blocks{}, badArg(call, ErrArg, "%d counts of %s for %d %ss: there has to be one for each", len(counts), buffer, of.n, of.name)
	}
	packed := displs == nil
	switch {
	case packed:
		displs = make([]int, of.n)
	case len(displs) != of.n:
		return blocks{}, badArg(call, ErrArg, "%d displacements of %s for %d %ss: there has to be one for each, or nil", len(displs), buffer, of.n, of.name)
	}
	next := 0
	for i, n := range counts {
		if packed {
			displs[i] = next
		}
		at := displs[i]
		switch {
		case n < 0:
			return blocks{}, badArg(call, ErrCount, "the count of %s %d's block of %s is %d", of.name, i, buffer, n)
		case n == 0:
		case at < 0 || at > room || n > room-at:
			return blocks{}, badArg(call, ErrBuffer, "%s %d's block of %d elements from element %d on is not in %s, which has %d", of.name, i, n, at, buffer, room)
		}
		next = at + n
	}
	return blocks{counts, displs}, nil
}

// receives checks the blocks of a recv, which do not overlap.
func (x *operation) receives(call string, counts, displs []int, of parties) (blocks, error) {
	if x.instead {
		return blocks{}, badArg(call, ErrBuffer, "InPlace as recv: the result needs a buffer")
	}
	to, err := x.blocks(call, "recv", x.recvs, counts, displs, of)
	if err != nil || to.ascend() {
		return to, err
	}
	byPlace := to.order()
	for k, i := range byPlace[1:] {
		if j := byPlace[k]; to.displs[j]+to.counts[j] > to.displs[i] {
			return to, badArg(call, ErrBuffer, "the blocks of %ss %d and %d overlap in recv", of.name, min(i, j), max(i, j))
		}
	}
	return to, nil
}

// ascend reports whether the blocks come one behind another in the order of ranks.
func (b blocks) ascend() bool {
	end := 0
	for i, n := range b.counts {
		if n > 0 {
			if b.displs[i] < end {
				return false
			}
			end = b.displs[i] + n
		}
	}
	return true
}

// order lists the blocks that are not empty by their places. There is at least one.
func (b blocks) order() []int {
	var all []int
	for i, n := range b.counts {
		if n > 0 {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(i, j int) int { return cmp.Compare(b.displs[i], b.displs[j]) })
	return all
}

// span is the memory from an address on, and up to another one.
type span struct{ from, to uintptr }

func spanOf(b []byte) span { return span{addressOf(b), addressOf(b) + uintptr(len(b))} }

// spans is the memory of the blocks of a buffer that are not empty, by its
// addresses.
func (b blocks) spans(buffer []byte, elem int) []span {
	all := make([]span, 0, len(b.counts))
	for i, n := range b.counts {
		if n > 0 {
			from := addressOf(buffer) + uintptr(b.displs[i]*elem)
			all = append(all, span{from, from + uintptr(n*elem)})
		}
	}
	if !b.ascend() {
		slices.SortFunc(all, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	}
	return all
}

// one is a single block, at the beginning.
func one(n int) blocks { return blocks{[]int{n}, []int{0}} }

// meet reports whether blocks of send and of recv have memory in common.
func (x *operation) meet(from, to blocks) bool {
	if x.o.Gaps != nil {
		return x.meetWithGaps(from, to)
	}
	return overlap(x.o.In, x.o.Out) && meet(from.spans(x.o.In, x.o.Elem), to.spans(x.o.Out, x.o.Elem))
}

// meet reports whether a span of a and one of b have memory in common. Those of b
// are in order and do not overlap.
func meet(a, b []span) bool {
	for _, x := range a {
		// The first of b that ends behind x's beginning.
		i, _ := slices.BinarySearchFunc(b, x.from, func(y span, from uintptr) int {
			if y.to <= from {
				return -1
			}
			return 1
		})
		if i < len(b) && x.from < x.to && b[i].from < x.to {
			return true
		}
	}
	return false
}
