//go:build race

package bell

// The race detector makes system calls allocate.
const raceEnabled = true
