package mpi

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/op"
)

// Op is one of MPI's operators of reductions (MPI_Op, MPI-4.0 §6.9.1), such as Sum, or one
// of NewTypeOp. It does not change and is safe for concurrent use. There is nothing to free.
type Op operator

type operator = op.Op

// OpOf is an operator of the program's own, of NewOp, NewVectorOp or NewStructOp, for
// elements of type T. What Op says of MPI's operators holds for it.
type OpOf[T any] operator

// Operator is what reductions of slices of T take: one of MPI's operators, or the program's
// own for T. One for another type does not compile.
type Operator[T Scalar] interface{ *Op | *OpOf[T] }

// BufOperator is what reductions of Bufs take: any Op, or any OpOf. One that does not fit
// the elements of a Buf is ErrOp.
type BufOperator interface{ anyOp() *Op }

func (o *Op) anyOp() *Op      { return o }
func (o *OpOf[T]) anyOp() *Op { return (*Op)(o) }

func opOf(o BufOperator) *Op {
	if o == nil {
		return nil
	}
	return o.anyOp()
}

// MPI's operators (MPI-4.0 §6.9.2). All are commutative. An element type that they
// do not fit is answered with ErrOp.
var (
	// Sum adds integers, floating-point and complex numbers (MPI_SUM, MPI-4.0 §6.9.2).
	Sum = builtin("Sum")
	// Prod multiplies the same (MPI_PROD, MPI-4.0 §6.9.2).
	Prod = builtin("Prod")
	// Max is the larger one of integers or floating-point numbers; NaN if one is
	// NaN (MPI_MAX, MPI-4.0 §6.9.2).
	Max = builtin("Max")
	// Min is the smaller one; NaN if one is NaN (MPI_MIN, MPI-4.0 §6.9.2).
	Min = builtin("Min")
	// LAnd is the logical and, of bools, or of integers, which are true unless they
	// are 0 (MPI_LAND, MPI-4.0 §6.9.2).
	LAnd = builtin("LAnd")
	// LOr is the logical or of the same (MPI_LOR, MPI-4.0 §6.9.2).
	LOr = builtin("LOr")
	// LXor is the logical exclusive or of the same (MPI_LXOR, MPI-4.0 §6.9.2).
	LXor = builtin("LXor")
	// BAnd is the bitwise and of integers, and of a Buf's TypeByte (MPI_BAND, MPI-4.0 §6.9.2).
	BAnd = builtin("BAnd")
	// BOr is the bitwise or of the same (MPI_BOR, MPI-4.0 §6.9.2).
	BOr = builtin("BOr")
	// BXor is the bitwise exclusive or of the same (MPI_BXOR, MPI-4.0 §6.9.2).
	BXor = builtin("BXor")
	// MinLoc is, of two pairs of a value and an index, that with the smaller value, or of
	// equal ones that with the lower index. It is for Bufs: of Loc, or of TypeFloatInt and
	// the other pairs (MPI_MINLOC, MPI-4.0 §6.9.4).
	MinLoc = builtin("MinLoc")
	// MaxLoc is the one with the larger value, or of equal ones that with the lower index
	// (MPI_MAXLOC, MPI-4.0 §6.9.4).
	MaxLoc = builtin("MaxLoc")
	// Replace is for accumulates on windows: the element becomes the origin's
	// (MPI_REPLACE, MPI-4.0 §12.3.4).
	Replace = builtin("Replace")
	// NoOp is for accumulates on windows that return elements: those stay (MPI_NO_OP,
	// MPI-4.0 §12.3.4).
	NoOp = builtin("NoOp")
)

// builtin is the operator of package op with that name.
func builtin(name string) *Op {
	for c := op.Code(1); ; c++ {
		if o := c.Op(); o.String() == name {
			return (*Op)(o)
		}
	}
}

// OpOption is an option of NewOp and NewVectorOp.
type OpOption func(*opOptions)

type opOptions struct{ commutes bool }

// Commutes promises that the operator is commutative: its operands may be swapped.
// Without it they are combined in the order of ranks. Local.
func Commutes() OpOption { return func(o *opOptions) { o.commutes = true } }

// NewOp makes an operator of f (MPI_Op_create, MPI-4.0 §6.9.5), for elements of type
// T and of types that are made of the same. lower is the operand of lower ranks. f
// must be associative, and commutative only if Commutes says so.
//
// f runs on the goroutine of a blocking call, on one of the library's for a
// nonblocking one, and on several at once if several calls use it. It may block, but
// other ranks wait for it. It must not make collective calls on the communicator
// that it works for.
//
// If f panics, or ends its goroutine, the call fails at that rank with ErrOp and an
// OperatorError, which has the panic's value. The other ranks are told: the call fails with
// ErrOp and a CallError at those that hear of it before they have done their part, as all
// do that need what the rank would have sent. A rank that has done its part by then, such as
// one of lower rank in a Scan, has its result, and its next collective call on the
// communicator fails, as all further ones do at all ranks. Local.
func NewOp[T Scalar](f func(lower, upper T) T, opts ...OpOption) *OpOf[T] {
	return (*OpOf[T])(op.Of("of NewOp", commutes(opts), f))
}

// NewVectorOp is NewOp for a function of slices (MPI_Op_create, MPI-4.0 §6.9.5): it
// sets inout[i] to in[i] ⊕ inout[i] for all elements of the two, which are equally
// long. in is the operand of lower ranks. A call may pass any part of the ranks'
// vectors. f keeps neither slice and does not write to in. What NewOp says of panics holds
// here too. Local.
func NewVectorOp[T Scalar](f func(in, inout []T), opts ...OpOption) *OpOf[T] {
	return (*OpOf[T])(op.Vector("of NewVectorOp", commutes(opts), f))
}

func commutes(opts []OpOption) bool {
	var o opOptions
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	return o.commutes
}

// Commutes reports whether the operator is commutative (MPI_Op_commutative, MPI-4.0
// §6.9.7); that of nil is not. Local.
func (o *Op) Commutes() bool { return o != nil && (*op.Op)(o).Commutes() }

// Commutes is that of Op. Local.
func (o *OpOf[T]) Commutes() bool { return (*Op)(o).Commutes() }

// ReduceLocal is that of Op. Errors are those of Op.ReduceLocal. Local.
func (o *OpOf[T]) ReduceLocal(in, inout Buf) error { return (*Op)(o).ReduceLocal(in, inout) }

// String names the function that has made the operator, such as "of NewOp". Local.
func (o *OpOf[T]) String() string { return (*Op)(o).String() }

// String is the operator's name, such as "Sum". Local.
func (o *Op) String() string {
	if o == nil {
		return "nil"
	}
	return (*op.Op)(o).String()
}

// fit returns the operator's function for elements of kind k.
func (o *Op) fit(call string, k op.Kind) (op.Func, error) {
	if o == nil {
		return nil, badArg(call, ErrOp, "the operator is nil: give one such as Sum, or what NewOp returns")
	}
	f, err := (*op.Op)(o).Func(k)
	if err != nil {
		return nil, &Error{Class: ErrOp, Call: call, Err: err}
	}
	return f, nil
}

// user reports whether the operator is the program's own. o is not nil.
func (o *Op) user() bool { return (*op.Op)(o).User() }

// number is what ranks compare of an operator on elements of a kind: those of the
// program's own are not told from one another.
func (o *Op) number(k op.Kind) uint16 { return uint16((*op.Op)(o).Code())<<8 | uint16(k) }

// ofElements stands for the operator in the number of elements that are not combined.
const ofElements = 255

// numbered names what number has returned, "Sum of float64", or elements of a kind.
func numbered(n uint16) string {
	if n>>8 == ofElements {
		return fmt.Sprintf("elements of %v", op.Kind(n))
	}
	name := "an operator of the program's"
	if o := op.Code(n >> 8).Op(); o != nil {
		name = o.String()
	}
	switch op.Kind(n) {
	case ofStructs:
		return name + " of structs"
	case ofTypes:
		return name + " of the elements of a datatype"
	}
	return fmt.Sprintf("%s of %v", name, op.Kind(n))
}

// ReduceLocal sets inout[i] to in[i] ⊕ inout[i] for each element
// (MPI_Reduce_local, MPI-4.0 §6.9.7). in is the operand of lower ranks. The two are
// equally long and do not overlap. It calls no other rank, and lets a panic of the
// program's own operator pass. It fails with ErrOp for an operator that does not fit T,
// ErrCount if the lengths differ, and ErrBuffer if the two overlap. Local.
func ReduceLocal[T Scalar, O Operator[T]](op O, in, inout []T) error {
	const call = "ReduceLocal"
	f, err := (*Op)(op).fit(call, kindOf[T]())
	switch {
	case err != nil:
		return raiseSelf(err)
	case len(in) != len(inout):
		return raiseSelf(badArg(call, ErrCount, "in has %d elements, inout %d", len(in), len(inout)))
	case isInPlace(in) || isInPlace(inout) || overlap(bytesOf(in), bytesOf(inout)):
		return raiseSelf(badArg(call, ErrBuffer, "in and inout overlap: they have to be two buffers"))
	}
	if len(in) > 0 {
		b := bytesOf(inout)
		f(bytesOf(in), b, b)
	}
	return nil
}

// kindOf is the kind of T's memory.
func kindOf[T Scalar]() op.Kind { return op.KindOf[T]() }
