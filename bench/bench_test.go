package bench

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// quick are the options of b with counts and sizes small enough for a test.
func quick(b *Benchmark) Options {
	o := b.Defaults
	o.Iterations, o.IterationsLarge, o.Warmup, o.WarmupLarge = 2, 2, 1, 1
	o.Batches, o.Wait, o.Burst = true, 20*time.Millisecond, time.Millisecond
	o.MaxSize = min(o.MaxSize, 16<<10) // the last size has the counts of large ones
	if b.Name == "matching" {
		o.MaxSize = 256
	}
	if strings.Contains(b.Flags, "c") {
		o.Validate, o.ValidationWarmup = true, 1
	}
	if b.Name == "latency_mt" {
		o.Senders = o.Receivers
	}
	return o
}

// run runs b on n ranks of one process and returns what rank 0 printed.
func run(t *testing.T, b *Benchmark, n int, o Options) (string, error) {
	t.Helper()
	var out strings.Builder
	err := mpi.Run(n, func(w *mpi.World) error {
		return b.Run(w.Comm(), o, osufmt.NewWriter(&out), nil)
	}, mpi.WithFabric("mem"))
	return out.String(), err
}

// variant is a change to the options of a run.
type variant struct {
	name    string
	applies func(*Benchmark) bool
	change  func(*Options)
}

var variants = []variant{
	{"plain", func(b *Benchmark) bool { return true }, func(o *Options) { o.Validate = false }},
	{"validated", func(b *Benchmark) bool { return b.takes("c") }, func(o *Options) {}},
	{"multiple", func(b *Benchmark) bool { return b.takes("b") }, func(o *Options) { o.Multiple = true }},
	{"alloc", func(b *Benchmark) bool { return b.takes("b") }, func(o *Options) { o.Alloc = true }},
	{"types", func(b *Benchmark) bool { return b.takes("T") }, func(o *Options) { o.Types = []Datatype{Char, Int, Float} }},
	{"types of sums", func(b *Benchmark) bool { return b.takes("Y") }, func(o *Options) { o.Types = []Datatype{Char, Int, Float, Int64} }},
	{"types of swaps", func(b *Benchmark) bool { return b.takes("I") }, func(o *Options) { o.Types = []Datatype{Char, Int, Int64} }},
	{"window of alloc", func(b *Benchmark) bool { return b.takes("C") }, func(o *Options) { o.Alloc, o.Creation = true, WinCreate }},
	{"full", func(b *Benchmark) bool { return b.takes("f") }, func(o *Options) { o.Full = true }},
	{"tail", func(b *Benchmark) bool { return b.takes("z") }, func(o *Options) { o.Percentiles = []int{50, 99} }},
	{"contiguous", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) { o.Derived.Kind = Contiguous }},
	{"vector", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) {
		o.Derived, o.Types = Derived{Kind: Vector, Stride: 7, Block: 3}, []Datatype{Char, Int, Float}
	}},
	{"long vector", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) {
		o.Derived, o.MinSize, o.MaxSize, o.Multiple = Derived{Kind: Vector, Stride: 8192, Block: 4096}, 8192, 1<<18, true
	}},
	{"indexed", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) {
		o.Derived = Derived{Kind: Indexed, Blocks: []Block{{20, 5}, {0, 3}, {7, 0}, {3, 10}}}
		o.Types, o.Percentiles = []Datatype{Char, Int, Float}, []int{50, 99}
	}},
	{"structs", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) { o.Derived.Kind = Structs }},
	{"packed by hand", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) {
		o.Derived, o.Types = Derived{Kind: ByHand, Stride: 7, Block: 3}, []Datatype{Char, Int, Float}
	}},
	{"packed by hand into alloc", func(b *Benchmark) bool { return b.takes("D") }, func(o *Options) {
		o.Derived, o.Alloc, o.Multiple = Derived{Kind: ByHand, Stride: 128, Block: 64}, true, true
	}},
	{"contiguous blocks", func(b *Benchmark) bool { return b.takes("E") }, func(o *Options) { o.Derived.Kind = Contiguous }},
	{"vector of blocks", func(b *Benchmark) bool { return b.takes("E") }, func(o *Options) {
		o.MinSize = 6 // and an int has but 4
		o.Derived, o.Types = Derived{Kind: Vector, Stride: 7, Block: 3}, []Datatype{Char, Int, Float}
	}},
	{"indexed blocks", func(b *Benchmark) bool { return b.takes("E") }, func(o *Options) {
		o.Derived = Derived{Kind: Indexed, Blocks: []Block{{20, 5}, {0, 3}, {7, 0}, {3, 10}}}
	}},
	{"blocks of structs", func(b *Benchmark) bool { return b.takes("E") && !b.reduces() }, func(o *Options) { o.Derived.Kind, o.MinSize = Structs, 3 }},
	{"pairs", func(b *Benchmark) bool { return b.takes("O") }, func(o *Options) { o.Reduction, o.MinSize = MaxLoc, 12 }},
	{"both compute", func(b *Benchmark) bool { return b.takes("k") }, func(o *Options) { o.Computing = BothRanks }},
	{"standard sends", func(b *Benchmark) bool { return b.takes("K") }, func(o *Options) { o.Sending = BySend }},
	{"one partition", func(b *Benchmark) bool { return b.takes("P") }, func(o *Options) { o.Partitions = 1 }},
	{"three goroutines for six partitions", func(b *Benchmark) bool { return b.takes("PG") }, func(o *Options) {
		o.MinSize, o.MaxSize, o.Partitions, o.Goroutines = 6, 12288, 6, 3
	}},
	{"unexpected", func(b *Benchmark) bool { return b.takes("q") }, func(o *Options) { o.Queue = Unexpected }},
	{"one sender", func(b *Benchmark) bool { return b.takes("t") }, func(o *Options) { o.Senders, o.Receivers, o.Validate = 1, 3, false }},
}

// takes reports whether b has all the options in letters.
func (b *Benchmark) takes(letters string) bool {
	return !strings.ContainsFunc(letters, func(r rune) bool { return !strings.ContainsRune(b.Flags, r) })
}

func TestEveryBenchmarkRunsAndItsTableIsWhole(t *testing.T) {
	for _, b := range All() {
		ranks := []int{b.MinRanks}
		if b.MaxRanks == 0 {
			ranks = append(ranks, 4)
			if !b.EvenRanks {
				ranks = append(ranks, 3)
			}
		}
		for _, v := range variants {
			if !v.applies(b) {
				continue
			}
			for _, n := range ranks {
				t.Run(b.Name+"/"+v.name, func(t *testing.T) {
					o := quick(b)
					v.change(&o)
					out, err := run(t, b, n, o)
					if err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
					checkTable(t, b, o, out)
				})
			}
		}
	}
}

func checkTable(t *testing.T, b *Benchmark, o Options, out string) {
	t.Helper()
	tab, err := osufmt.Parse([]byte(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.HasPrefix(tab.Title, b.Title) {
		t.Errorf("title %q", tab.Title)
	}
	if len(tab.Sections) != max(len(o.Types), 1) {
		t.Errorf("%d sections:\n%s", len(tab.Sections), out)
	}
	for i, s := range tab.Sections {
		want := 1
		if !s.NoSize {
			typ := Char
			if len(o.Types) > 0 {
				typ = o.Types[i]
			}
			want = len(o.sizes(typ))
		}
		if len(s.Rows) != want {
			t.Errorf("%d rows, want %d:\n%s", len(s.Rows), want, out)
		}
	}
	if strings.Contains(out, "Fail") || o.Validate != strings.Contains(out, "Validation") {
		t.Errorf("validation:\n%s", out)
	}
	if o.Full != strings.Contains(out, "Max Latency(us)") {
		t.Errorf("full listing:\n%s", out)
	}
	if (o.Derived.Kind != NotDerived) != strings.Contains(out, "Transmit Size") {
		t.Errorf("what is sent:\n%s", out)
	}
	if (len(o.Percentiles) > 0) != strings.Contains(out, "P99 Tail") {
		t.Errorf("percentiles:\n%s", out)
	}
}

func TestWrongBytesAreCounted(t *testing.T) {
	send, recv := make([]byte, 100), make([]byte, 100)
	arm(send, recv, 100, 3, nil)
	if n := wrong(recv, 100, 3, nil); n < 99 {
		t.Errorf("an empty buffer has %d wrong bytes of 100", n)
	}
	copy(recv, send)
	if n := wrong(recv, 100, 3, nil); n != 0 {
		t.Errorf("a good copy has %d wrong bytes", n)
	}
	if n := wrong(recv, 100, 4, nil); n != 100 {
		t.Errorf("the copy of another iteration has %d wrong bytes of 100", n)
	}
	recv[99] ^= 1
	if n := wrong(recv, 100, 3, nil); n != 1 {
		t.Errorf("one flipped bit makes %d wrong bytes", n)
	}
}

func TestFailedValidationStopsEveryRankAndSaysSo(t *testing.T) {
	b, _ := Lookup("latency")
	o := quick(b)
	var out strings.Builder
	errs := make([]error, 2)
	mpi.Run(2, func(w *mpi.World) error {
		j := &job{Benchmark: b, o: o, c: w.Comm(), sink: osufmt.NewWriter(&out)}
		errs[j.c.Rank()] = j.settle(64, 3-3*j.c.Rank())
		return nil
	}, mpi.WithFabric("mem"))
	for r, err := range errs {
		if !errors.Is(err, ErrValidation) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	if want := "DATA VALIDATION ERROR: osu-go latency exited with status 1 on message size 64.\n"; out.String() != want {
		t.Errorf("printed %q", out.String())
	}
}

func TestRanksAreChecked(t *testing.T) {
	for _, tc := range []struct {
		name string
		n    int
		ok   bool
	}{
		{"latency", 2, true}, {"latency", 3, false}, {"latency", 1, false},
		{"mbw_mr", 3, true}, {"mbw_mr", 1, false},
		{"multi_lat", 4, true}, {"multi_lat", 3, false},
		{"barrier", 5, true}, {"barrier", 1, false},
	} {
		b, ok := Lookup(tc.name)
		if !ok {
			t.Fatal(tc.name)
		}
		if err := b.CheckRanks(tc.n); (err == nil) != tc.ok {
			t.Errorf("%s on %d ranks: %v", tc.name, tc.n, err)
		}
	}
}

func TestOptionsOutOfRangeAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"sizes reversed":       func(o *Options) { o.MinSize, o.MaxSize = 8, 4 },
		"negative size":        func(o *Options) { o.MinSize = -1 },
		"enormous size":        func(o *Options) { o.MaxSize = MaxSize + 1 },
		"no iterations":        func(o *Options) { o.Iterations = 0 },
		"negative warm-up":     func(o *Options) { o.Warmup = -1 },
		"window too large":     func(o *Options) { o.Window = MaxWindow + 1 },
		"percentile 0":         func(o *Options) { o.Percentiles = []int{0} },
		"percentile 101":       func(o *Options) { o.Percentiles = []int{101} },
		"too many percentiles": func(o *Options) { o.Percentiles = []int{1, 2, 3, 4, 5, 6} },
		"too many threads":     func(o *Options) { o.Senders = MaxThreads + 1 },
		"-c with -t 1:2":       func(o *Options) { o.Validate, o.Senders, o.Receivers = true, 1, 2 },
		"validation warm-up":   func(o *Options) { o.ValidationWarmup = 11 },
		"negative partitions":  func(o *Options) { o.Partitions = -1 },
		"too many partitions":  func(o *Options) { o.Partitions = MaxPartitions + 1 },
		"-p divides no size":   func(o *Options) { o.Partitions = 3 },
		"-t above -p":          func(o *Options) { o.Partitions, o.Goroutines = 4, 5 },
		"too many goroutines":  func(o *Options) { o.Goroutines = MaxThreads + 1 },
		"negative work":        func(o *Options) { o.Work = -1 },
		"negative wait":        func(o *Options) { o.Wait = -1 },
		"negative burst":       func(o *Options) { o.Burst = -1 },
		"enormous window":      func(o *Options) { o.Sync, o.Window, o.MaxSize = ByFlush, MaxWindow, 1<<20 },
		"enormous burst":       func(o *Options) { o.Burst = MaxBurst + 1 },
	} {
		o := bandwidthDefaults
		change(&o)
		if o.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, b := range All() {
		if o := b.Defaults; o.Check() != nil {
			t.Errorf("%s: the defaults are refused: %v", b.Name, o.Check())
		}
	}
}

func TestSizesDoubleAndHoldAnElement(t *testing.T) {
	o := Options{MinSize: 0, MaxSize: 9}
	if got, want := o.sizes(Char), []int{1, 2, 4, 8}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := o.sizes(Float), []int{4, 8}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, tc := range []struct {
		lo, hi int
		want   []int
	}{
		{8, 1 << 20, []int{8, 64, 512, 4096, 32768, 262144, 1 << 20}},
		{8, 512, []int{8, 64, 512}},
		{8, 8, []int{8}},
		{0, 9, []int{1, 8, 9}},
	} {
		o := Options{MinSize: tc.lo, MaxSize: tc.hi, Step: 8}
		if got := o.sizes(Char); !slices.Equal(got, tc.want) {
			t.Errorf("%d to %d by eight: %v, want %v", tc.lo, tc.hi, got, tc.want)
		}
	}
	o = Options{MinSize: 3, MaxSize: 12}
	if got, want := o.sizes(Char), []int{3, 6, 12}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSizesThatPartitionsDoNotDivideAreLeftOut(t *testing.T) {
	for _, tc := range []struct {
		lo, hi, parts int
		want          []int
	}{
		{1, 64, 16, []int{16, 32, 64}},
		{1, 12, 1, []int{1, 2, 4, 8}},
		{3, 50, 6, []int{6, 12, 24, 48}},
		{1, 64, 3, nil},
	} {
		o := Options{MinSize: tc.lo, MaxSize: tc.hi, Partitions: tc.parts}
		if got := o.sizes(Char); !slices.Equal(got, tc.want) {
			t.Errorf("%d partitions, %d to %d: %v, want %v", tc.parts, tc.lo, tc.hi, got, tc.want)
		}
	}
}

// Each partition belongs to one chunk, and chunks differ by at most one.
func TestChunksCoverAllPartitionsOnce(t *testing.T) {
	for _, n := range []int{0, 1, 5, 16, 17} {
		for _, all := range []int{1, 2, 3, 16} {
			next := 0
			for k := range all {
				c := part(n, k, all)
				if size := c.last + 1 - c.first; c.first != next || size < n/all || size > n/all+1 {
					t.Errorf("chunk %d of %d of %d partitions is %+v", k, all, n, c)
				}
				next = c.last + 1
			}
			if next != n {
				t.Errorf("%d chunks have %d partitions of %d", all, next, n)
			}
		}
	}
}

func TestPerceivedBandwidthIsTheMessageInTheTimeOfItsLastPartition(t *testing.T) {
	b, _ := Lookup("partitioned")
	o := quick(b)
	var out strings.Builder
	w := osufmt.NewWriter(&out)
	w.Decimals = 9
	if err := mpi.Run(2, func(world *mpi.World) error {
		return b.Run(world.Comm(), o, w, nil)
	}, mpi.WithFabric("mem")); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	tab, err := osufmt.Parse([]byte(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tab.Sections[0].Rows {
		v := row.Values
		for i, x := range v[:6] {
			if x <= 0 {
				t.Errorf("%d bytes: column %d is %g", row.Size, i, x)
			}
		}
		if bytes := v[3] * v[5]; math.Abs(bytes/float64(row.Size)-1) > 1e-5 {
			t.Errorf("%d bytes: the last partition takes %g µs, and %g MB/s are perceived", row.Size, v[3], v[5])
		}
	}
}

func TestLargeSizesHaveTheirOwnCounts(t *testing.T) {
	o := latencyDefaults
	if n, w := o.counts(LargeSize); n != 10000 || w != 100 {
		t.Errorf("%d bytes: %d, %d", LargeSize, n, w)
	}
	if n, w := o.counts(LargeSize + 1); n != 1000 || w != 10 {
		t.Errorf("%d bytes: %d, %d", LargeSize+1, n, w)
	}
}
