// Osu-go measures Weft the way the OSU Micro-Benchmarks measure an MPI, with
// their option letters and their output, so that scripts which read OSU read
// it too.
//
//	osu-go BENCH [flags]                      measure; osu-go list names them
//	osu-go compare BENCH [flags] -- COMMAND   measure against another program
//	osu-go floor                              what the machine itself costs
//
// It needs no launcher: by itself it starts its ranks on this machine, one a
// core. Started by a launcher it is one of the launcher's ranks. With --fabric
// mem the ranks are goroutines of this process.
//
// Its exit status is 0, or 1 after a run that failed (a validation with a wrong
// byte included), or 2 for a command line that makes no sense.
//
// main.go finds the subcommand, options.go is the table of the flags and
// parse.go reads them, ranks.go starts the ranks, run.go is one of them. It
// imports bench and its packages, boot and mpi.
package main
