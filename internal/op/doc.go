// Package op has the operators of reductions (MPI-4.0 §6.9): MPI's own for every
// element type that they fit, and the user's. Package coll names them in plans,
// package comm applies them, package mpi offers them.
//
// An [Op] knows elements as bytes of a [Kind]. Its [Func] for a kind combines the
// operand of lower ranks with that of upper ranks, element by element.
//
// Accumulate operations on windows (MPI-4.0 §12.3.4) take the predefined operators,
// and [Replace] and [NoOp]: the element in the window is the lower operand, the
// origin's the upper one. [Op.OnWindow] has their Func for many elements; [Int],
// [Float] and [Complex] combine two elements as it does.
//
// The elements of MinLoc and MaxLoc are pairs without padding. An operator of the
// user's on elements that have no kind is [Custom].
//
// # The same result everywhere
//
// All ranks of one Allreduce get the same bits if they evaluate the same
// expression over the same operands, which is the business of plans. An operator
// adds that an element's result depends on its two operands alone: not on the
// length, on the element's place, on which slices share memory, or on the
// processor. Two things are fixed for that.
//
//   - Max and Min of floating-point numbers: NaN wins, whatever the other operand,
//     and the result is the NaN with the bits of math.NaN(); +0 is above −0. So
//     they are commutative and associative bit by bit.
//   - Prod of complex numbers is (ac−bd) + (ad+bc)i. Each product is rounded before
//     the addition (no fused multiply-add); complex64 is computed in float64 and
//     rounded at the end. Infinities get no special treatment.
//
// The bits of a NaN that Sum or Prod gives are not fixed. Sum and Prod of
// floating-point and complex numbers are commutative, except for those bits, but
// not associative. Integers wrap around.
//
// Package op imports only the standard library.
package op
