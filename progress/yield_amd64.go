package progress

// yieldCore is sched_yield(2). It is bounded, so the Go scheduler need not be
// told; and it is called between two switches of the core, when each line of
// code that it touches is cold.
//
//go:noescape
func yieldCore()
