package mpi

import (
	"sync"
	"sync/atomic"
)

// Worlds of this process: whether there ever was one, and how many have not been
// finalized.
var (
	worldsMade atomic.Bool  // stored by newWorld, loaded by Initialized and Finalized
	worldsOpen atomic.Int64 // added to by newWorld and ending.Swap, loaded by Finalized
)

// Initialized reports whether Init, or Run, has made a World in this process
// (MPI_Initialized, MPI-4.0 §11.2.3). It stays true after Finalize, and may be
// called at any time by any goroutine. Local.
func Initialized() bool { return worldsMade.Load() }

// Finalized reports whether this process has had a World and all it has had are
// finalized (MPI_Finalized, MPI-4.0 §11.2.3). It may be called at any time by any
// goroutine. Local.
func Finalized() bool { return worldsMade.Load() && worldsOpen.Load() == 0 }

// ending is whether a World has been finalized, which ends its communicators too:
// a call looks at its communicator's flag alone. Flags are stored here and by
// Comm.Free, and loaded by every call.
type ending struct {
	over  atomic.Bool
	mu    sync.Mutex
	comms map[*atomic.Bool]struct{} // the flags of communicators that are not over
}

// Load reports whether the World has been finalized.
func (e *ending) Load() bool { return e.over.Load() }

// Swap ends the World and reports whether it had been ended before.
func (e *ending) Swap(bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over.Swap(true) {
		return true
	}
	for over := range e.comms {
		over.Store(true)
	}
	e.comms = nil
	worldsOpen.Add(-1)
	return false
}

// begin counts the World.
func (e *ending) begin() {
	worldsMade.Store(true)
	worldsOpen.Add(1)
}

// comm returns the flag of a new communicator.
func (e *ending) comm() *atomic.Bool {
	over := new(atomic.Bool)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over.Load() {
		over.Store(true)
		return over
	}
	if e.comms == nil {
		e.comms = map[*atomic.Bool]struct{}{}
	}
	e.comms[over] = struct{}{}
	return over
}

// free sets the flag of a communicator and reports whether it was set before.
func (e *ending) free(over *atomic.Bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.comms, over)
	return over.Swap(true)
}
