package mpi

import (
	"math"

	"github.com/weft-mpi/weft/progress"
)

// Status is the outcome of an operation: for a receive, the message it got
// (MPI_Status, MPI-4.0 §3.2.5). The status of an operation that receives
// nothing, or of a null request, is empty: AnySource, AnyTag, no bytes (§3.7.3).
// It is a plain value: assigning it duplicates it, and its fields can be set.
type Status struct {
	Source int    // rank that sent the message
	Tag    int    // tag of the message
	Bytes  uint64 // length of the message as sent, in bytes, also where the buffer was shorter; see Count
	Err    error  // of this request, set by the calls that complete several

	// The operation was withdrawn before anything of it happened; see Cancel
	// (MPI_Test_cancelled, MPI-4.0 §3.8.4). The query function of a generalized
	// request sets it (MPI_Status_set_cancelled, MPI-4.0 §13.3).
	Cancelled bool
}

// emptyStatus is the status of null requests.
var emptyStatus = Status{Source: AnySource, Tag: AnyTag}

// nullStatus is the status of a receive from ProcNull (MPI-4.0 §3.10).
var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// statusOf converts the result of an operation into a Status.
func statusOf(r progress.Result) Status {
	return Status{Source: int(r.Source), Tag: int(r.Tag), Bytes: r.Bytes}
}

// Count is the length of the message in elements of type T, as sent, even if the
// receive buffer was shorter (MPI_Get_count, MPI-4.0 §3.2.5). It is Undefined if
// that is no whole number of elements. Local.
func Count[T Scalar](st Status) int {
	size := uint64(sizeOf[T]())
	if st.Bytes%size != 0 {
		return Undefined
	}
	return int(st.Bytes / size)
}

// SetCount sets the status to n received elements of type T
// (MPI_Status_set_elements, MPI-4.0 §13.3), for generalized requests. It fails with
// ErrArg for a nil st, and ErrCount for an n that is negative or that no message has.
// Local.
func SetCount[T Scalar](st *Status, n int) error {
	if st == nil {
		return raiseSelf(badArg("SetCount", ErrArg, "the pointer to the status is nil"))
	}
	if n < 0 || n > math.MaxInt/sizeOf[T]() {
		return raiseSelf(badArg("SetCount", ErrCount, "%d elements of %d bytes: no message has so many", n, sizeOf[T]()))
	}
	st.Bytes = uint64(n) * uint64(sizeOf[T]())
	return nil
}
