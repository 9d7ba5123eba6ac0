package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Size is how many bytes of data one element has, which are sent (MPI_Type_size,
// MPI-4.0 §5.1.5), or Undefined if d is nil. Local.
func (d *Datatype) Size() int {
	if d == nil || d.t == nil {
		return Undefined
	}
	return d.t.Size()
}

// Extent returns the lower bound of the type, and the distance between two elements that
// follow one another, in bytes (MPI_Type_get_extent, MPI-4.0 §5.1.7). Those of nil are
// Undefined. Local.
func (d *Datatype) Extent() (lb, extent int) {
	if d == nil || d.t == nil {
		return Undefined, Undefined
	}
	return d.t.Extent()
}

// TrueExtent returns the displacement of the first byte of an element's data, and the
// distance to the end of the last one, in bytes, whatever the type's bounds are
// (MPI_Type_get_true_extent, MPI-4.0 §5.1.8): the memory that one element needs. Those of
// nil are Undefined. Local.
func (d *Datatype) TrueExtent() (lb, extent int) {
	if d == nil || d.t == nil {
		return Undefined, Undefined
	}
	return d.t.TrueExtent()
}

// Combiner is how a type has been made. The values are those of MPI-5's ABI.
type Combiner uint8

// The combiners (MPI-4.0 §5.1.13) of the predefined types, and of what Dup and the
// constructors return. Those of TypeOf, and of views, are of the constructors that they
// amount to.
const (
	CombinerNamed         Combiner = iota + 101 // MPI_COMBINER_NAMED
	CombinerDup                                 // MPI_COMBINER_DUP
	CombinerContiguous                          // MPI_COMBINER_CONTIGUOUS
	CombinerVector                              // MPI_COMBINER_VECTOR
	CombinerHvector                             // MPI_COMBINER_HVECTOR
	CombinerIndexed                             // MPI_COMBINER_INDEXED
	CombinerHindexed                            // MPI_COMBINER_HINDEXED
	CombinerIndexedBlock                        // MPI_COMBINER_INDEXED_BLOCK
	CombinerHindexedBlock                       // MPI_COMBINER_HINDEXED_BLOCK
	CombinerStruct                              // MPI_COMBINER_STRUCT
	CombinerSubarray                            // MPI_COMBINER_SUBARRAY
	CombinerDarray                              // MPI_COMBINER_DARRAY
	CombinerResized       Combiner = 116        // MPI_COMBINER_RESIZED
)

// String is MPI's word for the combiner, such as "hvector". Local.
func (c Combiner) String() string { return datatype.Combiner(c).String() }

// Envelope returns how the type has been made, and how many integers, addresses and types
// Contents returns (MPI_Type_get_envelope, MPI-4.0 §5.1.13). The Combiner of nil is 0.
// Local.
func (d *Datatype) Envelope() (c Combiner, ints, addrs, types int) {
	if d == nil || d.t == nil {
		return 0, 0, 0, 0
	}
	from, ints, addrs, types := d.t.Envelope()
	return Combiner(from), ints, addrs, types
}

// Contents returns the arguments of the call that has made the type, in MPI's order
// (MPI_Type_get_contents, MPI-4.0 §5.1.13). The slices are the caller's, the types those
// that the call was given. Displacements, strides and bounds in bytes are in addrs, all
// other numbers in ints; a list comes behind its length:
//
//	CombinerNamed          nothing
//	CombinerDup            the type
//	CombinerContiguous     count
//	CombinerVector         count, blocklen, stride
//	CombinerHvector        count, blocklen; addrs: stride
//	CombinerIndexed        length, lens, disps
//	CombinerHindexed       length, lens; addrs: disps
//	CombinerIndexedBlock   length, blocklen, disps
//	CombinerHindexedBlock  length, blocklen; addrs: disps
//	CombinerStruct         length, lens; addrs: disps; types
//	CombinerSubarray       dimensions, sizes, subsizes, starts, order
//	CombinerDarray         size, rank, dimensions, gsizes, distribs, dargs, psizes, order
//	CombinerResized        addrs: lb, extent
//
// The Combiner of nil is 0. Local.
func (d *Datatype) Contents() (c Combiner, ints, addrs []int, types []*Datatype) {
	if d == nil || d.t == nil {
		return 0, nil, nil, nil
	}
	from, ints, addrs, parts := d.t.Contents()
	if d.parts != nil {
		return Combiner(from), ints, addrs, slices.Clone(d.parts)
	}
	for _, t := range parts { // of a Go type
		types = append(types, known(t))
	}
	return Combiner(from), ints, addrs, types
}

// known is the Datatype of a part of a Go type.
func known(t *datatype.Type) *Datatype {
	if c, _, _, _ := t.Envelope(); c == datatype.CombinerNamed {
		k, _ := t.Kind()
		return kinds[k]
	}
	return &Datatype{t: t, shared: true}
}
