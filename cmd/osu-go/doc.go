// Osu-go measures Weft the way the OSU Micro-Benchmarks measure an MPI, with
// their option letters and their output: scripts that read OSU's output read
// this too.
//
//	osu-go BENCH [flags]                      measure; osu-go list names them
//	osu-go compare BENCH [flags] -- COMMAND   measure against another program
//	osu-go report DIR                         draw what --save DIR has kept
//	osu-go floor                              what the machine itself costs
//
// Without a launcher it starts its ranks on this machine by itself, each bound
// to a core. Started by a launcher it is one of the launcher's ranks. With
// --fabric mem the ranks are goroutines of this process.
//
// Its exit status is 0, 1 after a run that failed (also by its validation), 2
// for a wrong command line, or 128+n if signal n has stopped it or killed a
// rank.
//
// main.go finds the subcommand, options.go is the table of the flags and
// parse.go reads them, ranks.go starts the ranks and runs the benchmark on
// each, document.go and save.go keep what was measured. compare.go, report.go,
// floor.go and list.go are the other subcommands. It imports bench and its
// packages, launch and mpi.
package main
