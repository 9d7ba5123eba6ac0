package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// Benchmark is one measurement, known by its name. The values that All and
// Lookup return are shared and must not be changed; they are safe for
// concurrent use.
type Benchmark struct {
	Name    string   // "latency"
	Title   string   // as OSU prints it: "OSU MPI Latency Test"
	Summary string   // one line for a list
	Own     bool     // not one of OSU's; matching and cpu set Title.Own themselves
	Notes   []string // what its columns mean, where their names do not say it
	Flags   string   // letters of its options; B is -b of matching, K and M are -k and -w of async, G is -t of partitioned, C is -w of the one-sided ones, S and A are their -s, Y and I are their -T

	MinRanks, MaxRanks int // MaxRanks 0: no limit
	EvenRanks          bool
	Defaults           Options

	run func(*job) error
}

// flagsPt2pt are the options of every point-to-point benchmark.
const flagsPt2pt = "mixcuTzb"

// flagsOneSided are the options of every one-sided benchmark.
const flagsOneSided = "ixczC"

// flagsCollective are the options of every collective benchmark but barrier.
const flagsCollective = "mixcuTzf"

// benchmarks are in the order of osu-go list.
var benchmarks = []*Benchmark{
	{
		Name: "latency", Title: "OSU MPI Latency Test", Flags: flagsPt2pt + "fD",
		Summary:  "half round trip of a blocking ping-pong",
		MinRanks: 2, MaxRanks: 2, Defaults: latencyDefaults, run: runLatency,
	},
	{
		Name: "bw", Title: "OSU MPI Bandwidth Test", Flags: flagsPt2pt + "WD",
		Summary:  "a window of non-blocking sends, then one acknowledgement",
		MinRanks: 2, MaxRanks: 2, Defaults: bandwidthDefaults, run: runBandwidth,
	},
	{
		Name: "bibw", Title: "OSU MPI Bi-Directional Bandwidth Test", Flags: flagsPt2pt + "WD",
		Summary:  "a window of non-blocking sends in both directions at once",
		MinRanks: 2, MaxRanks: 2, Defaults: bandwidthDefaults, run: runBidirectional,
	},
	{
		Name: "mbw_mr", Title: "OSU MPI Multiple Bandwidth / Message Rate Test", Flags: flagsPt2pt + "WR",
		Summary:  "bandwidth and message rate of all pairs of ranks together",
		MinRanks: 2, Defaults: messageRateDefaults, run: runMessageRate,
	},
	{
		Name: "multi_lat", Title: "OSU MPI Multi Latency Test", Flags: flagsPt2pt + "f",
		Summary:  "ping-pong of all pairs of ranks at once",
		MinRanks: 2, EvenRanks: true, Defaults: latencyDefaults, run: runMultiLatency,
	},
	{
		Name: "latency_persistent", Title: "OSU MPI Latency Persistent Test", Flags: flagsPt2pt + "f",
		Summary:  "latency by persistent requests",
		MinRanks: 2, MaxRanks: 2, Defaults: latencyDefaults, run: runLatencyPersistent,
	},
	{
		Name: "bw_persistent", Title: "OSU MPI Bandwidth Persistent Test", Flags: flagsPt2pt + "W",
		Summary:  "bw by persistent requests",
		MinRanks: 2, MaxRanks: 2, Defaults: bandwidthDefaults, run: runBandwidthPersistent,
	},
	{
		Name: "bibw_persistent", Title: "OSU MPI Bi-Directional Bandwidth Persistent Test", Flags: flagsPt2pt + "W",
		Summary:  "bibw by persistent requests",
		MinRanks: 2, MaxRanks: 2, Defaults: bandwidthDefaults, run: runBidirectionalPersistent,
	},
	{
		Name: "latency_ssend", Title: "Weft MPI Ssend Latency Test", Own: true, Flags: flagsPt2pt + "f",
		Summary:  "latency by synchronous sends",
		MinRanks: 2, MaxRanks: 2, Defaults: latencyDefaults, run: runSsend,
	},
	{
		Name: "latency_mprobe", Title: "Weft MPI Mprobe Latency Test", Own: true, Flags: flagsPt2pt + "f",
		Summary:  "latency by matched probes and their receives",
		MinRanks: 2, MaxRanks: 2, Defaults: latencyDefaults, run: runMprobe,
	},
	{
		Name: "overlap", Title: "Weft MPI Overlap Test", Own: true, Flags: "mixcTbkw",
		Summary: "share of a transfer that goes on while ranks compute",
		Notes: []string{
			"Overall: the receiver's time from Irecv over the work to the end of Wait",
			"Compute: its time for the work alone, -w times Pure Comm.",
			"Pure Comm.: its time from Irecv to the end of Wait with no work",
			"Overlap: 100 (1 - (Overall - Compute) / Pure Comm.), at least 0",
		},
		MinRanks: 2, MaxRanks: 2, Defaults: overlapDefaults, run: runOverlap,
	},
	{
		Name: "async", Title: "Weft MPI Asynchronous Progress Test", Own: true, Flags: "mixczKM",
		Summary: "time of an operation towards a rank that computes",
		Notes: []string{
			"Rank 1 has posted the receive and computes without calls, -w ms at a time.",
			"Median, Max: rank 0's times from before the operation to its end",
			"-k send is of interest where it is not eager: it ends at once there.",
			"Sizes grow eight times from the smallest to the largest.",
		},
		MinRanks: 2, MaxRanks: 2, Defaults: asyncDefaults, run: runAsync,
	},
	{
		Name: "partitioned", Title: "Weft MPI Partitioned Test", Own: true, Flags: "mixcPG",
		Summary: "partitioned messages, with all partitions at once and with a late one",
		Notes: []string{
			"Sizes are of the whole message; those that -p does not divide are left out.",
			"Round: half of a ping-pong, all partitions ready at once",
			"Plain, One Part: the same by plain persistent requests: the whole, and size/p bytes",
			"Last: from the Pready of the last partition, 1 ms late, to the receiver's end",
			"Plain Last: from the Start of a plain persistent send, 1 ms late, to the same",
			"Perceived: size / Last. Last and Plain Last are medians.",
		},
		MinRanks: 2, MaxRanks: 2, Defaults: partitionedDefaults, run: runPartitioned,
	},
	{
		Name: "latency_mt", Title: "OSU MPI Multi-threaded Latency Test", Flags: "mixtcuTzf",
		Summary:  "ping-pong of many goroutines in each rank",
		MinRanks: 2, MaxRanks: 2, Defaults: threadedDefaults, run: runThreaded,
	},
	{
		Name: "barrier", Title: "OSU MPI Barrier Latency Test", Flags: "fixz",
		Summary:  "a barrier of all ranks",
		MinRanks: 2, Defaults: barrierDefaults, run: runBarrier,
	},
	{
		Name: "allreduce", Title: "OSU MPI Allreduce Latency Test", Flags: flagsCollective,
		Summary:  "a sum over all ranks, for all of them",
		MinRanks: 2, Defaults: reductionDefaults, run: runCollective,
	},
	{
		Name: "bcast", Title: "OSU MPI Broadcast Latency Test", Flags: flagsCollective,
		Summary:  "a message of one rank to all",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "reduce", Title: "OSU MPI Reduce Latency Test", Flags: flagsCollective,
		Summary:  "a sum over all ranks, for one of them",
		MinRanks: 2, Defaults: reductionDefaults, run: runCollective,
	},
	{
		Name: "gather", Title: "OSU MPI Gather Latency Test", Flags: flagsCollective,
		Summary:  "a block of each rank to one rank",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "scatter", Title: "OSU MPI Scatter Latency Test", Flags: flagsCollective,
		Summary:  "a block to each rank from one rank",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "allgather", Title: "OSU MPI Allgather Latency Test", Flags: flagsCollective,
		Summary:  "a block of each rank to all ranks",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "alltoall", Title: "OSU MPI All-to-All Personalized Exchange Latency Test", Flags: flagsCollective,
		Summary:  "a block of each rank to each rank",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "exscan", Title: "Weft MPI Exscan Latency Test", Own: true, Flags: flagsCollective,
		Summary:  "a sum over the ranks before each rank",
		MinRanks: 2, Defaults: reductionDefaults, run: runCollective,
	},
	{
		Name: "agree", Title: "Weft MPI Agree Latency Test", Own: true, Flags: "fixz",
		Summary:  "an agreement of all ranks, none of which has failed",
		MinRanks: 2, Defaults: agreeDefaults, run: runCollective,
	},
	{
		Name: "put_latency", Title: "OSU MPI_Put Latency Test", Flags: flagsOneSided + "mS",
		Summary:  "a put and its synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: oneSidedDefaults, run: runOneSidedLatency,
	},
	{
		Name: "get_latency", Title: "OSU MPI_Get latency Test", Flags: flagsOneSided + "mS",
		Summary:  "a get and its synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: oneSidedDefaults, run: runOneSidedLatency,
	},
	{
		Name: "put_bw", Title: "OSU MPI_Put Bandwidth Test", Flags: flagsOneSided + "mSW",
		Summary:  "a window of puts, then one synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: oneSidedBandwidthDefaults, run: runOneSidedBandwidth,
	},
	{
		Name: "get_bw", Title: "OSU MPI_Get Bandwidth Test", Flags: flagsOneSided + "mSW",
		Summary:  "a window of gets, then one synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: oneSidedBandwidthDefaults, run: runOneSidedBandwidth,
	},
	{
		Name: "put_bibw", Title: "OSU MPI_Put Bi-directional Bandwidth Test", Flags: flagsOneSided + "mAW",
		Summary:  "a window of puts in both directions at once",
		MinRanks: 2, MaxRanks: 2, Defaults: bothWaysDefaults, run: runPutBothWays,
	},
	{
		Name: "acc_latency", Title: "OSU MPI_Accumulate latency Test", Flags: flagsOneSided + "mSY",
		Summary:  "an accumulate (a sum) and its synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: accumulateDefaults, run: runOneSidedLatency,
	},
	{
		Name: "get_acc_latency", Title: "OSU MPI_Get_accumulate latency Test", Flags: flagsOneSided + "mSY",
		Summary:  "the same with the old values fetched",
		MinRanks: 2, MaxRanks: 2, Defaults: getAccumulateDefaults, run: runOneSidedLatency,
	},
	{
		Name: "fop_latency", Title: "OSU MPI_Fetch_and_op latency Test", Flags: flagsOneSided + "SY",
		Summary:  "a fetch-and-op (a sum) of one element and its synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: atomicDefaults, run: runOneSidedLatency,
	},
	{
		Name: "cas_latency", Title: "OSU MPI_Compare_and_swap latency Test", Flags: flagsOneSided + "SI",
		Summary:  "a compare-and-swap of one element and its synchronization",
		MinRanks: 2, MaxRanks: 2, Defaults: atomicDefaults, run: runOneSidedLatency,
	},
	{
		Name: "matching", Title: "Weft MPI Matching Test", Flags: "mixqB",
		Summary:  "finding one message in a queue of -m others",
		MinRanks: 2, MaxRanks: 2, Defaults: matchingDefaults, run: runMatching,
	},
	{
		Name: "cpu", Title: "Weft MPI Idle CPU Test", Flags: "s",
		Summary:  "share of a core that a rank uses while it waits in Recv",
		MinRanks: 2, MaxRanks: 2, Defaults: cpuDefaults, run: runCPU,
	},
}

// All returns the benchmarks in the order of osu-go list.
func All() []*Benchmark { return slices.Clone(benchmarks) }

// Lookup returns the benchmark of that name.
func Lookup(name string) (*Benchmark, bool) {
	i := slices.IndexFunc(benchmarks, func(b *Benchmark) bool { return b.Name == name })
	if i < 0 {
		return nil, false
	}
	return benchmarks[i], true
}

// CheckRanks returns nil if the benchmark runs on n ranks, and otherwise an
// error with the numbers that it runs on.
func (b *Benchmark) CheckRanks(n int) error {
	switch {
	case b.MinRanks == b.MaxRanks && n != b.MinRanks:
		return fmt.Errorf("%s runs on exactly %d ranks, not %d", b.Name, b.MinRanks, n)
	case n < b.MinRanks:
		return fmt.Errorf("%s needs at least %d ranks, not %d", b.Name, b.MinRanks, n)
	case b.EvenRanks && n%2 != 0:
		return fmt.Errorf("%s runs pairs of ranks: %d is odd", b.Name, n)
	}
	return nil
}

// Sink takes the results of a benchmark on rank 0: Title once, then for each
// datatype a Section and its Rows. Line is for text outside the tables.
// *osufmt.Writer and *osufmt.Collector are Sinks.
type Sink interface {
	Title(osufmt.Title) error
	Section(osufmt.Section) error
	Row(osufmt.Row) error
	Line(string) error
}

// Progress is called on rank 0 before each size is measured, outside the
// measured time. step counts the sizes from 0; steps is their number.
type Progress func(size, step, steps int)

// Run measures b over c. Every rank of c calls it with the same options; sink
// and progress are used on rank 0 only, and progress may be nil. It blocks
// until this rank's part is done, and returns the first error of this rank or,
// after a failed validation, ErrValidation on every rank.
func (b *Benchmark) Run(c *mpi.Comm, o Options, sink Sink, progress Progress) error {
	if err := b.CheckRanks(c.Size()); err != nil {
		return err
	}
	if err := o.Check(); err != nil {
		return err
	}
	if o.Derived.Kind != NotDerived && !strings.Contains(b.Flags, "D") {
		return fmt.Errorf("%s has no derived datatypes (-D)", b.Name)
	}
	if !o.Validate {
		o.ValidationWarmup = 0
	}
	if progress == nil {
		progress = func(int, int, int) {}
	}
	return b.run(&job{Benchmark: b, o: o, c: c, sink: sink, progress: progress})
}
