package mpi

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// ThreadLevel says which threads may make calls, with the values of MPI-5's ABI.
type ThreadLevel int

// Thread levels, each more than the one before.
const (
	ThreadSingle     ThreadLevel = 0    // the process has one thread (MPI_THREAD_SINGLE, MPI-4.0 §11.2.1)
	ThreadFunneled   ThreadLevel = 1024 // the main thread makes all calls (MPI_THREAD_FUNNELED, MPI-4.0 §11.2.1)
	ThreadSerialized ThreadLevel = 2048 // one thread at a time makes calls (MPI_THREAD_SERIALIZED, MPI-4.0 §11.2.1)
	ThreadMultiple   ThreadLevel = 4096 // any thread may make calls at any time (MPI_THREAD_MULTIPLE, MPI-4.0 §11.2.1)
)

// String is MPI's name of the level.
func (l ThreadLevel) String() string {
	switch l {
	case ThreadSingle:
		return "MPI_THREAD_SINGLE"
	case ThreadFunneled:
		return "MPI_THREAD_FUNNELED"
	case ThreadSerialized:
		return "MPI_THREAD_SERIALIZED"
	case ThreadMultiple:
		return "MPI_THREAD_MULTIPLE"
	}
	return fmt.Sprintf("thread level %d", int(l))
}

// QueryThread is the thread level of the library, ThreadMultiple: any goroutine
// may make calls at any time (MPI_Query_thread, MPI-4.0 §11.2.1). It may be called
// before Init and after Finalize. Local.
func QueryThread() ThreadLevel { return ThreadMultiple }

// IsThreadMain reports whether the caller runs on the operating-system thread that
// called Init (MPI_Is_thread_main, MPI-4.0 §11.2.1), or Run where the ranks are
// goroutines. A goroutine changes its thread at any time, unless it has called
// runtime.LockOSThread: without that before Init the result says nothing. It is
// false if w is nil. Local.
func (w *World) IsThreadMain() bool { return w != nil && w.thread != 0 && w.thread == unix.Gettid() }
