package capi

import "github.com/weft-mpi/weft/mpi"

// datatype is a type, and where its elements lie, so that a call need not ask.
type datatype struct {
	t      *mpi.Datatype
	lo, hi int // bytes of one element, from its origin on
	extent int
}

func newDatatype(t *mpi.Datatype) *datatype {
	d := &datatype{t: t}
	_, d.extent = t.Extent()
	lb, extent := t.TrueExtent()
	d.lo, d.hi = lb, lb+extent
	return d
}

// span is the bytes that n elements touch, from the origin of the first one on.
func (d *datatype) span(n int) (lo, hi int) {
	last := (n - 1) * d.extent
	if n <= 0 || d.lo == d.hi {
		return 0, 0
	}
	return d.lo + min(last, 0), d.hi + max(last, 0)
}

// describe writes what C knows of a type.
func (s *slot) describeType(t *mpi.Datatype) {
	lb, extent := t.Extent()
	s.words = [3]int64{int64(t.Size()), int64(lb), int64(extent)}
}
