package capi

import (
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// Types of Fortran's kinds, and those that are found by what they are (MPI-5.0 §19.1.9).

// fortranType is a type for a precision and a range, of which there is one for each, that is
// never freed.
type fortranType struct {
	combiner mpi.Combiner
	p, r     int // p is none of MPI_Type_create_f90_integer's
}

// The combiners that package mpi does not have.
const (
	combinerReal    mpi.Combiner = 113
	combinerComplex mpi.Combiner = 114
	combinerInteger mpi.Combiner = 115
)

func (f fortranType) ints() []int {
	if f.combiner == combinerInteger {
		return []int{f.r}
	}
	return []int{f.p, f.r}
}

var fortranTypes struct {
	sync.Mutex
	handles map[fortranType]uint32
}

// kinds of numbers: up to so many digits, and so large an exponent of 10.
type fortranKind struct{ p, r, size int }

var (
	realKinds    = []fortranKind{{6, 37, 4}, {15, 307, 8}, {33, 4931, 16}}
	integerKinds = []fortranKind{{0, 2, 1}, {0, 4, 2}, {0, 9, 4}, {0, 18, 8}, {0, 38, 16}}
)

func typeCreateF90Real(a *Args) error {
	return a.setFortran(2, fortranType{combinerReal, a.int(0), a.int(1)}, realKinds, classReal, 1)
}

func typeCreateF90Complex(a *Args) error {
	return a.setFortran(2, fortranType{combinerComplex, a.int(0), a.int(1)}, realKinds, classComplex, 2)
}

func typeCreateF90Integer(a *Args) error {
	return a.setFortran(1, fortranType{combinerInteger, 0, a.int(0)}, integerKinds, classInteger, 1)
}

// setFortran sets the handle that argument i points to to that of the type of the smallest
// kind that will do, whose values are parts numbers of it.
func (a *Args) setFortran(i int, f fortranType, kinds []fortranKind, class, parts int) error {
	to := a.handleAt(i)
	none := f.p == mpi.Undefined && f.r == mpi.Undefined
	p, r := orUndefined(f.p), orUndefined(f.r)
	for _, k := range kinds {
		if none || p < 0 || r < 0 || p > k.p || r > k.r {
			continue
		}
		l, _ := partOf(uint64(ofSize(class, k.size*parts)))
		h, err := f.handle(l)
		*to = uint64(h)
		return err
	}
	return fail(mpi.ErrArg, "Fortran has no kind with %d digits and exponents up to %d here", f.p, f.r)
}

// orUndefined is a number that may be left out.
func orUndefined(n int) int {
	if n == mpi.Undefined {
		return 0
	}
	return n
}

// handle is the handle of the type, whose elements are those of like.
func (f fortranType) handle(like *layout) (uint32, error) {
	fortranTypes.Lock()
	defer fortranTypes.Unlock()
	if h, made := fortranTypes.handles[f]; made {
		return h, nil
	}
	l := newLayout(like.t)
	l.predefined, l.fortran, l.raw, l.basics = like.predefined, &f, like.raw, like.basics
	l.setExternal()
	h, err := addDatatype(l)
	if err != nil {
		return datatypeNull, err
	}
	l.handle = h
	slotOf(kindDatatype, uint64(h)).ints[0] = 1 // so that MPI_Type_free leaves its attributes
	if fortranTypes.handles == nil {
		fortranTypes.handles = map[fortranType]uint32{}
	}
	fortranTypes.handles[f] = h
	return h, nil
}

// Classes of MPI_Type_match_size.
const (
	classInteger = 192
	classReal    = 193
	classComplex = 194
)

// sized has the types of Fortran that are named by their sizes.
var sized = map[int]map[int]uint32{
	classInteger: {1: 0x2c1, 2: 0x2c9, 4: 0x2d1, 8: 0x2d9, 16: 0x2e1},
	classReal:    {2: 0x2ca, 4: 0x2d2, 8: 0x2da, 16: 0x2e2},
	classComplex: {4: 0x2d3, 8: 0x2db, 16: 0x2e3, 32: 0x2eb},
}

// ofSize is the handle of the type of a class with a size in bytes, or 0 if there is none
// here.
func ofSize(class, size int) uint32 {
	if h := sized[class][size]; types.get(uint64(h)) != nil {
		return h
	}
	return 0
}

func typeMatchSize(a *Args) error {
	h := ofSize(a.int(0), a.int(1))
	if h == 0 {
		return fail(mpi.ErrArg, "there is no type of class %d with %d bytes: the classes are MPI_TYPECLASS_INTEGER, _REAL and _COMPLEX", a.int(0), a.int(1))
	}
	*a.handleAt(2) = uint64(h)
	return nil
}

// pairs has the types of a value and an index, by the handles of these two.
var pairs = map[[2]uint64]uint64{
	{0x210, 0x209}: 0x228, // MPI_FLOAT_INT
	{0x214, 0x209}: 0x229, // MPI_DOUBLE_INT
	{0x20a, 0x209}: 0x22a, // MPI_LONG_INT
	{0x209, 0x209}: 0x22b, // MPI_2INT
	{0x208, 0x209}: 0x22c, // MPI_SHORT_INT
	{0x220, 0x209}: 0x22d, // MPI_LONG_DOUBLE_INT
	{0x21a, 0x21a}: 0x230, // MPI_2REAL
	{0x21c, 0x21c}: 0x231, // MPI_2DOUBLE_PRECISION
	{0x219, 0x219}: 0x232, // MPI_2INTEGER
}

// typeGetValueIndex is MPI_Type_get_value_index: MPI_DATATYPE_NULL for a pair that MPI has no
// type of.
func typeGetValueIndex(a *Args) error {
	pair, ok := pairs[[2]uint64{a.words[0], a.words[1]}]
	if !ok {
		pair = datatypeNull
	}
	*a.handleAt(2) = pair
	return nil
}
