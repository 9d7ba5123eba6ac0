package procs

// YieldCore is sched_yield(2). It is bounded, so the Go scheduler need not know
// of it. It is called between two switches of the core, when each line of code
// that it touches is out of the cache.
//
//go:noescape
func YieldCore()
