//go:build !amd64 || race

package progress

// coreLocal says that there are no core-local atomics: elsewhere they would
// save nothing, and the race detector knows only the real ones.
const coreLocal = false

func takeLocal(*uint32) bool { return false }
