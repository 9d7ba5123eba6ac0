package mpi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/transports"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Class is an MPI error class, or an error code of AddErrorCode (MPI-4.0 §9.4). A
// Class is an error, so errors.Is(err, ErrRank) tests the class of err.
type Class int

// Error classes. The names are MPI's, the values those of MPI-5's ABI. Classes
// that MPI does not have follow its last one, MPI_ERR_LASTCODE.
const (
	ErrBuffer      Class = 1  // MPI_ERR_BUFFER: memory that is not what the call needs
	ErrCount       Class = 2  // MPI_ERR_COUNT: invalid count
	ErrType        Class = 3  // MPI_ERR_TYPE: no datatype, one that is not committed or has been freed, a Go type that can't be sent, elements that overlap where they are received; elements that CompareAndSwap does not take; with WithTypeChecks a message of other elements than its receive
	ErrTag         Class = 4  // MPI_ERR_TAG: invalid tag
	ErrComm        Class = 5  // MPI_ERR_COMM: invalid communicator, also a freed one, here or at the receiver of a send, one of a finalized World or Session, and one that another goroutine is in a collective call on
	ErrRank        Class = 6  // MPI_ERR_RANK: invalid rank
	ErrRequest     Class = 7  // MPI_ERR_REQUEST: a request that has been completed and freed
	ErrRoot        Class = 8  // MPI_ERR_ROOT: invalid root
	ErrGroup       Class = 9  // MPI_ERR_GROUP: invalid group, also those of two Worlds in one call
	ErrOp          Class = 10 // MPI_ERR_OP: invalid operator, also one that does not fit the element type, and one that has panicked
	ErrArg         Class = 13 // MPI_ERR_ARG: any other invalid argument
	ErrTruncate    Class = 15 // MPI_ERR_TRUNCATE: message longer than the receive buffer
	ErrOther       Class = 16 // MPI_ERR_OTHER
	ErrPending     Class = 18 // MPI_ERR_PENDING: in a status, neither failed nor completed
	ErrInStatus    Class = 19 // MPI_ERR_IN_STATUS: the statuses have the errors
	ErrBase        Class = 24 // MPI_ERR_BASE: Free of memory that is not Alloc's
	ErrNoMem       Class = 39 // MPI_ERR_NO_MEM: Alloc found no memory
	ErrUnsupported Class = 55 // MPI_ERR_UNSUPPORTED_OPERATION: this machine or fabric can't

	ErrProcFailed        Class = lastCode + 1 // MPIX_ERR_PROC_FAILED: a peer has died or broken the protocol
	ErrCanceled          Class = lastCode + 2 // the operation's context ended; errors.Is finds the context's error too
	ErrRevoked           Class = lastCode + 3 // MPIX_ERR_REVOKED: the communicator has been revoked
	ErrProcFailedPending Class = lastCode + 4 // MPIX_ERR_PROC_FAILED_PENDING: a receive from AnySource may wait for a rank that has failed

	lastCode = 0x3fff // MPI_ERR_LASTCODE
)

var classNames = map[Class]string{
	ErrBuffer: "invalid buffer", ErrCount: "invalid count", ErrType: "invalid type", ErrTag: "invalid tag",
	ErrComm: "invalid communicator", ErrRank: "invalid rank", ErrRequest: "invalid request", ErrGroup: "invalid group",
	ErrRoot: "invalid root", ErrOp: "invalid operator",
	ErrTruncate: "message truncated", ErrArg: "invalid argument", ErrInStatus: "error in status", ErrPending: "pending",
	ErrNoMem: "no memory", ErrBase: "invalid base address", ErrProcFailed: "process failed",
	ErrCanceled: "canceled", ErrRevoked: "communicator revoked", ErrProcFailedPending: "process failed, receive pending", ErrUnsupported: "unsupported", ErrOther: "error",
}

func (c Class) Error() string {
	if name := predefined(c); name != "" {
		return "mpi: " + name
	}
	if text := textOf(c); text != "" {
		return text
	}
	return fmt.Sprintf("mpi: error class %d", int(c))
}

// Error is the error type of this package. errors.Is tests its class, errors.As
// finds TruncateError and the other causes.
type Error struct {
	Class Class
	Call  string // "Recv"
	Err   error  // what happened
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("mpi.%s: %v", e.Call, e.Class)
	}
	prefix := "mpi." + e.Call + ": "
	return prefix + strings.ReplaceAll(e.Err.Error(), prefix, "") // of a request or a handler of the same call
}

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's class, also the class of its code.
func (e *Error) Is(target error) bool { return target == e.Class || e.Class.Is(target) }

// fail wraps an error of the layers below; nil stays nil.
func fail(call string, err error) error {
	if err == nil {
		return nil
	}
	if mine, ok := errors.AsType[*Error](err); ok && mine.Call == call && mine.Error() == err.Error() {
		return mine
	}
	if err == fabric.ErrClosed {
		err = errFinalized
	}
	blame(err)
	return &Error{Class: classOf(err), Call: call, Err: err}
}

// ownJob is the job of a process that a launcher has started, which can join one only.
var ownJob atomic.Pointer[launch.Job] // stored by join, loaded by blame

// blame tells the launcher which rank has failed, before the program hears of that and may
// end its process: the exit code of the job is that of the first rank.
func blame(err error) {
	j := ownJob.Load()
	if j == nil {
		return
	}
	var call *cause.CallError
	var lost *cause.LostError
	var peer *fabric.Error
	var failed *comm.FailedError
	switch {
	case errors.As(err, &call):
		j.Blame(call.World)
	case errors.As(err, &lost):
		j.Blame(lost.Rank)
	case errors.As(err, &peer) && peer.HasPeer && errors.Is(err, fabric.ErrPeerDown):
		j.Blame(int(peer.Peer))
	case errors.As(err, &failed) && len(failed.Ranks) > 0:
		j.Blame(failed.Ranks[0])
	}
}

// endedError is the error of operations whose World or session has ended.
type endedError string

func (e endedError) Error() string { return string(e) }
func (endedError) Unwrap() error   { return fabric.ErrClosed }

// errFinalized is the error of operations on a World that has been finalized.
const errFinalized endedError = "the World has been finalized: complete its requests before"

func classOf(err error) Class {
	var truncated *cause.TruncateError
	var noRoom *cause.NoBufferError
	var mine *Error
	var lost *cause.LostError
	var name *transports.NameError
	var abort *AbortError
	var rank *group.RankError
	var stride *group.StrideError
	var length *cause.LengthError
	var told *cause.CallError
	var differs *cause.MismatchError
	var unmade *comm.CreationError
	var part *comm.WindowError
	switch {
	case errors.As(err, &mine):
		return mine.Class
	case errors.As(err, new(*comm.PendingError)):
		return ErrProcFailedPending
	case errors.Is(err, comm.ErrRevoked):
		return ErrRevoked
	case errors.As(err, new(*comm.FailedError)), errors.Is(err, comm.ErrNoRemote):
		return ErrProcFailed
	case errors.Is(err, comm.ErrTooMany):
		return ErrUnsupported
	case errors.As(err, &abort):
		return ErrProcAborted
	case errors.As(err, &rank):
		return ErrRank
	case errors.As(err, &name), errors.As(err, &stride):
		return ErrArg
	case errors.As(err, new(*SignatureError)):
		return ErrType
	case errors.As(err, &truncated):
		return ErrTruncate
	case errors.As(err, &length):
		return ErrCount
	case errors.As(err, &differs):
		return ErrNotSame
	case errors.As(err, new(*cause.OperatorError)):
		return ErrOp
	case errors.Is(err, comm.ErrBusy), errors.Is(err, pt2pt.ErrFreed):
		return ErrComm
	case errors.As(err, &told):
		return classTold(told.Code)
	case errors.As(err, &unmade):
		return classTold(unmade.Code)
	case errors.As(err, &part):
		return classTold(part.Code)
	case errors.As(err, new(*comm.GroupsError)), errors.As(err, new(*comm.OutsiderError)), errors.As(err, new(*comm.OverlapError)):
		return ErrGroup
	case windowClass(err) != 0:
		return windowClass(err)
	case errors.As(err, new(*comm.SpentError)):
		return ErrTag
	case errors.As(err, new(*comm.LeaderError)):
		return ErrRank
	case errors.As(err, new(*comm.HighError)):
		return ErrArg
	case partsClass(err) != 0:
		return partsClass(err)
	case errors.As(err, &noRoom), errors.Is(err, pt2pt.ErrAttached):
		return ErrBuffer
	case errors.Is(err, fabric.ErrPeerDown), errors.As(err, &lost):
		return ErrProcFailed
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ErrCanceled
	case errors.Is(err, progress.ErrStale), errors.Is(err, progress.ErrMixed), errors.Is(err, pt2pt.ErrNoMessage),
		errors.Is(err, progress.ErrActive), errors.Is(err, progress.ErrFirm), errors.Is(err, progress.ErrNotPersistent):
		return ErrRequest
	case errors.Is(err, fabric.ErrClosed):
		return ErrComm
	case errors.Is(err, transports.ErrNotAlloc):
		return ErrBase
	case errors.Is(err, fabric.ErrUnsupported):
		return ErrUnsupported
	case errors.As(err, new(*ConflictError)): // of calls that have no other error
		return ErrRMAConflict
	}
	return ErrOther
}

// classTold is the class of an error of another rank, as that rank says.
func classTold(code int32) Class {
	if c := Class(code); predefined(c) != "" {
		return c
	}
	return ErrOther
}

func badArg(call string, c Class, format string, args ...any) error {
	return &Error{Class: c, Call: call, Err: fmt.Errorf(format, args...)}
}
