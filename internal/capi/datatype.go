package capi

import (
	"math/bits"
	"sync/atomic"

	"github.com/weft-mpi/weft/mpi"
)

// datatype is what a handle of a type stands for. Several may have one layout, but each
// its own name.
type datatype struct {
	*layout
	name atomic.Pointer[string]
}

// layout is a type, where its elements lie, so that a call need not ask, and how the
// program has made it. It does not change.
type layout struct {
	t      *mpi.Datatype
	lo, hi int // bytes of one element, from its origin on
	extent int
	dense  bool // its elements touch all bytes from their origin on

	predefined *predefinedType // nil for what a constructor has made
	handle     uint32          // of a type that can't be freed; else 0
	from       *mpi.Datatype   // what its constructor has returned: mostly t
	parts      []*layout       // what it was made of
	lens       []int           // of a struct: how many elements of each part there are
	fortran    *fortranType    // how MPI_Type_create_f90_real and its like were called
	large      bool            // by a function with _c
	marked     bool            // its bounds are set, not those of its data

	raw    bool // it has basic elements that are raw bytes for package mpi
	basics int  // how many basic elements it has, if it is raw

	foreign  bool    // external32 has basic elements of it in another form than package mpi
	fields   []field // those of a predefined type
	external int     // bytes in external32

	grounded atomic.Pointer[mpi.Datatype]
}

func newLayout(t *mpi.Datatype) *layout {
	l := &layout{from: t}
	l.lie(t)
	return l
}

// lie sets the type and where its elements lie.
func (l *layout) lie(t *mpi.Datatype) {
	l.t = t
	_, l.extent = t.Extent()
	lb, extent := t.TrueExtent()
	l.lo, l.hi = lb, lb+extent
	l.dense = l.lo == 0 && l.hi == l.extent && l.hi > 0 && l.hi < 1<<20
}

// room is more than any memory has, in bytes.
const room = 1 << 48

// span is the bytes that n elements touch, from the origin of the first one on. They are
// none if these are more than there can be, which package mpi then refuses.
func (l *layout) span(n int) (lo, hi int) {
	switch {
	case n <= 0 || l.lo == l.hi || l.lo < -room || l.hi > room:
		return 0, 0
	case n == 1:
		return l.lo, l.hi
	case l.extent < 0:
		return l.lo - l.distance(n-1), l.hi
	}
	return l.lo, l.hi + l.distance(n-1)
}

// distance is n extents, but at most room, which no memory has.
func (l *layout) distance(n int) int {
	over, bytes := bits.Mul64(uint64(n), uint64(max(l.extent, -l.extent)))
	if over != 0 || bytes > room {
		return room
	}
	return int(bytes)
}

// onGround is the type with all displacements less lo, so that its elements begin at
// displacement 0. Those of a type for MPI_BOTTOM are addresses, and no memory that a Buf
// could have begins at the address 0.
func (l *layout) onGround() *mpi.Datatype {
	if t := l.grounded.Load(); t != nil {
		return t
	}
	if !l.t.Committed() {
		return l.t
	}
	t, err := mpi.TypeHindexedBlock(1, []int{-l.lo}, l.t)
	if err != nil || t.Commit() != nil {
		return l.t
	}
	l.grounded.Store(t)
	return t
}

// describeType writes what is to be known of a type without its object.
func (s *slot) describeType(l *layout) {
	lb, extent := l.t.Extent()
	s.words = [3]int64{int64(l.t.Size()), int64(lb), int64(extent)}
	if l.dense && l.predefined != nil {
		s.ints[1] = int32(l.hi)
	}
}

// setDatatype gives a type a handle, which argument i points to.
func (a *Args) setDatatype(i int, l *layout) error {
	p := a.handleAt(i)
	if p == nil {
		return errNull
	}
	h, err := addDatatype(l)
	if err == nil {
		*p = uint64(h)
	}
	return err
}

func addDatatype(l *layout) (handle uint32, err error) {
	return types.add(&datatype{layout: l}, func(s *slot) { s.describeType(l) })
}

// part is the layout of the type that argument i is, and that type: nil for a handle that
// is none, which the constructors of package mpi refuse.
func (a *Args) part(i int) (*layout, *mpi.Datatype) { return partOf(a.words[i]) }

func partOf(handle uint64) (*layout, *mpi.Datatype) {
	d := types.get(handle)
	if d == nil {
		return nil, nil
	}
	return d.layout, d.t
}
