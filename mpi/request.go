package mpi

import (
	"github.com/weft-mpi/weft/progress"
)

// Request is a started operation (MPI_Request). The zero Request is
// MPI_REQUEST_NULL. The calls that complete a request set the handle they are
// given to null; a copy kept besides is then stale and answered with
// ErrRequest.
type Request = progress.Handle

// Status says which message a receive got (MPI_Status): its Source and Tag,
// its length, to be asked for with Count, and, filled in by calls that complete
// several requests, the error of each.
type Status = progress.Status

// nullStatus is the status of a receive from ProcNull (MPI-4.0 §3.10).
var nullStatus = Status{Source: ProcNull, Tag: AnyTag}

// Count is the length of the message in elements of type T, also where the
// receive buffer was shorter (MPI_Get_count, MPI-4.0 §3.2.5), or -1,
// MPI_UNDEFINED, if it is no whole number of them. Local.
func Count[T Scalar](st Status) int {
	size := uint64(sizeOf[T]())
	if st.Bytes%size != 0 {
		return -1
	}
	return int(st.Bytes / size)
}

// Wait blocks until the operation has completed and sets the handle to null
// (MPI_Wait, MPI-4.0 §3.7.3). A null handle gives an empty status at once.
func Wait(r *Request) (Status, error) {
	st, err := progress.Wait(r)
	if err != nil {
		return st, fail("Wait", err)
	}
	return st, nil
}

// Test reports whether the operation has completed, and if so does as Wait
// (MPI_Test, MPI-4.0 §3.7.3). Local.
func Test(r *Request) (bool, Status, error) {
	ended, st, err := progress.Test(r)
	if err != nil {
		return ended, st, fail("Test", err)
	}
	return ended, st, nil
}

// Waitall blocks until all operations have completed and sets the handles to
// null (MPI_Waitall, MPI-4.0 §3.7.5). statuses is nil (MPI_STATUSES_IGNORE) or
// as long as requests. If operations failed the error is of class ErrInStatus
// and the Err of each status tells; without statuses it is the first one's.
func Waitall(requests []Request, statuses []Status) error {
	const call = "Waitall"
	if err := checkStatuses(call, requests, statuses); err != nil {
		return err
	}
	if err := progress.WaitAll(requests, statuses); err != nil {
		return fail(call, err)
	}
	return inStatus(call, statuses)
}

// Testall reports whether all operations have completed, and if so does as
// Waitall; otherwise no request is changed (MPI_Testall, MPI-4.0 §3.7.5).
// Local.
func Testall(requests []Request, statuses []Status) (bool, error) {
	const call = "Testall"
	if err := checkStatuses(call, requests, statuses); err != nil {
		return false, err
	}
	ended, err := progress.TestAll(requests, statuses)
	if err != nil || !ended {
		return ended, fail(call, err)
	}
	return true, inStatus(call, statuses)
}

// Waitany blocks until one of the operations has completed, sets its handle to
// null and returns its index, or -1, MPI_UNDEFINED, if all are null
// (MPI_Waitany, MPI-4.0 §3.7.5).
func Waitany(requests []Request) (int, Status, error) {
	i, st, err := progress.WaitAny(requests)
	return i, st, fail("Waitany", err)
}

func checkStatuses(call string, requests []Request, statuses []Status) error {
	if statuses != nil && len(statuses) != len(requests) {
		return badArg(call, ErrArg, "%d statuses for %d requests: give as many, or nil", len(statuses), len(requests))
	}
	return nil
}

// inStatus turns failed operations into the error of the call.
func inStatus(call string, statuses []Status) error {
	var first error
	for i := range statuses {
		if err := statuses[i].Err; err != nil {
			statuses[i].Err = fail(call, err)
			if first == nil {
				first = statuses[i].Err
			}
		}
	}
	if first == nil {
		return nil
	}
	return &Error{Class: ErrInStatus, Call: call, Err: first}
}
