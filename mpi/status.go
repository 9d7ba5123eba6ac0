package mpi

import "github.com/weft-mpi/weft/progress"

// Status says which message a receive got (MPI_Status): its Source and Tag,
// its length, to be asked for with Count, whether the operation was Cancelled,
// and, filled in by calls that complete several requests, the error of each. It
// is a plain value: assigning it duplicates it, its fields can be set.
type Status = progress.Status

// nullStatus is the status of a receive from ProcNull (MPI-4.0 §3.10).
var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// Count is the length of the message in elements of type T, also where the
// receive buffer was shorter (MPI_Get_count, MPI-4.0 §3.2.5), or Undefined if it
// is no whole number of them. Local.
func Count[T Scalar](st Status) int {
	size := uint64(sizeOf[T]())
	if st.Bytes%size != 0 {
		return Undefined
	}
	return int(st.Bytes / size)
}

// SetCount makes the status say that n elements of type T were received
// (MPI_Status_set_elements, MPI-4.0 §13.3), for generalized requests. Local.
func SetCount[T Scalar](st *Status, n int) error {
	if st == nil {
		return badArg("SetCount", ErrArg, "the pointer to the status is nil")
	}
	if n < 0 {
		return badArg("SetCount", ErrCount, "%d elements", n)
	}
	st.Bytes = uint64(n) * uint64(sizeOf[T]())
	return nil
}
