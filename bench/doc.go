// Package bench has the benchmarks of osu-go: the measurements of the OSU
// Micro-Benchmarks 7.4, made only with calls of package mpi that a user's
// program would make.
//
// It is for the command osu-go and for tests that want a benchmark's traffic.
// All lists the benchmarks, Lookup finds one by name, and Run measures it on
// every rank of a communicator; rank 0 hands the results to a Sink.
//
// Each file has one benchmark or one family. The methods are those of OSU 7.4:
// the calls that are timed, the number of warm-up iterations, the window. Where
// OSU has no such benchmark (latency_ssend, latency_mprobe, overlap, async,
// partitioned, matching, cpu, exscan, neighbor_isend) or no such option (-D struct and hand, -O) the
// method is that of the C programs in bench/peers, so that both sides of a comparison do
// the same.
//
// It imports mpi, bench/osufmt and bench/spread.
package bench
