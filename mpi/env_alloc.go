package mpi

import (
	"errors"
	"math"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/transports"
)

// Alloc returns n zeroed elements that local ranks reach without a system call
// (MPI_Alloc_mem, MPI-4.0 §9.2). The memory is not the garbage collector's: it
// is the caller's until Free. It takes whole pages. It fails with ErrCount for an n
// that is negative or too large, and ErrNoMem if there is no memory. Local.
func Alloc[T Scalar](n int) ([]T, error) {
	if n < 0 || n > math.MaxInt/sizeOf[T]() {
		return nil, raiseSelf(badArg("Alloc", ErrCount, "%d elements of %d bytes", n, sizeOf[T]()))
	}
	b, err := transports.Alloc(n * sizeOf[T]())
	if err != nil {
		return nil, raiseSelf(allocError("Alloc", err))
	}
	return ofBytes[T](b), nil
}

// allocError is the error of a call that could not get memory.
func allocError(call string, err error) error {
	class := classOf(err)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM) || class == ErrOther {
		class = ErrNoMem
	}
	return &Error{Class: class, Call: call, Err: err}
}

// Free gives back memory of Alloc: buf is the slice that Alloc returned, or one
// that starts at its beginning (MPI_Free_mem, MPI-4.0 §9.2). No operation may
// still use it. Other memory is ErrBase. Local.
func Free[T Scalar](buf []T) error {
	return raiseSelf(fail("Free", transports.Free(bytesOf(buf))))
}
