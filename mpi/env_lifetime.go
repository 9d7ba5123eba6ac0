package mpi

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Worlds of this process: whether there has been one, and how many have not been
// finalized.
var (
	worldsMade atomic.Bool  // stored by begin, loaded by Initialized and Finalized
	worldsOpen atomic.Int64 // added to by begin and World.mark, loaded by Finalized
)

// Initialized reports whether Init, or Run, has made a World in this process
// (MPI_Initialized, MPI-4.0 §11.2.3). It stays true after Finalize, and may be
// called at any time by any goroutine. Local.
func Initialized() bool { return worldsMade.Load() }

// Finalized reports whether this process has had a World and all it has had are
// finalized (MPI_Finalized, MPI-4.0 §11.2.3). It may be called at any time by any
// goroutine. Local.
func Finalized() bool { return worldsMade.Load() && worldsOpen.Load() == 0 }

// worlds are those that are open, in the order in which they were made, and those of Run
// until it returns.
var worlds struct {
	sync.Mutex
	list []*World
}

// begin counts a World that has been made.
func begin(w *World) {
	worldsOpen.Add(1)
	worldsMade.Store(true)
	worlds.Lock()
	defer worlds.Unlock()
	worlds.list = append(worlds.list, w)
}

// unlist takes Worlds out of the list. Of those of Run only it does so: their goroutines are
// no other World's.
func unlist(run bool, ws ...*World) {
	worlds.Lock()
	defer worlds.Unlock()
	worlds.list = slices.DeleteFunc(worlds.list, func(w *World) bool {
		return slices.Contains(ws, w) && (run || w.goroutine == "")
	})
}

// callersWorld is the World of a call that names no object: the one whose rank is the
// goroutine, else that of the lowest rank in this process; nil if there is none.
func callersWorld() *World {
	worlds.Lock()
	defer worlds.Unlock()
	me := ""
	if len(worlds.list) > 1 {
		me = goroutine()
	}
	var lowest *World
	for _, w := range worlds.list {
		switch {
		case me != "" && w.goroutine == me:
			return w
		case lowest == nil && !w.over():
			lowest = w
		}
	}
	return lowest
}

// isGoroutine makes the calling goroutine the rank of the World.
func (w *World) isGoroutine() {
	worlds.Lock()
	defer worlds.Unlock()
	w.goroutine = goroutine()
}

// goroutine names the calling goroutine as stack traces do, "goroutine 18".
func goroutine() string {
	var b [32]byte
	name, _, _ := strings.Cut(string(b[:runtime.Stack(b[:], false)]), " [")
	return name
}

// over reports whether the World has been finalized, or its rank has ended.
func (w *World) over() bool { return w.ended.Load() || w.engine.Ended() }

// mark makes the World over, and reports whether it was not before. Its communicators
// are left to the caller.
func (w *World) mark() (first bool) {
	if w.ended.Swap(true) {
		return false
	}
	w.endLife(errEnded(w))
	if w.session == nil {
		worldsOpen.Add(-1)
		unlist(false, w)
	}
	return true
}

// end makes every further call on the World fail with ErrComm, and gives the rank's
// part in its job back if nothing else uses it. It reports whether it is the first to
// do so.
func (w *World) end() (first bool, err error) {
	return w.leave(func() bool {
		delete(w.open, w)
		return w.mark()
	}, func() {
		for _, c := range w.comms.drop(w) {
			c.core.Finish(errEnded(w))
		}
	})
}

// errEnded is the error of operations that the end of their World, or session, ends.
func errEnded(w *World) error {
	if w.session != nil {
		return errSessionEnded
	}
	return errFinalized
}
