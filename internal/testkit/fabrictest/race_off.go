//go:build !race

package fabrictest

// raceEnabled says that the race detector is on, under which allocation counts
// mean nothing.
const raceEnabled = false
