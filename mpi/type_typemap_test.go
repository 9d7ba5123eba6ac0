package mpi_test

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/mpi"
)

// element is an entry of MPI's definition of a datatype, a list (MPI-4.0 §5.1): a basic
// element at a displacement, or a marker of a bound.
type element struct {
	size int // one of the markers below, or bytes
	disp int
}

const (
	lowerMark = -1
	upperMark = -2
)

// typemap is the list: the model of a datatype.
type typemap []element

// basics are the predefined types of the model with their sizes, which are their
// alignments.
var basics = []struct {
	t    *mpi.Datatype
	size int
}{{mpi.TypeInt8, 1}, {mpi.TypeInt16, 2}, {mpi.TypeUint32, 4}, {mpi.TypeFloat64, 8}, {mpi.TypeByte, 1}}

func (m typemap) at(disp int) typemap {
	r := slices.Clone(m)
	for i := range r {
		r[i].disp += disp
	}
	return r
}

// block is n copies, one extent apart, the first at a displacement.
func (m typemap) block(n, disp int) (r typemap) {
	lb, ub := m.bounds()
	for i := range n {
		r = append(r, m.at(disp+i*(ub-lb))...)
	}
	return r
}

func (m typemap) extent() int {
	lb, ub := m.bounds()
	return ub - lb
}

// data is the list without markers.
func (m typemap) data() typemap {
	return slices.DeleteFunc(slices.Clone(m), func(e element) bool { return e.size < 0 })
}

// span is what the data touches.
func (m typemap) span() (lo, hi int) {
	for i, e := range m.data() {
		if i == 0 {
			lo, hi = e.disp, e.disp+e.size
		}
		lo, hi = min(lo, e.disp), max(hi, e.disp+e.size)
	}
	return lo, hi
}

// bounds is the definition of MPI-4.0 §5.1.7.
func (m typemap) bounds() (lb, ub int) {
	lb, ub = m.span()
	lower, upper, align := math.MaxInt, math.MinInt, 1
	for _, e := range m {
		switch e.size {
		case lowerMark:
			lower = min(lower, e.disp)
		case upperMark:
			upper = max(upper, e.disp)
		default:
			align = max(align, e.size)
		}
	}
	if lower != math.MaxInt {
		lb = lower
	}
	if upper != math.MinInt {
		return lb, upper
	}
	for (ub-lb)%align != 0 {
		ub++
	}
	return lb, ub
}

// within is the list with the bounds of an array's extent in the place of other markers.
func (m typemap) within(lb, ub int) typemap {
	return append(append(typemap{{lowerMark, lb}}, m.data()...), element{upperMark, ub})
}

// drawnType is a random datatype and its list.
type drawnType struct {
	t *mpi.Datatype
	m typemap
}

// mostElements bounds the list of a random type.
const mostElements = 200

// drawType draws a type of at most depth constructors above each predefined one.
func drawType(rt *rapid.T, depth int) drawnType {
	if depth == 0 || rapid.IntRange(0, 5).Draw(rt, "basic") == 0 {
		b := rapid.SampledFrom(basics).Draw(rt, "kind")
		return drawnType{b.t, typemap{{b.size, 0}}}
	}
	old := drawType(rt, depth-1)
	d := drawConstructed(rt, depth, old)
	if len(d.m) > mostElements {
		return old
	}
	return d
}

func drawConstructed(rt *rapid.T, depth int, old drawnType) (d drawnType) {
	const bytes = 60
	extent := old.m.extent()
	n := rapid.IntRange(0, 4).Draw(rt, "count")
	blocklen := rapid.IntRange(0, 3).Draw(rt, "blocklen")
	lens, disps := make([]int, n), make([]int, n)
	fill := func(blocklen func() int, most int) {
		for i := range n {
			lens[i], disps[i] = blocklen(), rapid.IntRange(-most, most).Draw(rt, "disp")
		}
	}
	same := func() int { return blocklen }
	some := func() int { return rapid.IntRange(0, 3).Draw(rt, "len") }
	blocks := func(unit int) (m typemap) {
		for i := range n {
			m = append(m, old.m.block(lens[i], disps[i]*unit)...)
		}
		return m
	}
	var err error
	switch rapid.IntRange(0, 11).Draw(rt, "constructor") {
	case 0:
		d.m = old.m.block(n, 0)
		d.t, err = mpi.TypeContiguous(n, old.t)
	case 1, 2:
		stride, unit, build := rapid.IntRange(-5, 5).Draw(rt, "stride"), extent, mpi.TypeVector
		if rapid.Bool().Draw(rt, "in bytes") {
			stride, unit, build = rapid.IntRange(-bytes, bytes).Draw(rt, "stride"), 1, mpi.TypeHvector
		}
		for i := range n {
			d.m = append(d.m, old.m.block(blocklen, i*stride*unit)...)
		}
		d.t, err = build(n, blocklen, stride, old.t)
	case 3:
		fill(some, 6)
		d.m = blocks(extent)
		d.t, err = mpi.TypeIndexed(lens, disps, old.t)
	case 4:
		fill(some, bytes)
		d.m = blocks(1)
		d.t, err = mpi.TypeHindexed(lens, disps, old.t)
	case 5:
		fill(same, 6)
		d.m = blocks(extent)
		d.t, err = mpi.TypeIndexedBlock(blocklen, disps, old.t)
	case 6:
		fill(same, bytes)
		d.m = blocks(1)
		d.t, err = mpi.TypeHindexedBlock(blocklen, disps, old.t)
	case 7:
		fill(some, bytes)
		types := make([]*mpi.Datatype, n)
		for i := range types {
			field := drawType(rt, depth-1)
			types[i], d.m = field.t, append(d.m, field.m.block(lens[i], disps[i])...)
		}
		d.t, err = mpi.TypeStruct(lens, disps, types)
	case 8, 9:
		return drawArrayType(rt, old, extent)
	case 10:
		lb, size := rapid.IntRange(-bytes, bytes).Draw(rt, "lb"), rapid.IntRange(-bytes, bytes).Draw(rt, "extent")
		d.m = old.m.within(lb, lb+size)
		d.t, err = mpi.TypeResized(old.t, lb, size)
	default:
		d.m = old.m
		d.t, err = old.t.Dup()
	}
	if err != nil {
		rt.Fatal(err)
	}
	return d
}

// drawArrayType draws a part of an array. The model visits all elements of the array and
// asks of each whether it belongs to the part.
func drawArrayType(rt *rapid.T, old drawnType, extent int) (d drawnType) {
	dims := rapid.IntRange(1, 3).Draw(rt, "dimensions")
	order := rapid.SampledFrom([]mpi.Order{mpi.OrderC, mpi.OrderFortran}).Draw(rt, "order")
	draw := func(lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, "number") }
	sizes, total := make([]int, dims), 1
	for i := range sizes {
		sizes[i] = draw(1, 4)
		total *= sizes[i]
	}
	subsizes, starts := make([]int, dims), make([]int, dims)
	dists, dargs, psizes := make([]mpi.Dist, dims), make([]int, dims), make([]int, dims)
	processes := 1
	for i, s := range sizes {
		subsizes[i] = draw(1, s)
		starts[i] = draw(0, s-subsizes[i])
		dists[i] = rapid.SampledFrom([]mpi.Dist{mpi.DistributeNone, mpi.DistributeBlock, mpi.DistributeCyclic}).Draw(rt, "dist")
		psizes[i], dargs[i] = draw(1, 3), draw(1, 3)
		switch dists[i] {
		case mpi.DistributeNone:
			psizes[i], dargs[i] = 1, s
		case mpi.DistributeBlock:
			dargs[i] = (s + psizes[i] - 1) / psizes[i]
		}
		processes *= psizes[i]
	}
	rank := draw(0, processes-1)
	in := func(at []int) bool { // of the subarray
		for i, a := range at {
			if a < starts[i] || a >= starts[i]+subsizes[i] {
				return false
			}
		}
		return true
	}
	var err error
	if rapid.Bool().Draw(rt, "distributed") {
		in = func(at []int) bool {
			owner := 0
			for i, a := range at {
				owner = owner*psizes[i] + a/dargs[i]%psizes[i]
			}
			return owner == rank
		}
		given := slices.Clone(dargs)
		for i := range given {
			if dists[i] == mpi.DistributeBlock || dists[i] == mpi.DistributeCyclic && dargs[i] == 1 {
				given[i] = rapid.SampledFrom([]int{dargs[i], mpi.DistributeDfltDarg}).Draw(rt, "darg")
			}
		}
		d.t, err = mpi.TypeDarray(processes, rank, sizes, dists, given, psizes, order, old.t)
	} else {
		d.t, err = mpi.TypeSubarray(sizes, subsizes, starts, order, old.t)
	}
	if err != nil {
		rt.Fatal(err)
	}
	at := make([]int, dims)
	for n := range total {
		rest := n
		for i := range dims {
			dim := i
			if order == mpi.OrderC {
				dim = dims - 1 - i
			}
			at[dim], rest = rest%sizes[dim], rest/sizes[dim]
		}
		if in(at) {
			d.m = append(d.m, old.m.at(n*extent)...)
		}
	}
	d.m = d.m.within(0, total*extent)
	return d
}
