package mpi

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Address is the address of the variable that p points to (MPI_Get_address, MPI-4.0
// §5.1.5): a number that means something only together with others of the same variable,
// array or window. The difference of two (AintDiff) is a displacement, for TypeStruct and
// TypeHindexed. In a dynamic window it is the displacement for Put and Get at this rank, as
// Attach returns it. No address makes a Buf: As and At count from the beginning of a slice.
//
// T holds no pointers; else, and if p is nil, the error is ErrType or ErrArg. The variable
// is on the heap from then on, and stays where it is; the number does not keep it alive.
// Local.
func Address[T any](p *T) (int, error) {
	const call = "Address"
	if _, err := datatype.TypeOf[T](); err != nil {
		return 0, raiseSelf(typeFailure(call, err))
	}
	if p == nil {
		return 0, raiseSelf(badArg(call, ErrArg, "argument 1, p: it is nil"))
	}
	if escape.always {
		escape.to = p
	}
	return int(uintptr(unsafe.Pointer(p))), nil
}

// escape makes the compiler put on the heap what is stored there: a variable of a stack
// moves as that grows.
var escape struct {
	always bool // never set
	to     any
}

// AintAdd is an address disp bytes further on (MPI_Aint_add, MPI-4.0 §5.1.5). Local.
func AintAdd(base, disp int) int { return base + disp }

// AintDiff is the displacement of address a from address base, in bytes, so that
// AintAdd(base, AintDiff(a, base)) is a (MPI_Aint_diff, MPI-4.0 §5.1.5). Local.
func AintDiff(a, base int) int { return a - base }
