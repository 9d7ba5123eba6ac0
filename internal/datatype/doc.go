// Package datatype has the derived datatypes of MPI (MPI-4.0 chapter 5): where the
// elements of a message lie in memory, in which order they are sent, and cursors
// that carry their bytes between such memory and a stream.
//
// A [Type] is a typemap, a list of pairs of a basic kind and a displacement. It
// never changes and is safe for concurrent use. The predefined ones are [Of] a
// [Kind]; the constructors make types of types, with MPI's arguments in MPI's
// order:
//
//	Contiguous, Vector, HVector, Indexed, HIndexed, IndexedBlock, HIndexedBlock,
//	Struct, Subarray, Darray, Resized, Dup
//
// [TypeOf] makes the type of a Go struct by reflection. Displacements of types
// whose names begin with H, and those of Struct, are bytes; the others are extents
// of the old type. A constructor checks all of its arguments: its error is an
// [*ArgError] with the name and the position of the first bad one. A type whose
// size, bounds or displacements do not fit in an int is refused, so later
// arithmetic needs no checks.
//
// # From the typemap to copies
//
// A constructor keeps its arguments, for [Type.Contents], and adds to a tree of
// nodes: runs of one kind, repetitions at a stride, lists. The tree takes memory in
// proportion to the arguments, and types that are used twice share their part of it.
// [Type.Commit] forgets the kinds: it merges neighbouring blocks and recognises
// contiguous, strided and indexed memory, for which there are copy loops by block
// length. Merging keeps the order of bytes, which is that of the typemap.
//
// A [Cursor] is a position in count elements of a type. It stops after any byte and
// goes on from there, and [Cursor.Seek] takes it to any byte of the packed stream.
// Pack and Unpack copy; Next and Runs give the contiguous pieces of memory to
// someone who copies by other means.
//
// Memory is a slice and an origin in it, the place of displacement 0. All accesses
// are bounded once, when a cursor is set to them.
//
// One set of kernels packs and unpacks: both are copies from one stride to another
// (kernels_unsafe.go). The loop is chosen by the length of a block, once for many. From
// a cache line on it is in assembly on amd64, but for builds with -race (lines_amd64.s),
// and asks for the lines of the blocks to come.
//
// # Bounds and overlap
//
// Markers, set by Resized, Subarray and Darray, count alone wherever there are any;
// without one the upper bound is rounded up to the largest alignment, for every
// constructor (bounds.go; MPI-4.0 §5.1.7). Whether elements of a receive type overlap is
// decided by strides; if that is not enough, up to 2²⁰ contiguous pieces are sorted, and
// beyond that it is not known (overlap.go).
//
// # Formats
//
// Packed bytes are the elements in the order of the typemap, without gaps, in the
// machine's representation, and without a header: [Type.PackSize] is exact. The
// external32 representation (MPI-4.0 §14.5.2) has the same size, because each kind
// of Go's has the length of the table there; it is big-endian.
//
// [Type.Encode] gives the tree in a compact form, kinds included, which another
// rank decodes with [Decode].
//
// The tests compare with MPI's definition, a list of kinds and displacements, for random
// types; testdata/pack.c asks each installed C MPI the same.
package datatype
