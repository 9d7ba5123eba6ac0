package mpi

import (
	"math/bits"

	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/rma"
)

// The operations on a window (MPI-4.0 §12.3). target is a rank of the window, or
// ProcNull, for which nothing happens. disp is where in the target's part, in units that
// the target has chosen (WinOptions.DispUnit). The buffers must not be touched, and of
// Put and Accumulate not be written to, until a call ends the operation: FlushLocal,
// Flush, the end of the epoch, or for the R-forms the end of the request. A failure at
// the target is told by that call.

// Put copies origin to the target (MPI_Put, MPI-4.0 §12.3.1). It fails with ErrDisp for
// a negative disp and ErrRMARange for elements outside of the target's part. Local.
func Put[T Scalar](w *Win, origin []T, target, disp int) error {
	x := rma.Transfer{Src: bytesOf(origin)}
	return w.transfer("Put", &x, target, disp)
}

// Get copies elements of the target to origin (MPI_Get, MPI-4.0 §12.3.2). Errors are
// those of Put. Local.
func Get[T Scalar](w *Win, origin []T, target, disp int) error {
	x := rma.Transfer{Old: bytesOf(origin)}
	return w.transfer("Get", &x, target, disp)
}

// Accumulate combines origin with elements of the target (MPI_Accumulate, MPI-4.0
// §12.3.4): each becomes element ⊕ origin's. o is one of MPI's operators or Replace.
// Each element is changed at once, as other accumulates of the same type see it, and
// those of one rank with one element come in their order. Errors are those of Put, and
// ErrOp for an operator that does not fit T. Local.
func Accumulate[T Scalar](w *Win, o *Op, origin []T, target, disp int) error {
	x := rma.Transfer{Src: bytesOf(origin)}
	return w.accumulate("Accumulate", &x, o, op.KindOf[T](), target, disp)
}

// GetAccumulate is Accumulate that sets result to the elements as they were
// (MPI_Get_accumulate, MPI-4.0 §12.3.4); o may be NoOp too, whose origin may be nil.
// result and origin are equally long, and do not overlap. Errors are those of
// Accumulate, ErrCount if the two differ in length, and ErrBuffer if they overlap. Local.
func GetAccumulate[T Scalar](w *Win, o *Op, origin, result []T, target, disp int) error {
	x := rma.Transfer{Src: bytesOf(origin), Old: bytesOf(result)}
	return w.getAccumulate("GetAccumulate", &x, o, op.KindOf[T](), target, disp)
}

// FetchAndOp is GetAccumulate of one element (MPI_Fetch_and_op, MPI-4.0 §12.3.4), which
// may be faster. Errors are those of Accumulate, and ErrBuffer for an element that is
// nil, and for a result that is the origin. Local.
func FetchAndOp[T Scalar](w *Win, o *Op, origin, result *T, target, disp int) error {
	const call = "FetchAndOp"
	if result == nil || origin == nil && o != NoOp {
		return w.nilElement(call)
	}
	x := rma.Transfer{Old: oneOf(result)}
	if origin != nil {
		x.Src = oneOf(origin)
	}
	return w.getAccumulate(call, &x, o, op.KindOf[T](), target, disp)
}

// CompareAndSwap sets an element of the target to origin if it is equal to compare, and
// result to what it was (MPI_Compare_and_swap, MPI-4.0 §12.3.4). It is for bools and
// integers. compare comes first, as in sync/atomic; in C it is the second. Errors are
// those of Put, ErrBuffer for an element that is nil and for a result that is the origin,
// and ErrType for another T. Local.
func CompareAndSwap[T Scalar](w *Win, compare, origin, result *T, target, disp int) error {
	const call = "CompareAndSwap"
	if origin == nil || compare == nil || result == nil {
		return w.nilElement(call)
	}
	x := rma.Transfer{Kind: op.KindOf[T](), Src: oneOf(origin), Compare: oneOf(compare), Old: oneOf(result)}
	if err := rma.Swaps(x.Kind); err != nil && !w.gone() {
		return w.raise(badArg(call, ErrType, "%w", err))
	}
	if overlap(x.Src, x.Old) && !w.gone() {
		return w.raise(errOverlap(call, "origin", "result"))
	}
	return w.transfer(call, &x, target, disp)
}

// Rput is Put with a request, which completes when origin may be written to again
// (MPI_Rput, MPI-4.0 §12.3.5). It is for epochs of Lock and LockAll. Errors are those
// of Put. Local.
func Rput[T Scalar](w *Win, origin []T, target, disp int) (Request, error) {
	x := rma.Transfer{Src: bytesOf(origin)}
	return w.request("Rput", &x, target, disp)
}

// Rget is Get with a request, which completes when the elements are there (MPI_Rget,
// MPI-4.0 §12.3.5). It is for epochs of Lock and LockAll. Errors are those of Get.
// Local.
func Rget[T Scalar](w *Win, origin []T, target, disp int) (Request, error) {
	x := rma.Transfer{Old: bytesOf(origin)}
	return w.request("Rget", &x, target, disp)
}

// Raccumulate is Accumulate with a request, as Rput (MPI_Raccumulate, MPI-4.0 §12.3.5).
// Errors are those of Accumulate. Local.
func Raccumulate[T Scalar](w *Win, o *Op, origin []T, target, disp int) (Request, error) {
	const call = "Raccumulate"
	x := rma.Transfer{Src: bytesOf(origin)}
	if err := w.operator(call, &x, o, op.KindOf[T](), false); err != nil {
		return Request{}, err
	}
	return w.request(call, &x, target, disp)
}

// RgetAccumulate is GetAccumulate with a request, as Rget (MPI_Rget_accumulate, MPI-4.0
// §12.3.5). Errors are those of GetAccumulate. Local.
func RgetAccumulate[T Scalar](w *Win, o *Op, origin, result []T, target, disp int) (Request, error) {
	const call = "RgetAccumulate"
	x := rma.Transfer{Src: bytesOf(origin), Old: bytesOf(result)}
	if err := w.operator(call, &x, o, op.KindOf[T](), true); err != nil {
		return Request{}, err
	}
	return w.request(call, &x, target, disp)
}

// Put is the function of that name. Local.
func (w Window[T]) Put(origin []T, target, disp int) error {
	return Put(w.Win, origin, target, disp)
}

// Get is the function of that name. Local.
func (w Window[T]) Get(origin []T, target, disp int) error {
	return Get(w.Win, origin, target, disp)
}

// Accumulate is the function of that name. Local.
func (w Window[T]) Accumulate(o *Op, origin []T, target, disp int) error {
	return Accumulate(w.Win, o, origin, target, disp)
}

// GetAccumulate is the function of that name. Local.
func (w Window[T]) GetAccumulate(o *Op, origin, result []T, target, disp int) error {
	return GetAccumulate(w.Win, o, origin, result, target, disp)
}

// FetchAndOp is the function of that name. Local.
func (w Window[T]) FetchAndOp(o *Op, origin, result *T, target, disp int) error {
	return FetchAndOp(w.Win, o, origin, result, target, disp)
}

// CompareAndSwap is the function of that name. Local.
func (w Window[T]) CompareAndSwap(compare, origin, result *T, target, disp int) error {
	return CompareAndSwap(w.Win, compare, origin, result, target, disp)
}

// FetchAndOpNow combines v with an element of the target and returns what it was:
// FetchAndOp and FlushLocal in one, for epochs of Lock and LockAll (MPI-4.0 §12.3.4).
// Errors are those of FetchAndOp and FlushLocal. Non-local.
func (w Window[T]) FetchAndOpNow(o *Op, v T, target, disp int) (old T, err error) {
	if err = FetchAndOp(w.Win, o, &v, &old, target, disp); err == nil {
		err = w.FlushLocal(target)
	}
	return old, err
}

// CompareAndSwapNow sets an element of the target to v if it is equal to compare, and
// returns what it was: CompareAndSwap and FlushLocal in one, for epochs of Lock and
// LockAll (MPI-4.0 §12.3.4). Errors are those of CompareAndSwap and FlushLocal.
// Non-local.
func (w Window[T]) CompareAndSwapNow(compare, v T, target, disp int) (old T, err error) {
	if err = CompareAndSwap(w.Win, &compare, &v, &old, target, disp); err == nil {
		err = w.FlushLocal(target)
	}
	return old, err
}

// transfer checks where the operation is to go and does it.
func (w *Win) transfer(call string, x *rma.Transfer, target, disp int) error {
	if w.plain(x, target, disp) {
		if err := w.core.Do(x); err != nil {
			return w.fail(call, err)
		}
		return nil
	}
	return w.elsewhere(call, x, target, disp)
}

// has reports whether the window can be used, and with that target.
func (w *Win) has(target int) bool {
	return w != nil && w.core != nil && !w.c.core.Over() && uint(target) < uint(w.c.size)
}

// plain completes a transfer within the target's part, and reports whether it is one.
func (w *Win) plain(x *rma.Transfer, target, disp int) bool {
	if !w.has(target) {
		return false
	}
	size, unit := w.core.Size(target)
	high, at := bits.Mul64(uint64(disp), uint64(unit)) // a negative disp is too long
	x.Target, x.At = target, int(at)
	return high == 0 && at <= uint64(size) && max(len(x.Src), len(x.Old)) <= size-x.At
}

// elsewhere is transfer for what is not plain.
func (w *Win) elsewhere(call string, x *rma.Transfer, target, disp int) error {
	switch err := w.place(call, x, target, disp); {
	case err != nil:
		return err
	case target == ProcNull:
		return w.fail(call, w.core.DoNothing(false))
	}
	return w.fail(call, w.core.Do(x))
}

// request is transfer with a request.
func (w *Win) request(call string, x *rma.Transfer, target, disp int) (Request, error) {
	if err := w.place(call, x, target, disp); err != nil {
		return Request{}, err
	}
	if target == ProcNull {
		if err := w.core.DoNothing(true); err != nil {
			return Request{}, w.fail(call, err)
		}
		return w.null(), nil
	}
	h, err := w.core.Begin(x)
	if err != nil {
		return Request{}, w.fail(call, err)
	}
	return w.c.request(h), nil
}

// place checks the target and the range.
func (w *Win) place(call string, x *rma.Transfer, target, disp int) error {
	if err := w.checkTarget(call, target); err != nil || target == ProcNull {
		return err
	}
	switch {
	case disp < 0:
		return w.raise(badArg(call, ErrDisp, "the displacement %d is negative", disp))
	case w.kind == FlavorDynamic:
		x.Target, x.At = target, disp
		return nil
	case w.plain(x, target, disp):
		return nil
	}
	n := max(len(x.Src), len(x.Old))
	size, unit := w.core.Size(target)
	return w.raise(badArg(call, ErrRMARange, "%d bytes from displacement %d on (of %d bytes each) are not in the part of rank %d, which has %d bytes", n, disp, unit, target, size))
}

// checkTarget checks the window and a target.
func (w *Win) checkTarget(call string, target int) error {
	switch {
	case w.gone():
		return w.explain(call)
	case (target < 0 || target >= w.c.size) && target != ProcNull:
		return w.raise(notIn(call, ErrRank, "rank", target, "the window", w.c.size))
	}
	return nil
}

// operator completes an accumulate.
func (w *Win) operator(call string, x *rma.Transfer, o *Op, k op.Kind, fetches bool) error {
	if w.gone() {
		return w.explain(call)
	}
	if o == nil {
		return w.raise(badArg(call, ErrOp, "the operator is nil: give one of MPI's, such as Sum"))
	}
	if _, err := (*op.Op)(o).OnWindow(k); err != nil {
		return w.raise(badArg(call, ErrOp, "%w", err))
	}
	x.Code, x.Kind = (*op.Op)(o).Code(), k
	switch {
	case o == NoOp && !fetches:
		return w.raise(badArg(call, ErrOp, "NoOp changes nothing: it is for calls that return elements, such as GetAccumulate"))
	case o == NoOp:
		x.Src = nil
	case fetches && len(x.Src) != len(x.Old):
		return w.raise(badArg(call, ErrCount, "origin has %d bytes and result %d: they are equally long", len(x.Src), len(x.Old)))
	case fetches && overlap(x.Src, x.Old):
		return w.raise(errOverlap(call, "origin", "result"))
	}
	return nil
}

func (w *Win) accumulate(call string, x *rma.Transfer, o *Op, k op.Kind, target, disp int) error {
	if err := w.operator(call, x, o, k, false); err != nil {
		return err
	}
	return w.transfer(call, x, target, disp)
}

func (w *Win) getAccumulate(call string, x *rma.Transfer, o *Op, k op.Kind, target, disp int) error {
	if err := w.operator(call, x, o, k, true); err != nil {
		return err
	}
	return w.transfer(call, x, target, disp)
}

func (w *Win) nilElement(call string) error {
	if w.gone() {
		return w.explain(call)
	}
	return w.raise(badArg(call, ErrBuffer, "an element is nil: give the address of one"))
}
