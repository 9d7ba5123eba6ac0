package op

import "fmt"

// The operators of accumulate operations on windows that reductions do not have
// (MPI-4.0 §12.3.4). They fit all kinds and do not commute.
var (
	// Replace is MPI_REPLACE: the element in the window becomes the origin's.
	Replace = &Op{name: "Replace", code: CodeReplace, funcs: anything(replace[uint8], replace[uint16],
		replace[uint32], replace[uint64], replace[[2]uint64])}

	// NoOp is MPI_NO_OP: the element in the window stays. Operations that return the
	// element read it so.
	NoOp = &Op{name: "NoOp", code: CodeNoOp, funcs: anything(keep[uint8], keep[uint16],
		keep[uint32], keep[uint64], keep[[2]uint64])}
)

func anything(f8, f16, f32, f64, f128 Func) table {
	funcs := truths(f8, f16, f32, f64)
	funcs[Float32], funcs[Float64], funcs[Complex64], funcs[Complex128] = f32, f64, f64, f128
	return funcs
}

func replace[T any](lower, upper, to []byte) {
	_, b, c := elements[T](lower, upper, to)
	copy(c, b)
}

func keep[T any](lower, upper, to []byte) {
	a, _, c := elements[T](lower, upper, to)
	copy(c, a)
}

// Code is the number of a predefined operator, in tables and packets. Those of the
// user have 0.
type Code uint8

const (
	CodeSum Code = iota + 1
	CodeProd
	CodeMax
	CodeMin
	CodeLAnd
	CodeLOr
	CodeLXor
	CodeBAnd
	CodeBOr
	CodeBXor
	CodeReplace
	CodeNoOp
	CodeMinLoc
	CodeMaxLoc
)

var coded = [...]*Op{CodeSum: Sum, CodeProd: Prod, CodeMax: Max, CodeMin: Min, CodeLAnd: LAnd, CodeLOr: LOr,
	CodeLXor: LXor, CodeBAnd: BAnd, CodeBOr: BOr, CodeBXor: BXor, CodeReplace: Replace, CodeNoOp: NoOp, CodeMinLoc: MinLoc, CodeMaxLoc: MaxLoc}

// Code is the operator's number, or 0 for one of the user's.
func (o *Op) Code() Code { return o.code }

// Op is the operator with the number c, or nil if there is none.
func (c Code) Op() *Op {
	if int(c) < len(coded) {
		return coded[c]
	}
	return nil
}

func (o *Op) windowOnly() bool { return o.code == CodeReplace || o.code == CodeNoOp }

// OnWindow returns the operator for accumulate operations on elements of kind k
// (MPI-4.0 §12.3.4): lower and to are in the window, upper is the origin's. One of
// the user's gets a *UserError, one that does not fit the kind a *KindError, and so do
// all on Byte and on pairs, which a window has as Uint8 and with padding.
// OnWindow does not allocate unless it fails.
func (o *Op) OnWindow(k Kind) (Func, error) {
	if o.code == 0 {
		if !o.user {
			return nil, ErrZero
		}
		return nil, &UserError{o}
	}
	if k > Complex128 {
		return nil, &KindError{o, k}
	}
	return o.fit(k)
}

// UserError says that an operator of the user's can't work on windows.
type UserError struct{ Op *Op }

func (e *UserError) Error() string {
	return fmt.Sprintf("the operator %v is the program's own: accumulate operations take those of MPI only, such as Sum", e.Op)
}
