// Package procs is how a process shares the processors: it asks the kernel's
// scheduler for what a thread needs, and it is the one place that changes how many
// processors (P) the Go runtime has, GOMAXPROCS: package progress adds some for the
// thread of a rank that computes, fabric/shm borrows one for a measurement. Both may
// come at once, and neither undoes what the other has done. It imports nothing of
// Weft, and its functions are safe for concurrent use.
package procs

import (
	"os"
	"runtime"
	"sync"
)

var (
	mu    sync.Mutex
	added bool // by Add
	lent  int  // Borrows that have not been given back
	lack  int  // processors that were added for them
)

// Add gives the process n more processors for good, once: later calls add none.
// A number that the user has set (GOMAXPROCS in the environment) stays. It reports
// whether the process has more than one, borrowed ones apart. Local.
func Add(n int) (several bool) {
	mu.Lock()
	defer mu.Unlock()
	procs := runtime.GOMAXPROCS(0)
	if !added && os.Getenv("GOMAXPROCS") == "" {
		added = true
		procs += n
		runtime.GOMAXPROCS(procs)
	}
	return procs-lack > 1
}

// Borrow makes the process have n processors at least, until giveBack is called,
// once. Then the number is what it would be without. Local.
func Borrow(n int) (giveBack func()) {
	mu.Lock()
	defer mu.Unlock()
	if have := runtime.GOMAXPROCS(0); have < n {
		lack += n - have
		runtime.GOMAXPROCS(n)
	}
	lent++
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if lent--; lent > 0 || lack == 0 {
			return
		}
		procs := max(runtime.GOMAXPROCS(0)-lack, 1)
		lack = 0
		if procs == 1 && runtime.NumCPU() == 1 && os.Getenv("GOMAXPROCS") == "" {
			runtime.SetDefaultGOMAXPROCS() // the runtime goes on following the number of cores
		} else {
			runtime.GOMAXPROCS(procs)
		}
	}
}
