package capi

import (
	"math"

	"github.com/weft-mpi/weft/mpi"
)

// The constructors of datatypes (MPI-5.0 §5.1).

func typeContiguous(a *Args) error {
	old, t := a.part(1)
	made, err := mpi.TypeContiguous(a.count(0), t)
	return a.setMade(2, made, err, old)
}

func typeVector(a *Args) error {
	old, t := a.part(3)
	made, err := mpi.TypeVector(a.count(0), a.count(1), a.count(2), t)
	return a.setMade(4, made, err, old)
}

func typeCreateHvector(a *Args) error {
	old, t := a.part(3)
	made, err := mpi.TypeHvector(a.count(0), a.count(1), a.count(2), t)
	return a.setMade(4, made, err, old)
}

func typeIndexed(a *Args) error {
	n := a.count(0)
	if err := a.lists(mpi.ErrCount, n, 1, 2); err != nil {
		return err
	}
	old, t := a.part(3)
	made, err := mpi.TypeIndexed(a.counts(1, n), a.counts(2, n), t)
	return a.setMade(4, made, err, old)
}

func typeCreateHindexed(a *Args) error {
	n := a.count(0)
	if err := a.lists(mpi.ErrCount, n, 1, 2); err != nil {
		return err
	}
	old, t := a.part(3)
	made, err := mpi.TypeHindexed(a.counts(1, n), a.aints(2, n), t)
	return a.setMade(4, made, err, old)
}

func typeCreateIndexedBlock(a *Args) error {
	n := a.count(0)
	if err := a.lists(mpi.ErrCount, n, 2); err != nil {
		return err
	}
	old, t := a.part(3)
	made, err := mpi.TypeIndexedBlock(a.count(1), a.counts(2, n), t)
	return a.setMade(4, made, err, old)
}

func typeCreateHindexedBlock(a *Args) error {
	n := a.count(0)
	if err := a.lists(mpi.ErrCount, n, 2); err != nil {
		return err
	}
	old, t := a.part(3)
	made, err := mpi.TypeHindexedBlock(a.count(1), a.aints(2, n), t)
	return a.setMade(4, made, err, old)
}

func typeCreateStruct(a *Args) error {
	n := a.count(0)
	if err := a.lists(mpi.ErrCount, n, 1, 2, 3); err != nil {
		return err
	}
	parts, olds := make([]*layout, n), make([]*mpi.Datatype, n)
	for i, h := range array[uint64](a, 3, n) {
		parts[i], olds[i] = partOf(h)
	}
	made, err := mpi.TypeStruct(a.counts(1, n), a.aints(2, n), olds)
	return a.setMade(4, made, err, parts...)
}

func typeCreateSubarray(a *Args) error {
	n := a.int(0)
	if err := a.lists(mpi.ErrArg, n, 1, 2, 3); err != nil {
		return err
	}
	old, t := a.part(5)
	made, err := mpi.TypeSubarray(a.counts(1, n), a.counts(2, n), a.counts(3, n), mpi.Order(a.int(4)), t)
	return a.setMade(6, made, err, old)
}

// defaultDarg is MPI_DISTRIBUTE_DFLT_DARG. Package mpi has another number for it, which is
// no length of a block.
const defaultDarg = 19

func typeCreateDarray(a *Args) error {
	n := a.int(2)
	if err := a.lists(mpi.ErrArg, n, 3, 4, 5, 6); err != nil {
		return err
	}
	dists, dargs := make([]mpi.Dist, n), a.ints(5, n)
	for i, d := range array[int32](a, 4, n) {
		dists[i] = mpi.Dist(d)
		if dargs[i] == defaultDarg {
			dargs[i] = mpi.DistributeDfltDarg
		}
	}
	old, t := a.part(8)
	made, err := mpi.TypeDarray(a.int(0), a.int(1), a.counts(3, n), dists, dargs, a.ints(6, n), mpi.Order(a.int(7)), t)
	return a.setMade(9, made, err, old)
}

func typeCreateResized(a *Args) error {
	old, t := a.part(0)
	made, err := mpi.TypeResized(t, a.count(1), a.count(2))
	return a.setMade(3, made, err, old)
}

func typeDup(a *Args) error {
	old, t := a.part(0)
	made, err := t.Dup()
	return a.setMade(1, made, err, old)
}

// setMade gives what a constructor has made of parts a handle, which argument i points to.
func (a *Args) setMade(i int, made *mpi.Datatype, err error, parts ...*layout) error {
	if err != nil {
		return err
	}
	l := &layout{from: made, parts: parts, large: a.large != 0}
	c, _, _, _ := made.Envelope()
	if c == mpi.CombinerStruct {
		_, ints, _, _ := made.Contents()
		l.lens = ints[1:]
	}
	l.marked = c == mpi.CombinerResized || c == mpi.CombinerSubarray || c == mpi.CombinerDarray
	for _, p := range parts {
		l.raw, l.marked = l.raw || p.raw, l.marked || p.marked
	}
	if l.raw && !l.marked && c == mpi.CombinerStruct {
		if made, err = l.aligned(); err != nil {
			return err
		}
	}
	l.lie(made)
	if l.raw {
		l.countBasics()
	}
	l.setExternal()
	return a.setDatatype(i, l)
}

// rawAlign is the alignment of all basic elements that are raw bytes for package mpi: of a
// long double, say. Package mpi does not know it.
const rawAlign = 16

// aligned is a struct with raw elements and the bounds that it has with their alignment.
// Those of its parts are no markers, though package mpi may have them as such.
func (l *layout) aligned() (*mpi.Datatype, error) {
	_, _, disps, _ := l.from.Contents()
	lb, ub := math.MaxInt, math.MinInt
	for i, p := range l.parts {
		if n := l.lens[i]; n > 0 {
			from, extent := p.t.Extent()
			last := (n - 1) * extent
			lb = min(lb, disps[i]+from+min(last, 0))
			ub = max(ub, disps[i]+from+extent+max(last, 0))
		}
	}
	if lb > ub {
		return l.from, nil
	}
	return mpi.TypeResized(l.from, lb, (ub-lb+rawAlign-1)/rawAlign*rawAlign)
}

// longest is how many elements the arrays of a constructor may have, which copies them.
const longest = 1 << 30

// lists checks that there are n elements in each of the arrays at some arguments. class is
// that of a wrong n.
func (a *Args) lists(class mpi.Class, n int, at ...int) error {
	if n < 0 || n > longest {
		return fail(class, "arrays of %d elements: there can be 0 to %d", n, longest)
	}
	for _, i := range at {
		if n > 0 && a.pointer(i) == nil {
			return errNull
		}
	}
	return nil
}
