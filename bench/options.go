package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Datatype is an MPI datatype that the benchmarks can send.
type Datatype uint8

// The datatypes of OSU 7.4, and two of ours.
const (
	Char   Datatype = iota // MPI_CHAR
	Int                    // MPI_INT
	Float                  // MPI_FLOAT
	Int64                  // MPI_INT64_T: of accumulates on windows only
	TwoInt                 // MPI_2INT: of MaxLoc only
)

func (t Datatype) String() string {
	return [...]string{"MPI_CHAR", "MPI_INT", "MPI_FLOAT", "MPI_INT64_T", "MPI_2INT"}[t]
}

// Size is the length of an element in bytes.
func (t Datatype) Size() int { return [...]int{1, 4, 4, 8, 8}[t] }

// Reduction is the operator of reductions.
type Reduction uint8

// The operators.
const (
	Sum    Reduction = iota // of elements
	MaxLoc                  // of pairs of a value and an index
)

// Queue is the queue that the matching benchmark fills.
type Queue uint8

// The two queues of MPI matching.
const (
	Posted     Queue = iota // receives wait for messages
	Unexpected              // messages wait for receives
)

func (q Queue) String() string { return [...]string{"posted", "unexpected"}[q] }

// Computing is which ranks compute in the overlap benchmark.
type Computing uint8

// The ranks that compute.
const (
	ReceiverOnly Computing = iota
	BothRanks
)

func (c Computing) String() string { return [...]string{"receiver", "both"}[c] }

// Sending is the operation that the async benchmark times.
type Sending uint8

// The operations.
const (
	BySsend Sending = iota
	BySend
)

func (s Sending) String() string { return [...]string{"ssend", "send"}[s] }

// Creation is how the window of a one-sided benchmark is made.
type Creation uint8

// The ways, each with memory of its own.
const (
	WinAllocate Creation = iota // the library's
	WinCreate                   // the program's
	WinDynamic                  // the program's, attached
)

func (c Creation) String() string {
	return [...]string{"MPI_Win_allocate", "MPI_Win_create", "MPI_Win_create_dynamic"}[c]
}

// Synchronization is the calls around the operations of a one-sided benchmark.
type Synchronization uint8

// The synchronizations. Fences and PSCW need calls of the target, the others none.
const (
	NoSync       Synchronization = iota // not a one-sided benchmark
	ByLock                              // a lock around each round
	ByPSCW                              // post, start, complete and wait
	ByFence                             // fences
	ByFlush                             // a flush behind each round, one lock around all
	ByFlushLocal                        // the same with a local flush
	ByLockAll                           // a lock of all ranks around each round
)

func (s Synchronization) String() string {
	return [...]string{
		"none", "MPI_Win_lock/unlock", "MPI_Win_post/start/complete/wait", "MPI_Win_fence",
		"MPI_Win_flush", "MPI_Win_flush_local", "MPI_Win_lock_all/unlock_all",
	}[s]
}

// active reports whether the target makes calls too.
func (s Synchronization) active() bool { return s == ByPSCW || s == ByFence }

// Limits of the options, as in OSU 7.4 unless said otherwise.
const (
	MaxSize             = 1 << 30 // ours: OSU has none
	MaxWindow           = 1 << 16 // ours: OSU overruns its arrays above 1000
	MaxThreads          = 127
	MaxPercentiles      = 5
	MaxValidationWarmup = 10
	MaxDepth            = 1 << 20 // ours
	MaxWork             = 1000    // ours
	MaxPartitions       = 1 << 16 // ours
	MaxBurst            = time.Minute
	MaxExposed          = 4 << 30 // ours: bytes of a window

	// LargeSize is the size in bytes above which IterationsLarge and
	// WarmupLarge hold.
	LargeSize = 8192
)

// Options are the settings of a run. Defaults come with each Benchmark. It is
// a plain value.
type Options struct {
	MinSize, MaxSize int // bytes; matching: depth
	Step             int // factor from a size to the next, 0: 2; if set, MaxSize is measured too

	Iterations, Warmup           int
	IterationsLarge, WarmupLarge int // for sizes above LargeSize

	Window    int  // messages before synchronisation
	Multiple  bool // a buffer for each message of the window
	Alloc     bool // buffers from mpi.Alloc instead of the Go heap
	PrintRate bool // mbw_mr: messages a second too

	Validate         bool
	ValidationWarmup int // exchanges before the timed one when validating

	Full        bool  // minimum, maximum and iterations too
	Percentiles []int // 1 to 100
	Types       []Datatype

	Derived   Derived   // what a message consists of
	Reduction Reduction // allreduce, reduce and the same without blocking

	Senders, Receivers int // latency_mt: goroutines of rank 0 and of rank 1

	Partitions int // partitioned: of a message; sizes that are no multiple of it are left out
	Goroutines int // partitioned: how many make them ready

	Computing Computing // overlap
	Work      float64   // overlap: computing time as a multiple of the pure communication

	Sending Sending       // async
	Burst   time.Duration // async: how long rank 1 computes at a time

	Queue   Queue         // matching
	Batches bool          // matching: Iterations batches, instead of as many as Budget allows
	Budget  time.Duration // matching: wall time for a depth
	Wait    time.Duration // cpu: how long rank 1 waits

	Creation Creation        // one-sided
	Sync     Synchronization // one-sided
	Single   bool            // one-sided: one element, whatever the sizes
}

// Defaults of OSU 7.4 (util/osu_util.h and process_options).
var (
	latencyDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 10000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 10,
		ValidationWarmup: 5, Types: []Datatype{Char},
	}
	bandwidthDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 100, Warmup: 10, IterationsLarge: 20, WarmupLarge: 2,
		Window: 64, ValidationWarmup: 5, Types: []Datatype{Char},
	}
	// osu_mbw_mr does not go over to the counts for large sizes.
	messageRateDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 100, Warmup: 10, IterationsLarge: 100, WarmupLarge: 10,
		Window: 64, PrintRate: true, ValidationWarmup: 5, Types: []Datatype{Char},
	}
	threadedDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 10000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 10,
		ValidationWarmup: 5, Types: []Datatype{Char},
		Senders: 1, Receivers: 2,
	}
	collectiveDefaults = Options{
		MinSize: 1, MaxSize: 1 << 20,
		Iterations: 1000, Warmup: 100, IterationsLarge: 100, WarmupLarge: 10,
		ValidationWarmup: 5, Types: []Datatype{Char},
	}
	// MPI has no sum of MPI_CHAR.
	reductionDefaults = Options{
		MinSize: 4, MaxSize: 1 << 20,
		Iterations: 1000, Warmup: 100, IterationsLarge: 100, WarmupLarge: 10,
		ValidationWarmup: 5, Types: []Datatype{Int},
	}
	barrierDefaults = Options{
		Iterations: 1000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 100,
	}
	oneSidedDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 10000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 10,
		Types: []Datatype{Char}, Sync: ByFlush,
	}
	oneSidedBandwidthDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 100, Warmup: 10, IterationsLarge: 20, WarmupLarge: 2,
		Window: 64, Types: []Datatype{Char}, Sync: ByFlush,
	}
	bothWaysDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 100, Warmup: 10, IterationsLarge: 20, WarmupLarge: 2,
		Window: 64, Types: []Datatype{Char}, Sync: ByPSCW,
	}
	// OSU's type is MPI_CHAR, of which MPI has no sum.
	accumulateDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 10000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 10,
		Types: []Datatype{Int64}, Sync: ByFlush,
	}
	getAccumulateDefaults = Options{
		MinSize: 1, MaxSize: 4 << 20,
		Iterations: 10000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 10,
		Types: []Datatype{Int64}, Creation: WinCreate, Sync: ByLock,
	}
	atomicDefaults = Options{
		Iterations: 10000, Warmup: 100, IterationsLarge: 10000, WarmupLarge: 100,
		Types: []Datatype{Int64}, Sync: ByFlush, Single: true,
	}
)

// Defaults of our own benchmarks, and of their twins in bench/peers.
var (
	overlapDefaults = Options{
		MinSize: 8192, MaxSize: 4 << 20,
		Iterations: 1000, Warmup: 100, IterationsLarge: 100, WarmupLarge: 10,
		Types: []Datatype{Char}, Work: 2,
	}
	// The size is that of the flag.
	agreeDefaults = Options{
		Iterations: 1000, Warmup: 100, IterationsLarge: 1000, WarmupLarge: 100,
		Types: []Datatype{Int64}, Single: true,
	}
	asyncDefaults = Options{
		MinSize: 8, MaxSize: 1 << 20, Step: 8,
		Iterations: 50, Warmup: 1, IterationsLarge: 50, WarmupLarge: 1,
		Types: []Datatype{Char}, Burst: 20 * time.Millisecond,
	}
	partitionedDefaults = Options{
		MinSize: 64, MaxSize: 4 << 20,
		Iterations: 1000, Warmup: 100, IterationsLarge: 100, WarmupLarge: 10,
		Types: []Datatype{Char}, Partitions: 16, Goroutines: 1,
	}
	matchingDefaults = Options{
		MinSize: 1, MaxSize: 65536,
		Iterations: 1, Warmup: 1, IterationsLarge: 1, WarmupLarge: 1,
		Budget: 500 * time.Millisecond,
	}
	cpuDefaults = Options{Iterations: 1, IterationsLarge: 1, Wait: 5 * time.Second}
)

// Check returns an error if an option is invalid whatever the benchmark.
func (o *Options) Check() error {
	switch {
	case o.MinSize < 0 || o.MaxSize < 0:
		return errors.New("sizes (-m) must not be negative")
	case o.MinSize > o.MaxSize:
		return fmt.Errorf("no sizes (-m): the smallest, %d, is above the largest, %d", o.MinSize, o.MaxSize)
	case o.MaxSize > MaxSize:
		return fmt.Errorf("size (-m) %d is above %d bytes", o.MaxSize, MaxSize)
	case o.Iterations < 1 || o.IterationsLarge < 1:
		return errors.New("iterations (-i) must be at least 1")
	case o.Warmup < 0 || o.WarmupLarge < 0:
		return errors.New("warm-up iterations (-x) must not be negative")
	case o.Window < 0 || o.Window > MaxWindow:
		return fmt.Errorf("window (-W) %d is not between 1 and %d", o.Window, MaxWindow)
	case o.ValidationWarmup < 0 || o.ValidationWarmup > MaxValidationWarmup:
		return fmt.Errorf("validation warm-up (-u) %d is not between 0 and %d", o.ValidationWarmup, MaxValidationWarmup)
	case len(o.Percentiles) > MaxPercentiles:
		return fmt.Errorf("%d percentiles (-z), the most is %d", len(o.Percentiles), MaxPercentiles)
	case o.Senders < 0 || o.Senders > MaxThreads || o.Receivers < 0 || o.Receivers > MaxThreads:
		return fmt.Errorf("threads (-t) must be between 1 and %d", MaxThreads)
	case o.Validate && o.Senders != o.Receivers:
		return errors.New("validation (-c) needs as many receiving threads as sending ones: -t N:N")
	case o.Partitions < 0 || o.Partitions > MaxPartitions:
		return fmt.Errorf("partitions (-p) %d are not between 1 and %d", o.Partitions, MaxPartitions)
	case o.Goroutines < 0 || o.Goroutines > MaxThreads:
		return fmt.Errorf("threads (-t) must be between 1 and %d", MaxThreads)
	case o.Partitions > 0 && o.Goroutines > o.Partitions:
		return fmt.Errorf("%d threads (-t) for %d partitions (-p): each needs one at least", o.Goroutines, o.Partitions)
	case o.Partitions > 0 && len(o.sizes(Char)) == 0:
		return fmt.Errorf("no sizes (-m): none from %d on, doubling to %d, is a multiple of %d partitions (-p)", o.MinSize, o.MaxSize, o.Partitions)
	case !(o.Work >= 0 && o.Work <= MaxWork):
		return fmt.Errorf("work (-w) %g is not between 0 and %d", o.Work, MaxWork)
	case o.Step < 0 || o.Step == 1:
		return fmt.Errorf("sizes do not grow %d times", o.Step)
	case o.Burst < 0 || o.Burst > MaxBurst:
		return fmt.Errorf("computation (-w) of %v is not between 0 and %v", o.Burst, MaxBurst)
	case o.Budget < 0:
		return errors.New("budget (-b) must not be negative")
	case o.Wait < 0:
		return errors.New("seconds (-s) must not be negative")
	case o.Sync != NoSync && max(o.Window, 1)*o.MaxSize > MaxExposed:
		return fmt.Errorf("%d operations (-W) of %d bytes (-m) need a window of more than %d bytes", max(o.Window, 1), o.MaxSize, MaxExposed)
	}
	for _, p := range o.Percentiles {
		if p < 1 || p > 100 {
			return fmt.Errorf("percentile (-z) %d is not between 1 and 100", p)
		}
	}
	if o.Reduction == MaxLoc {
		switch {
		case !slices.Equal(o.Types, []Datatype{Int}):
			return errors.New("pairs (-O maxloc) have a type of their own: leave -T out")
		case o.Derived.Kind != NotDerived:
			return errors.New("pairs (-O maxloc) are not measured in derived datatypes (-D)")
		}
	}
	return o.checkDerived()
}

func (o *Options) checkDerived() error {
	if err := o.Derived.check(o.Types); err != nil || o.Derived.Kind != Indexed {
		return err
	}
	for _, t := range o.Types {
		if len(o.sizes(t)) == 0 {
			return fmt.Errorf("no sizes (-m): none from %d on, doubling to %d, has room for the blocks (-D), which need %d elements of %v", o.MinSize, o.MaxSize, o.Derived.room(), t)
		}
	}
	return nil
}

// sent is how many bytes a message of some size has, whose elements have width bytes.
func (o *Options) sent(size, width int) int {
	if o.Derived.Kind == NotDerived {
		return size
	}
	return o.Derived.sent(size/width) * width
}

// counts are the timed and the warm-up iterations.
func (o *Options) counts(size int) (iterations, warmup int) {
	if size > LargeSize {
		return o.IterationsLarge, o.WarmupLarge
	}
	return o.Iterations, o.Warmup
}

// sizes are the sizes in bytes to measure with elements of t: the multiples of
// Partitions, if that is set, those with room for a message of Derived, and with
// Single an element.
func (o *Options) sizes(t Datatype) []int {
	if o.Single {
		return []int{t.Size()}
	}
	var out []int
	room := max(1, o.Derived.room()) * t.Size()
	for n := o.MinSize; n <= o.MaxSize; n = max(cmp.Or(o.Step, 2)*n, 1) {
		if n >= room && (o.Partitions == 0 || n%o.Partitions == 0) {
			out = append(out, n)
		}
	}
	if o.Step > 0 && o.MaxSize >= room && !slices.Contains(out, o.MaxSize) {
		out = append(out, o.MaxSize)
	}
	return out
}
