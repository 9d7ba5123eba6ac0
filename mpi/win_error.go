package mpi

import (
	"errors"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/rma"
)

// windowClass is the class of an error of windows, or 0.
func windowClass(err error) Class {
	var sync *rma.SyncError
	switch {
	case errors.As(err, &sync) && sync.Freed:
		return ErrWin
	case sync != nil:
		return ErrRMASync
	case errors.As(err, new(*rma.AssertError)):
		return ErrAssert
	case errors.As(err, new(*rma.RangeError)):
		return ErrRMARange
	case errors.As(err, new(*rma.EndedError)):
		return ErrWin
	case errors.As(err, new(*rma.UnknownTypeError)):
		return ErrIntern
	case errors.As(err, new(*rma.AttachError)):
		return ErrRMAAttach
	case errors.As(err, new(*rma.CompareError)):
		return ErrType
	case errors.As(err, new(*rma.LockError)):
		return ErrProcFailed
	case errors.Is(err, rma.ErrTypeTooLong):
		return ErrType
	case errors.Is(err, rma.ErrModels):
		return ErrNotSame
	case errors.Is(err, comm.ErrUnshared):
		return ErrRMAShared
	case errors.Is(err, comm.ErrTooLong):
		return ErrSize
	}
	return 0
}

// explain raises why the window can't be used.
func (w *Win) explain(call string) error {
	switch {
	case w == nil || w.core == nil:
		return badArg(call, ErrWin, "the window is nil: take what WinAllocate, say, has returned")
	case w.c.w.over():
		return w.c.w.finalized(call)
	}
	return w.raise(badArg(call, ErrWin, "%s has been freed: make a new one", w.called()))
}

// raise has the window's error handler see an error.
func (w *Win) raise(err error) error {
	if w == nil || w.c == nil {
		return err
	}
	return w.c.raise(err)
}

// fail raises an error of the layers below; nil stays nil.
func (w *Win) fail(call string, err error) error {
	if err == nil || w == nil || w.c == nil {
		return err
	}
	return w.c.fail(call, err)
}

// null is the request of an operation with ProcNull.
func (w *Win) null() Request { return w.c.request(w.c.p2p.Null()) }
