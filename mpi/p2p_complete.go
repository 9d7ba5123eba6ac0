package mpi

import (
	"errors"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// Waitall blocks until all operations have completed and sets the handles to
// null (MPI_Waitall, MPI-4.0 §3.7.5). statuses is nil (MPI_STATUSES_IGNORE) or
// as long as requests. If operations failed, the error is of class ErrInStatus
// and each status has the Err of its operation, nil for success. A handle that
// is stale, or listed twice, counts as failed if all others have completed.
// Otherwise Waitall does not wait, changes no request, and sets the others' Err
// to class ErrPending. Without statuses the error is that of the first failed
// request. Its text names the request's index, with statuses too. Non-local.
func Waitall(requests []Request, statuses []Status) error {
	const call = "Waitall"
	if err := checkStatuses(call, requests, statuses); err != nil {
		return err
	}
	if err := progress.WaitAll(handles(requests), statusesOf(statuses)); err != nil {
		return pending(call, err, requests, statuses)
	}
	c, err := inStatus(call, statuses, nil)
	return c.raise(err)
}

// Testall reports whether all operations have completed, and if so does as
// Waitall; otherwise no request is changed (MPI_Testall, MPI-4.0 §3.7.5). Errors are
// those of Waitall. Local.
func Testall(requests []Request, statuses []Status) (bool, error) {
	const call = "Testall"
	if err := checkStatuses(call, requests, statuses); err != nil {
		return false, err
	}
	ended, err := progress.TestAll(handles(requests), statusesOf(statuses))
	if err != nil {
		return ended, pending(call, err, requests, statuses)
	}
	if !ended {
		return false, nil
	}
	c, err := inStatus(call, statuses, nil)
	return true, c.raise(err)
}

// Waitany blocks until one of the operations has completed, sets its handle to
// null and returns its index, or Undefined if all are null (MPI_Waitany, MPI-4.0
// §3.7.5). Errors are those of Wait, and ErrRequest for requests of two Worlds.
// Non-local.
func Waitany(requests []Request) (int, Status, error) {
	i, end, err := progress.WaitAny(handles(requests))
	st := Status(end)
	if err != nil {
		var c *Comm
		st, c, err = tell(st, err, true)
		c = c.orOf(requests)
		err = c.fail("Waitany", ofRequest(i, c.cause(err)))
	}
	return index(i), st, err
}

// Testany reports whether one of the operations has completed, and if so does as
// Waitany. If all handles are null it returns true and Undefined (MPI_Testany,
// MPI-4.0 §3.7.5). Errors are those of Waitany. Local.
func Testany(requests []Request) (bool, int, Status, error) {
	ended, i, end, err := progress.TestAny(handles(requests))
	st := Status(end)
	if err != nil {
		var c *Comm
		st, c, err = tell(st, err, true)
		c = c.orOf(requests)
		err = c.fail("Testany", ofRequest(i, c.cause(err)))
	}
	return ended, index(i), st, err
}

// ofRequest is the error of the request with that index in a list, if it has failed.
func ofRequest(index int, err error) error {
	if err == nil || index < 0 {
		return err
	}
	if err == fabric.ErrClosed {
		err = errFinalized
	}
	return &progress.IndexError{Index: index, Err: err}
}

// index turns the engine's index, or number, for none into MPI's.
func index(i int) int {
	if i < 0 {
		return Undefined
	}
	return i
}

// Waitsome blocks until at least one operation has completed, and sets the
// handles of all that have to null (MPI_Waitsome, MPI-4.0 §3.7.5). It returns
// their number, stores their indices in indices and, unless statuses is nil,
// their statuses there, both in ascending order and as long as requests. It
// returns Undefined if all handles are null. Errors are reported as by Waitall. It
// fails with ErrArg also if indices has another length. Non-local.
func Waitsome(requests []Request, indices []int, statuses []Status) (int, error) {
	return some("Waitsome", progress.WaitSome, requests, indices, statuses)
}

// Testsome is Waitsome that returns 0 instead of waiting (MPI_Testsome, MPI-4.0
// §3.7.5). Errors are those of Waitsome. Local.
func Testsome(requests []Request, indices []int, statuses []Status) (int, error) {
	return some("Testsome", progress.TestSome, requests, indices, statuses)
}

func some(call string, f func([]progress.Handle, []int, []progress.Status) (int, error), requests []Request, indices []int, statuses []Status) (int, error) {
	if len(indices) != len(requests) {
		return 0, commOf(requests).raise(badArg(call, ErrArg, "%d indices for %d requests: give as many", len(indices), len(requests)))
	}
	if err := checkStatuses(call, requests, statuses); err != nil {
		return 0, err
	}
	ignored := statuses == nil
	if ignored {
		statuses = make([]Status, len(requests))
	}
	n, err := f(handles(requests), indices, statusesOf(statuses))
	if err != nil {
		return index(n), failOf(call, requests, err)
	}
	c, err := inStatus(call, statuses[:max(n, 0)], indices)
	if ignored && err != nil {
		err = fail(call, err.(*Error).Err)
	}
	return index(n), c.raise(err)
}

func checkStatuses(call string, requests []Request, statuses []Status) error {
	if statuses != nil && len(statuses) != len(requests) {
		return commOf(requests).raise(badArg(call, ErrArg, "%d statuses for %d requests: give as many, or nil", len(statuses), len(requests)))
	}
	return nil
}

// inStatus turns failed operations into the error of the call, and returns the
// communicator of the first of them. indices, unless nil, are those of the requests.
func inStatus(call string, statuses []Status, indices []int) (c *Comm, first error) {
	for i := range statuses {
		if err := statuses[i].Err; err != nil {
			var of *Comm
			statuses[i], of, err = tell(statuses[i], err, true)
			statuses[i].Err = fail(call, of.cause(err))
			if first == nil && statuses[i].Err != nil {
				c, first = of, ofRequest(i, statuses[i].Err)
				if indices != nil {
					first = ofRequest(indices[i], statuses[i].Err)
				}
			}
		}
	}
	if first == nil {
		return nil, nil
	}
	return c, &Error{Class: ErrInStatus, Call: call, Err: first}
}

// pending returns the error of a call that could not begin because of some
// handles. Without statuses it may also be the error of the first request that
// failed.
func pending(call string, err error, requests []Request, statuses []Status) error {
	if statuses == nil || !errors.Is(err, progress.ErrStale) {
		c, err := tellSeveral(err)
		return c.orOf(requests).fail(call, err)
	}
	var c *Comm
	for i, r := range requests {
		statuses[i] = emptyStatus
		if idle, why := progress.Look(r.h); why != nil {
			statuses[i].Err = fail(call, why)
			if c == nil {
				c = r.comm()
			}
		} else if !idle && slices.Contains(requests[:i], r) {
			statuses[i].Err = badArg(call, ErrRequest, "the request is in the list twice: leave one of them out")
		} else if !idle {
			statuses[i].Err = badArg(call, ErrPending, "not completed, because another request of the call is stale, or in its list twice")
		}
	}
	return c.orOf(requests).raise(&Error{Class: ErrInStatus, Call: call, Err: err})
}
