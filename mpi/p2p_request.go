package mpi

import (
	"errors"

	"github.com/weft-mpi/weft/progress"
)

// Request is the handle of a started operation (MPI_Request, MPI-4.0 §3.7.1). It
// is completed by Wait, Test and their forms for several requests, given up by Free, or
// detached by OnComplete. The zero Request is MPI_REQUEST_NULL. Its methods are the
// functions of MPI's names: r.Wait() is Wait(&r), and r.Free() is RequestFree(&r).
//
// The calls that complete a request set the handle they are given to null,
// unless it is persistent. Another copy of the handle is then stale, and the
// error is ErrRequest. A persistent request that is not started counts as null
// where requests are completed. Any goroutine may complete a request; if two do
// at once, one gets ErrRequest. The requests of one call must belong to one
// World.
type Request struct{ h progress.Handle }

// Null reports whether r is the null request (MPI_REQUEST_NULL, MPI-4.0 §3.7.3).
// Local.
func (r Request) Null() bool { return r.h.Null() }

// Active reports whether r is an operation that is to be completed: it is not null, and not
// a persistent request that is not started (MPI-4.0 §3.7.3). It is false for a stale handle
// too. Local.
func (r Request) Active() bool {
	idle, err := progress.Look(r.h)
	return !idle && err == nil
}

// Instant reports whether the operation had completed when the call that started it
// returned, without an error: a short send, say. Such a request may be dropped instead of
// waited for. It is false for the null request. Local.
func (r Request) Instant() bool { return !r.h.Null() && r.h.Instant() }

// Wait is the function of that name (MPI-4.0 §3.7.3). Non-local.
func (r *Request) Wait() (Status, error) {
	if r == nil {
		return emptyStatus, noRequest("Wait")
	}
	res, err := progress.WaitResult(&r.h)
	if err != nil {
		st, c, err := tell(statusOf(res), err, true)
		return st, c.fail("Wait", err)
	}
	return statusOf(res), nil
}

// Test is the function of that name (MPI-4.0 §3.7.3). Local.
func (r *Request) Test() (bool, Status, error) { return Test(r) }

// Start is the function of that name (MPI-4.0 §3.9). Local.
func (r *Request) Start() error { return Start(r) }

// Cancel is the function of that name (MPI-4.0 §3.8.4). Local.
func (r *Request) Cancel() error { return Cancel(r) }

// Free is RequestFree (MPI-4.0 §3.7.3). Errors are those of RequestFree. Local.
func (r *Request) Free() error { return RequestFree(r) }

// Cancel asks for an operation to be withdrawn (MPI_Cancel, MPI-4.0 §3.8.4). The
// request must still be completed, and that is local: it does not wait for any
// other rank's calls. Its status then says whether it was Cancelled; if not, the
// operation has happened as if there had been no Cancel. A receive is cancelled
// if no message has been matched to it, a send if no receive has taken the
// message. A short standard send can't be cancelled any more when the call that
// starts it returns. An Isendrecv counts as cancelled if one of its halves was.
// Local.
//
// In one case the completion is not local: that of a synchronous send, or of one
// that was announced because of its length, if its receiver runs
// WithoutProgressThread. The receiving rank may be about to read the message
// from the sender's memory, so it has to agree. It does so in its next call, or
// at once if one of its goroutines is blocked in one.
//
// A collective operation can't be cancelled (MPI-4.0 §6.12), nor can a round of a
// partitioned one (MPI-4.1 §4.2.1): that is ErrRequest.
func Cancel(r *Request) error {
	const call = "Cancel"
	if r == nil {
		return noRequest(call)
	}
	g, ended, err := progress.Cancel(r.h)
	if err != nil || g == nil || g.Cancel == nil {
		return r.fail(call, err)
	}
	return r.fail(call, g.Cancel(ended))
}

// OnComplete detaches an operation: instead of a wait, fn is called once with
// its status and error when it has completed. The handle is set to null; that of
// a persistent request stays, and fn may start it again.
//
// fn runs on a goroutine of the library's, one such call at a time. It may make any
// call; while it blocks, later callbacks wait. A panic in it goes to the error handler
// of the request's communicator, and to the log. It fails with ErrArg if fn is nil and
// ErrRequest for a request that is null, stale or not started. Local.
func OnComplete(r *Request, fn func(Status, error)) error {
	const call = "OnComplete"
	if r == nil {
		return noRequest(call)
	}
	if fn == nil {
		return r.raise(badArg(call, ErrArg, "no function to call: RequestFree gives up a request whose end nobody is told of"))
	}
	was := *r
	return was.fail(call, progress.OnEnd(&r.h, func(end progress.Status, err error) {
		was.guard(call, func() {
			st, _, err := tell(Status(end), err, true)
			if err != nil {
				err = was.comm().failAside(call, err)
			}
			fn(st, err)
		})
	}))
}

// guard calls fn, on the goroutine of callbacks. No call is there to return a panic,
// so the log has it with its stack, whatever the error handler makes of it, and one of
// the handler, too.
func (r Request) guard(call string, fn func()) {
	err := progress.Try(fn)
	if err == nil {
		return
	}
	r.logPanic(err)
	if again := progress.Try(func() { r.comm().failAside(call, err) }); again != nil {
		r.logPanic(again)
	}
}

func (r Request) logPanic(err error) {
	var p *progress.Panic
	errors.As(err, &p)
	program, _ := r.h.Owner()
	program.(*instance).log.Error("a callback has panicked", "err", err, "stack", string(p.Stack))
}

// RequestStatus is Test that leaves the request as it is
// (MPI_Request_get_status, MPI-4.0 §3.7.6). Errors are those of Wait. Local.
func RequestStatus(r Request) (bool, Status, error) {
	ended, end, err := progress.Peek(r.h)
	st := Status(end)
	if err != nil {
		st, _, err = tell(st, err, false)
	}
	return ended, st, r.fail("RequestStatus", err)
}

// Wait blocks until the operation has completed and sets the handle to null
// (MPI_Wait, MPI-4.0 §3.7.3). A null handle gives an empty status at once. A receive from
// AnySource that may wait for a rank that has died fails with ErrProcFailedPending, and
// stays (AckFailed); the other calls that complete requests do the same. A handle that
// is stale is ErrRequest; other errors are the operation's. Non-local, except for
// buffered sends, ready sends and matched receives.
func Wait(r *Request) (Status, error) { return r.Wait() }

// Test reports whether the operation has completed, and if so does as Wait
// (MPI_Test, MPI-4.0 §3.7.3). Errors are those of Wait. Local.
func Test(r *Request) (bool, Status, error) {
	if r == nil {
		return false, emptyStatus, noRequest("Test")
	}
	ended, st, err := progress.Test(&r.h)
	if err != nil {
		st, c, err := tell(Status(st), err, true)
		return ended, st, c.fail("Test", err)
	}
	return ended, Status(st), nil
}

// noRequest is the error for a nil pointer to a handle.
func noRequest(call string) error {
	return badArg(call, ErrRequest, "the pointer to the request is nil: give the address of a Request, which may be null")
}
