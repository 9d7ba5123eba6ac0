package mpi

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/wire"
)

// began is the time from which Wtime counts.
var began = time.Now()

// Wtime is the time in seconds since a fixed time in the past (MPI_Wtime,
// MPI-4.0 §9.6). The clock never goes back. It is the process's own: times of
// different ranks can't be compared. It may be called before Init and after
// Finalize. Local.
func Wtime() float64 { return time.Since(began).Seconds() }

// Wtick is the resolution of Wtime in seconds (MPI_Wtick, MPI-4.0 §9.6). Local.
func Wtick() float64 {
	var t unix.Timespec
	if err := unix.ClockGetres(unix.CLOCK_MONOTONIC, &t); err != nil || t.Nano() <= 0 {
		return time.Nanosecond.Seconds()
	}
	return time.Duration(t.Nano()).Seconds()
}

// ProcessorName is the name of the machine that the process runs on
// (MPI_Get_processor_name, MPI-4.0 §9.1.2). The error is that of the system call, of
// class ErrOther. It may be called before Init and after Finalize. Local.
func ProcessorName() (string, error) {
	name, err := os.Hostname()
	return name, raiseSelf(fail("ProcessorName", err))
}

// Version is the version of the MPI standard whose names and semantics this
// package follows, for the calls it has: 4, 0 (MPI_Get_version, MPI-4.0 §9.1.1).
// It may be called before Init and after Finalize. Local.
func Version() (version, subversion int) { return 4, 0 }

// WireVersion is the version of the packets that ranks exchange. Init fails where
// ranks of a job have different ones.
const WireVersion = wireVersion

const wireVersion = wire.Version

const module = "github.com/weft-mpi/weft"

// LibraryVersion names this build of Weft and its version
// (MPI_Get_library_version, MPI-4.0 §9.1.1). It may be called before Init and
// after Finalize. Local.
func LibraryVersion() string {
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if m.Path == module && m.Version != "" {
				version = m.Version
			}
		}
	}
	return fmt.Sprintf("Weft %s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
