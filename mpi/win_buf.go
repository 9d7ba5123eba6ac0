package mpi

import "github.com/weft-mpi/weft/rma"

// The operations on a window with elements of any datatype. Each does what the function
// of its name does with a slice, and has its errors. The elements at the target are count
// of type t; displacement 0 of the type is at disp, in units that the target has chosen
// (WinOptions.DispUnit), and all that they touch lies within the target's part, of a
// dynamic window within one piece of memory that is attached there: else the call fails
// with ErrRMARange, or in a dynamic window the one that ends the operation, and nothing is
// written. t is known to the origin only, and need not be made at the target.
//
// Both sides have equally many bytes of data, else the call fails with ErrCount. Elements
// that are written to must not overlap, at the target and in the buffers of results, else
// it fails with ErrType. An accumulate takes types all of whose basic elements are of one
// predefined type, the same at all sides, and changes each of them at once; else it fails
// with ErrType. The memory of a Buf must not be touched, and that of an origin whose
// elements are sent not be written to, until the operation has ended.
//
// Win.Explain says how elements that lie apart go to each target.

// Put copies origin's elements to those at the target (MPI_Put, MPI-4.0 §12.3.1).
// Errors are those of the function Put and of the Buf, ErrCount if the sides differ in
// length, and ErrType for a t that can't be used or whose elements overlap. Local.
func (w *Win) Put(origin Buf, target, disp, count int, t *Datatype) error {
	c := bufCall{name: "Put", origin: &origin, count: count, t: t}
	return c.do(w, target, disp)
}

// Get copies the elements at the target to those of origin (MPI_Get, MPI-4.0 §12.3.2).
// Elements at the target may overlap. Errors are those of Put. Local.
func (w *Win) Get(origin Buf, target, disp, count int, t *Datatype) error {
	c := bufCall{name: "Get", result: &origin, count: count, t: t}
	return c.do(w, target, disp)
}

// Accumulate combines origin's elements with those at the target (MPI_Accumulate, MPI-4.0
// §12.3.4). o is one of MPI's operators or Replace. Errors are those of Put, ErrType
// for elements of several predefined types, and ErrOp for an operator that does not fit
// them. Local.
func (w *Win) Accumulate(o *Op, origin Buf, target, disp, count int, t *Datatype) error {
	c := bufCall{name: "Accumulate", accumulates: true, o: o, origin: &origin, count: count, t: t}
	return c.do(w, target, disp)
}

// GetAccumulate is Accumulate that sets result to the elements as they were
// (MPI_Get_accumulate, MPI-4.0 §12.3.4); o may be NoOp too, for which origin is not looked
// at. Errors are those of Accumulate, and ErrBuffer if result and origin overlap. Local.
func (w *Win) GetAccumulate(o *Op, origin, result Buf, target, disp, count int, t *Datatype) error {
	c := bufCall{name: "GetAccumulate", accumulates: true, o: o, origin: &origin, result: &result, count: count, t: t}
	return c.do(w, target, disp)
}

// FetchAndOp is GetAccumulate of one element of a predefined type (MPI_Fetch_and_op,
// MPI-4.0 §12.3.4): result is one, and so is origin, which is not looked at if o is
// NoOp. Errors are those of Accumulate, ErrCount for more or less than one element, and
// ErrType for a derived type. Local.
func (w *Win) FetchAndOp(o *Op, origin, result Buf, target, disp int) error {
	const call = "FetchAndOp"
	if err := w.predefined(call, "result", &result); err != nil {
		return err
	}
	c := bufCall{name: call, accumulates: true, o: o, origin: &origin, result: &result, count: 1, t: result.t}
	return c.do(w, target, disp)
}

// CompareAndSwap sets an element of the target to origin if it is equal to compare, and
// result to what it was (MPI_Compare_and_swap, MPI-4.0 §12.3.4). Each Buf is one element of
// the same predefined type: a bool, an integer or a byte. Errors are those of the
// function CompareAndSwap, and ErrCount for more or less than one element. Local.
func (w *Win) CompareAndSwap(compare, origin, result Buf, target, disp int) error {
	const call = "CompareAndSwap"
	var x rma.Transfer
	for _, b := range []struct {
		name string
		b    *Buf
		to   *[]byte
	}{{"origin", &origin, &x.Src}, {"compare", &compare, &x.Compare}, {"result", &result, &x.Old}} {
		if err := w.predefined(call, b.name, b.b); err != nil {
			return err
		}
		if b.b.t.t != origin.t.t {
			return w.raise(badArg(call, ErrType, "%s has another type than origin: all are of one", b.name))
		}
		*b.to = b.b.mem[b.b.origin:][:b.b.t.Size()]
	}
	k, _ := origin.t.t.Kind()
	if x.Kind = rma.KindOf(k); rma.Swaps(x.Kind) != nil {
		return w.raise(badArg(call, ErrType, "%s is not defined for %v: it takes bool, integers and bytes", call, k))
	}
	if overlap(x.Src, x.Old) {
		return w.raise(errOverlap(call, "origin", "result"))
	}
	return w.transfer(call, &x, target, disp)
}

// Rput is Put with a request, which completes when origin's memory may be written to again
// (MPI_Rput, MPI-4.0 §12.3.5). It is for epochs of Lock and LockAll. Errors are those
// of Put. Local.
func (w *Win) Rput(origin Buf, target, disp, count int, t *Datatype) (Request, error) {
	c := bufCall{name: "Rput", origin: &origin, count: count, t: t}
	return c.begin(w, target, disp)
}

// Rget is Get with a request, which completes when the elements are there (MPI_Rget,
// MPI-4.0 §12.3.5). It is for epochs of Lock and LockAll. Errors are those of Get.
// Local.
func (w *Win) Rget(origin Buf, target, disp, count int, t *Datatype) (Request, error) {
	c := bufCall{name: "Rget", result: &origin, count: count, t: t}
	return c.begin(w, target, disp)
}

// Raccumulate is Accumulate with a request, as Rput (MPI_Raccumulate, MPI-4.0 §12.3.5).
// Errors are those of Accumulate. Local.
func (w *Win) Raccumulate(o *Op, origin Buf, target, disp, count int, t *Datatype) (Request, error) {
	c := bufCall{name: "Raccumulate", accumulates: true, o: o, origin: &origin, count: count, t: t}
	return c.begin(w, target, disp)
}

// RgetAccumulate is GetAccumulate with a request, as Rget (MPI_Rget_accumulate, MPI-4.0
// §12.3.5). Errors are those of GetAccumulate. Local.
func (w *Win) RgetAccumulate(o *Op, origin, result Buf, target, disp, count int, t *Datatype) (Request, error) {
	c := bufCall{name: "RgetAccumulate", accumulates: true, o: o, origin: &origin, result: &result, count: count, t: t}
	return c.begin(w, target, disp)
}
