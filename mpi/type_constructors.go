package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/mpi/cause"
)

// The constructors of datatypes (MPI-4.0 §5.1). Each makes a type of others, which it does
// not change, and copies the lists that it is given. The result is to be committed before
// it is used for communication. A length is a number of elements and not negative.
// Displacements and strides count extents of the old type, or bytes where the call says
// so, and may be negative. A type with a number that does not fit in an int is refused.
//
// Their errors have an ArgError, which names the argument: ErrType of one that is no type,
// ErrCount of the count, ErrArg of all others.

// TypeContiguous is count elements of t, one extent apart (MPI_Type_contiguous, MPI-4.0
// §5.1.2). It fails with ErrType for a t that is nil or freed, and ErrCount for a count
// that is negative or too large. Local.
func TypeContiguous(count int, t *Datatype) (*Datatype, error) {
	const call = "TypeContiguous"
	old, err := t.part(call, 2, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.Contiguous(count, old)
	return newType(call, made, err, t)
}

// TypeVector is count blocks of blocklen elements of t. Blocks begin stride extents of t
// apart (MPI_Type_vector, MPI-4.0 §5.1.2). It fails with ErrType for a t that is nil or
// freed, ErrCount for a wrong count, and ErrArg for a wrong blocklen or stride. Local.
func TypeVector(count, blocklen, stride int, t *Datatype) (*Datatype, error) {
	const call = "TypeVector"
	old, err := t.part(call, 4, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.Vector(count, blocklen, stride, old)
	return newType(call, made, err, t)
}

// TypeHvector is TypeVector with the stride in bytes (MPI_Type_create_hvector, MPI-4.0
// §5.1.2). Errors are those of TypeVector. Local.
func TypeHvector(count, blocklen, stride int, t *Datatype) (*Datatype, error) {
	const call = "TypeHvector"
	old, err := t.part(call, 4, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.HVector(count, blocklen, stride, old)
	return newType(call, made, err, t)
}

// TypeIndexed is a list of blocks: lens[i] elements of t, disps[i] extents of t from
// displacement 0 (MPI_Type_indexed, MPI-4.0 §5.1.2). Elements are sent in the order of the
// list. It fails with ErrType for a t that is nil or freed, and ErrArg for lists that
// differ in length or have a wrong number. Local.
func TypeIndexed(lens, disps []int, t *Datatype) (*Datatype, error) {
	const call = "TypeIndexed"
	old, err := t.part(call, 3, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.Indexed(lens, disps, old)
	return newType(call, made, err, t)
}

// TypeHindexed is TypeIndexed with displacements in bytes (MPI_Type_create_hindexed,
// MPI-4.0 §5.1.2). Errors are those of TypeIndexed. Local.
func TypeHindexed(lens, disps []int, t *Datatype) (*Datatype, error) {
	const call = "TypeHindexed"
	old, err := t.part(call, 3, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.HIndexed(lens, disps, old)
	return newType(call, made, err, t)
}

// TypeIndexedBlock is a list of blocks of blocklen elements of t each, disps[i] extents of
// t from displacement 0 (MPI_Type_create_indexed_block, MPI-4.0 §5.1.2). Errors are
// those of TypeIndexed. Local.
func TypeIndexedBlock(blocklen int, disps []int, t *Datatype) (*Datatype, error) {
	const call = "TypeIndexedBlock"
	old, err := t.part(call, 3, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.IndexedBlock(blocklen, disps, old)
	return newType(call, made, err, t)
}

// TypeHindexedBlock is TypeIndexedBlock with displacements in bytes
// (MPI_Type_create_hindexed_block, MPI-4.0 §5.1.2). Errors are those of TypeIndexed.
// Local.
func TypeHindexedBlock(blocklen int, disps []int, t *Datatype) (*Datatype, error) {
	const call = "TypeHindexedBlock"
	old, err := t.part(call, 3, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.HIndexedBlock(blocklen, disps, old)
	return newType(call, made, err, t)
}

// TypeStruct is a list of blocks of several types: lens[i] elements of types[i], disps[i]
// bytes from displacement 0 (MPI_Type_create_struct, MPI-4.0 §5.1.2). For a Go struct
// TypeOf has all of this. Errors are those of TypeIndexed. Local.
func TypeStruct(lens, disps []int, types []*Datatype) (*Datatype, error) {
	const call = "TypeStruct"
	olds := make([]*datatype.Type, len(types))
	for i, t := range types {
		old, err := t.part(call, 3, "types", i)
		if err != nil {
			return nil, err
		}
		olds[i] = old
	}
	made, err := datatype.Struct(lens, disps, olds)
	return newType(call, made, err, types...)
}

// TypeSubarray is a part of an array of sizes elements of t: subsizes elements from starts
// on, in each dimension (MPI_Type_create_subarray, MPI-4.0 §5.1.3). Starts count from 0 for
// either order. Displacement 0 is the array's first element, and the extent that of the
// whole array. Elements are sent in the order in which they lie in memory. It fails
// with ErrType for a t that is nil or freed, and ErrArg for an order that there is not
// and numbers that are no part of an array. Local.
func TypeSubarray(sizes, subsizes, starts []int, order Order, t *Datatype) (*Datatype, error) {
	const call = "TypeSubarray"
	old, err := t.part(call, 5, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.Subarray(sizes, subsizes, starts, datatype.Order(order), old)
	return newType(call, made, err, t)
}

// TypeDarray is what the process rank of size ones has of an array of gsizes elements of
// t that is distributed over a grid of psizes processes (MPI_Type_create_darray, MPI-4.0
// §5.1.4). Each dimension i is dealt out as distribs[i] says, in blocks of dargs[i]
// elements, or of DistributeDfltDarg. Ranks are in row-major order of the grid, for either
// order of the array. Displacement 0 is the array's first element, and the extent that of
// the whole array. A process may have no elements. Errors are those of TypeSubarray.
// Local.
func TypeDarray(size, rank int, gsizes []int, distribs []Dist, dargs, psizes []int, order Order, t *Datatype) (*Datatype, error) {
	const call = "TypeDarray"
	old, err := t.part(call, 8, "t", -1)
	if err != nil {
		return nil, err
	}
	dists := make([]datatype.Dist, len(distribs))
	for i, d := range distribs {
		dists[i] = datatype.Dist(d)
	}
	made, err := datatype.Darray(size, rank, gsizes, dists, dargs, psizes, datatype.Order(order), old)
	return newType(call, made, err, t)
}

// TypeResized is t with another lower bound and extent, in bytes (MPI_Type_create_resized,
// MPI-4.0 §5.1.7): elements that follow one another are extent bytes apart. An extent may
// be less than the data takes, so that elements interlock, and negative. Types that are
// made of the result have their bounds from these. It fails with ErrType for a t that
// is nil or freed, and ErrArg for bounds that are too large. Local.
func TypeResized(t *Datatype, lb, extent int) (*Datatype, error) {
	const call = "TypeResized"
	old, err := t.part(call, 1, "t", -1)
	if err != nil {
		return nil, err
	}
	made, err := datatype.Resized(old, lb, extent)
	return newType(call, made, err, t)
}

// part is d as an argument of a constructor, from which a type is made: the item of the
// argument arg at pos, or with -1 that argument.
func (d *Datatype) part(call string, pos int, arg string, item int) (*datatype.Type, error) {
	if err := d.usable(); err != nil {
		return nil, raiseSelf(typeFailure(call, &cause.ArgError{Call: call, Arg: arg, Pos: pos, Item: item, Err: err}))
	}
	return d.t, nil
}

// newType is what the constructor call returns.
func newType(call string, t *datatype.Type, err error, parts ...*Datatype) (*Datatype, error) {
	if err != nil {
		return nil, raiseSelf(typeFailure(call, err))
	}
	return &Datatype{t: t, parts: slices.Clone(parts)}, nil
}
