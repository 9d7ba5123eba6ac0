package mpi

import "sync/atomic"

// Worlds of this process: whether there has been one, and how many have not been
// finalized.
var (
	worldsMade atomic.Bool  // stored by begin, loaded by Initialized and Finalized
	worldsOpen atomic.Int64 // added to by begin and World.end, loaded by Finalized
)

// Initialized reports whether Init, or Run, has made a World in this process
// (MPI_Initialized, MPI-4.0 §11.2.3). It stays true after Finalize, and may be
// called at any time by any goroutine. Local.
func Initialized() bool { return worldsMade.Load() }

// Finalized reports whether this process has had a World and all it has had are
// finalized (MPI_Finalized, MPI-4.0 §11.2.3). It may be called at any time by any
// goroutine. Local.
func Finalized() bool { return worldsMade.Load() && worldsOpen.Load() == 0 }

// begin counts a World that has been made.
func begin() {
	worldsOpen.Add(1)
	worldsMade.Store(true)
}

// end makes every further call on the World fail with ErrComm, and reports
// whether it is the first to do so.
func (w *World) end() (first bool) {
	if first = w.engine.End(); first {
		worldsOpen.Add(-1)
	}
	return first
}
