// Package compare measures two programs against each other that print OSU
// tables: it runs them in turns, round by round, and reduces each size to both
// medians and the median of the ratios within a round.
//
// It is for the command osu-go. Two runs one after the other say little on a
// machine whose speed drifts; the ratio of two neighbours does. The floor
// (package floor) is taken between the rounds for the same reason.
//
// run.go starts the programs, reduce.go makes a Result of their tables, text.go
// prints it and plot.go draws it. It imports bench/floor, bench/osufmt and
// bench/spread.
package compare
