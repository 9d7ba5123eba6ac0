// Package compare compares two programs that print OSU tables. It runs them
// alternately, round by round, and reduces each size to both medians and the
// median of the ratios within a round.
//
// It is for the command osu-go. The speed of a shared machine drifts. So only
// the two runs of a round, one right after the other, are compared, and the
// floor (package floor) is measured before each round.
//
// run.go starts the programs, reduce.go makes a Result of their tables, text.go
// prints it and parse.go reads that back. Package page draws it. It imports
// bench/floor, bench/osufmt and bench/spread.
package compare
