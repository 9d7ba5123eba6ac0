package datatype

import (
	"fmt"
	"slices"
)

// Combiner is how a type has been made.
type Combiner uint8

// The combiners of MPI-4.0 §5.1.13, with the values of MPI-5's ABI.
const (
	CombinerNamed Combiner = iota + 101
	CombinerDup
	CombinerContiguous
	CombinerVector
	CombinerHVector
	CombinerIndexed
	CombinerHIndexed
	CombinerIndexedBlock
	CombinerHIndexedBlock
	CombinerStruct
	CombinerSubarray
	CombinerDarray

	CombinerResized Combiner = 116
	// CombinerDecoded is of a type that has come from another rank, whose contents
	// are not known.
	CombinerDecoded Combiner = 1
)

var combinerNames = map[Combiner]string{CombinerNamed: "named", CombinerDup: "dup", CombinerContiguous: "contiguous", CombinerVector: "vector",
	CombinerHVector: "hvector", CombinerIndexed: "indexed", CombinerHIndexed: "hindexed", CombinerIndexedBlock: "indexed_block",
	CombinerHIndexedBlock: "hindexed_block", CombinerStruct: "struct", CombinerSubarray: "subarray", CombinerDarray: "darray",
	CombinerResized: "resized", CombinerDecoded: "decoded"}

func (c Combiner) String() string {
	if name, ok := combinerNames[c]; ok {
		return name
	}
	return fmt.Sprintf("Combiner(%d)", uint8(c))
}

// args is what a constructor was given.
type args struct {
	combiner Combiner
	ints     []int
	addrs    []int
	types    []*Type
}

// Envelope returns how the type has been made, and how many integers, displacements
// in bytes and types Contents returns (MPI_Type_get_envelope, MPI-4.0 §5.1.13).
func (t *Type) Envelope() (c Combiner, ints, addrs, types int) {
	return t.from.combiner, len(t.from.ints), len(t.from.addrs), len(t.from.types)
}

// Contents returns the arguments of the call that has made the type, in MPI's order
// (MPI_Type_get_contents, MPI-4.0 §5.1.13). The slices are the caller's. Numbers
// that are displacements or extents in bytes are in addrs, all others in ints:
//
//	contiguous      count
//	vector          count, blocklen, stride
//	hvector         count, blocklen; addrs: stride
//	indexed         count, lens, disps
//	hindexed        count, lens; addrs: disps
//	indexed_block   count, blocklen, disps
//	hindexed_block  count, blocklen; addrs: disps
//	struct          count, lens; addrs: disps; types
//	subarray        dimensions, sizes, subsizes, starts, order
//	darray          size, rank, dimensions, gsizes, distribs, dargs, psizes, order
//	resized         addrs: lb, extent
//	dup, named      nothing but the type of dup
func (t *Type) Contents() (c Combiner, ints, addrs []int, types []*Type) {
	return t.from.combiner, slices.Clone(t.from.ints), slices.Clone(t.from.addrs), slices.Clone(t.from.types)
}

// String is the type's combiner, size and extent.
func (t *Type) String() string {
	switch {
	case t == nil:
		return "no type"
	case t.from.combiner == CombinerNamed:
		return t.sole.String()
	}
	lb, extent := t.Extent()
	return fmt.Sprintf("%v of %d bytes, lb %d, extent %d", t.from.combiner, t.Size(), lb, extent)
}
