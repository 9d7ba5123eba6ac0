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
	Flags   string   // letters of its options; B is -b of matching, K and M are -k and -w of async, G is -t of partitioned, C is -w of the one-sided ones, S and A are their -s, Y and I are their -T, E is -D without hand, of the collective ones and of puts and gets

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
var benchmarks = slices.Concat(pointToPoint, collectives, nonblocking(), persistents(), others)

var pointToPoint = []*Benchmark{
	pair("latency", "OSU MPI Latency Test", flagsPt2pt+"fD", "half round trip of a blocking ping-pong", latencyDefaults, runLatency),
	pair("bw", "OSU MPI Bandwidth Test", flagsPt2pt+"WD", "a window of non-blocking sends, then one acknowledgement", bandwidthDefaults, runBandwidth),
	pair("bibw", "OSU MPI Bi-Directional Bandwidth Test", flagsPt2pt+"WD", "a window of non-blocking sends in both directions at once", bandwidthDefaults, runBidirectional),
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
	pair("latency_persistent", "OSU MPI Latency Persistent Test", flagsPt2pt+"f", "latency by persistent requests", latencyDefaults, runLatencyPersistent),
	pair("bw_persistent", "OSU MPI Bandwidth Persistent Test", flagsPt2pt+"W", "bw by persistent requests", bandwidthDefaults, runBandwidthPersistent),
	pair("bibw_persistent", "OSU MPI Bi-Directional Bandwidth Persistent Test", flagsPt2pt+"W", "bibw by persistent requests", bandwidthDefaults, runBidirectionalPersistent),
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
	pair("latency_mt", "OSU MPI Multi-threaded Latency Test", "mixtcuTzf", "ping-pong of many goroutines in each rank", threadedDefaults, runThreaded),
}

// collectives are those of OSU.
var collectives = []*Benchmark{
	{
		Name: "barrier", Title: "OSU MPI Barrier Latency Test", Flags: "fixz",
		Summary:  "a barrier of all ranks",
		MinRanks: 2, Defaults: barrierDefaults, run: runBarrier,
	},
	collectiveOf("allreduce", "Allreduce", "EO", "a sum over all ranks, for all of them", reductionDefaults),
	collectiveOf("bcast", "Broadcast", "E", "a message of one rank to all", collectiveDefaults),
	collectiveOf("reduce", "Reduce", "EO", "a sum over all ranks, for one of them", reductionDefaults),
	collectiveOf("gather", "Gather", "E", "a block of each rank to one rank", collectiveDefaults),
	collectiveOf("scatter", "Scatter", "E", "a block to each rank from one rank", collectiveDefaults),
	collectiveOf("allgather", "Allgather", "E", "a block of each rank to all ranks", collectiveDefaults),
	collectiveOf("alltoall", "All-to-All Personalized Exchange", "E", "a block of each rank to each rank", collectiveDefaults),
	collectiveOf("alltoallw", "All-to-Allw Personalized Exchange", "E", "alltoall with a datatype for each rank", collectiveDefaults),
	collectiveOf("reduce_scatter", "Reduce_scatter", "", "a sum over all ranks, a part of it for each", reductionDefaults),
	collectiveOf("neighbor_allgather", "Neighborhood Allgather", "E", "a block to all four neighbors on a periodic grid", collectiveDefaults),
	collectiveOf("neighbor_allgatherv", "Neighborhood Allgatherv", "E", "neighbor_allgather with a count and a displacement for each", collectiveDefaults),
	collectiveOf("neighbor_alltoall", "Neighborhood All-to-All", "E", "a block to each of four neighbors on a periodic grid", collectiveDefaults),
	collectiveOf("neighbor_alltoallv", "Neighborhood All-to-Allv", "E", "neighbor_alltoall with a count and a displacement for each", collectiveDefaults),
	collectiveOf("neighbor_alltoallw", "Neighborhood All-to-Allw", "E", "neighbor_alltoall with a datatype for each neighbor", collectiveDefaults),
}

var exscan = &Benchmark{
	Name: "exscan", Title: "Weft MPI Exscan Latency Test", Own: true, Flags: flagsCollective + "E",
	Summary:  "a sum over the ranks before each rank",
	MinRanks: 2, Defaults: reductionDefaults, run: runCollective,
}

var others = []*Benchmark{
	exscan,
	{
		Name: "neighbor_isend", Title: "Weft MPI Neighborhood Isend Latency Test", Own: true, Flags: flagsCollective,
		Summary:  "what neighbor_alltoall moves, by Irecv, Isend and Waitall",
		MinRanks: 2, Defaults: collectiveDefaults, run: runCollective,
	},
	{
		Name: "agree", Title: "Weft MPI Agree Latency Test", Own: true, Flags: "fixz",
		Summary:  "an agreement of all ranks, none of which has failed",
		MinRanks: 2, Defaults: agreeDefaults, run: runCollective,
	},
	pair("put_latency", "OSU MPI_Put Latency Test", flagsOneSided+"mSE", "a put and its synchronization", oneSidedDefaults, runOneSidedLatency),
	pair("get_latency", "OSU MPI_Get latency Test", flagsOneSided+"mSE", "a get and its synchronization", oneSidedDefaults, runOneSidedLatency),
	pair("put_bw", "OSU MPI_Put Bandwidth Test", flagsOneSided+"mSWE", "a window of puts, then one synchronization", oneSidedBandwidthDefaults, runOneSidedBandwidth),
	pair("get_bw", "OSU MPI_Get Bandwidth Test", flagsOneSided+"mSWE", "a window of gets, then one synchronization", oneSidedBandwidthDefaults, runOneSidedBandwidth),
	pair("put_bibw", "OSU MPI_Put Bi-directional Bandwidth Test", flagsOneSided+"mAWE", "a window of puts in both directions at once", bothWaysDefaults, runPutBothWays),
	pair("acc_latency", "OSU MPI_Accumulate latency Test", flagsOneSided+"mSY", "an accumulate (a sum) and its synchronization", accumulateDefaults, runOneSidedLatency),
	pair("get_acc_latency", "OSU MPI_Get_accumulate latency Test", flagsOneSided+"mSY", "the same with the old values fetched", getAccumulateDefaults, runOneSidedLatency),
	pair("fop_latency", "OSU MPI_Fetch_and_op latency Test", flagsOneSided+"SY", "a fetch-and-op (a sum) of one element and its synchronization", atomicDefaults, runOneSidedLatency),
	pair("cas_latency", "OSU MPI_Compare_and_swap latency Test", flagsOneSided+"SI", "a compare-and-swap of one element and its synchronization", atomicDefaults, runOneSidedLatency),
	pair("matching", "Weft MPI Matching Test", "mixqB", "finding one message in a queue of -m others", matchingDefaults, runMatching),
	pair("cpu", "Weft MPI Idle CPU Test", "s", "share of a core that a rank uses while it waits in Recv", cpuDefaults, runCPU),
}

// pair is a benchmark of two ranks.
func pair(name, title, flags, summary string, defaults Options, run func(*job) error) *Benchmark {
	return &Benchmark{Name: name, Title: title, Flags: flags, Summary: summary, MinRanks: 2, MaxRanks: 2, Defaults: defaults, run: run}
}

// collectiveOf is one of OSU's benchmarks of a collective call.
func collectiveOf(name, call, flags, summary string, defaults Options) *Benchmark {
	return &Benchmark{
		Name: name, Title: "OSU MPI " + call + " Latency Test", Flags: flagsCollective + flags,
		Summary: summary, MinRanks: 2, Defaults: defaults, run: runCollective,
	}
}

// nonblocking are OSU's benchmarks of the non-blocking forms of the collective calls.
func nonblocking() (all []*Benchmark) {
	for _, b := range collectives {
		i := *b
		i.Name, i.Summary = "i"+b.Name, b.Name+" during which all ranks compute"
		i.Title = strings.Replace(b.Title, "MPI", "MPI Non-blocking", 1)
		i.Flags = strings.Map(func(letter rune) rune {
			if strings.ContainsRune("fzb", letter) {
				return -1
			}
			return letter
		}, b.Flags)
		switch b.Name {
		case "barrier":
			i.run = runIbarrier
		case "alltoall":
			i.Title = "OSU MPI Non-blocking All-to-All Latency Test" // so in OSU
		}
		all = append(all, &i)
	}
	return all
}

// persistents are the benchmarks of the persistent forms of the collective calls. OSU has
// none of exscan and of neighborhoods.
func persistents() (all []*Benchmark) {
	for _, b := range slices.Concat(collectives, []*Benchmark{exscan}) {
		p := *b
		p.Name, p.Summary = b.Name+"_persistent", b.Name+" by a persistent request"
		p.Title = strings.Replace(b.Title, "Latency", "Persistent Latency", 1)
		switch {
		case b.Name == "barrier":
			p.run = runBarrierPersistent
		case b.neighborhood():
			p.Own, p.Title = true, strings.Replace(p.Title, "OSU", "Weft", 1)
		}
		all = append(all, &p)
	}
	return all
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

// Check returns an error if an option is invalid, whatever the benchmark or for it.
func (b *Benchmark) Check(o *Options) error {
	kind := o.Derived.Kind
	switch {
	case kind != NotDerived && !strings.ContainsAny(b.Flags, "DE"):
		return fmt.Errorf("%s has no derived datatypes (-D)", b.Name)
	case kind == ByHand && !strings.Contains(b.Flags, "D"):
		return fmt.Errorf("%s packs nothing by hand (-D): cont, vect, indx or struct", b.Name)
	case kind == Structs && b.reduces():
		return fmt.Errorf("%s has no sum of structs (-D)", b.Name)
	case o.Reduction != Sum && !strings.Contains(b.Flags, "O"):
		return fmt.Errorf("%s has no other operator (-O) than the sum", b.Name)
	}
	return o.Check()
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
	if err := b.Check(&o); err != nil {
		return err
	}
	if o.Reduction == MaxLoc {
		o.Types = []Datatype{TwoInt}
	}
	if !o.Validate {
		o.ValidationWarmup = 0
	}
	if progress == nil {
		progress = func(int, int, int) {}
	}
	return b.run(&job{Benchmark: b, o: o, c: c, sink: sink, progress: progress})
}
