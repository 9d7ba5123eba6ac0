package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/bench"
)

func TestSpellingsOfOSUAreUnderstood(t *testing.T) {
	for _, tc := range []struct {
		args string
		want func(*settings)
	}{
		{"latency", func(s *settings) {}},
		{"latency -m 1:8", func(s *settings) { s.o.MinSize, s.o.MaxSize = 1, 8 }},
		{"latency -m1:8", func(s *settings) { s.o.MinSize, s.o.MaxSize = 1, 8 }},
		{"latency -m8", func(s *settings) { s.o.MaxSize = 8 }},
		{"latency -m 8:", func(s *settings) { s.o.MinSize = 8 }},
		{"latency -m :8", func(s *settings) { s.o.MaxSize = 8 }},
		{"latency --message-size=2:8", func(s *settings) { s.o.MinSize, s.o.MaxSize = 2, 8 }},
		{"latency -i 5 -x 3", func(s *settings) { counts(&s.o, 5, 3) }},
		{"latency -i5 -x0", func(s *settings) { counts(&s.o, 5, 0) }},
		{"latency -z", func(s *settings) { s.o.Percentiles = []int{50, 90, 99} }},
		{"latency -z50,99", func(s *settings) { s.o.Percentiles = []int{50, 99} }},
		{"latency -z=75", func(s *settings) { s.o.Percentiles = []int{75} }},
		{"latency -fz99", func(s *settings) { s.o.Full, s.o.Percentiles = true, []int{99} }},
		{"latency --tail-lat=1", func(s *settings) { s.o.Percentiles = []int{1} }},
		{"latency -cf -u 2", func(s *settings) { s.o.Validate, s.o.Full, s.o.ValidationWarmup = true, true, 2 }},
		{"latency -b multiple -T MPI_INT", func(s *settings) { s.o.Multiple, s.o.Types = true, []bench.Datatype{bench.Int} }},
		{"latency -T all", func(s *settings) { s.o.Types = []bench.Datatype{bench.Char, bench.Int, bench.Float} }},
		{"bw -W 32 --buffers alloc", func(s *settings) { s.o.Window, s.o.Alloc = 32, true }},
		{"mbw_mr -n 4 -R 0", func(s *settings) { s.ranks, s.ranksSet, s.o.PrintRate = 4, true, false }},
		{"latency_mt -t 4", func(s *settings) { s.o.Senders, s.o.Receivers = 1, 4 }},
		{"latency_mt -t 4:6", func(s *settings) { s.o.Senders, s.o.Receivers = 4, 6 }},
		{"matching -q unexpected -b 20", func(s *settings) { s.o.Queue, s.o.Budget = bench.Unexpected, 20*time.Millisecond }},
		{"matching -i 4", func(s *settings) { s.o.Iterations, s.o.IterationsLarge, s.o.Batches = 4, 4, true }},
		{"latency_persistent -m8 -fz99", func(s *settings) { s.o.MaxSize, s.o.Full, s.o.Percentiles = 8, true, []int{99} }},
		{"bibw_persistent -W 8 -c", func(s *settings) { s.o.Window, s.o.Validate = 8, true }},
		{"overlap -k both -w 1.5 --progress none", func(s *settings) { s.o.Computing, s.o.Work, s.noThread = bench.BothRanks, 1.5, true }},
		{"async -k send -w 2.5 -i 4 -m 8:64", func(s *settings) {
			counts(&s.o, 4, s.o.Warmup)
			s.o.Sending, s.o.Burst, s.o.MinSize, s.o.MaxSize = bench.BySend, 2500*time.Microsecond, 8, 64
		}},
		{"partitioned -p 8 -t 2 -m 64:128 -i 4 -x 1", func(s *settings) {
			counts(&s.o, 4, 1)
			s.o.Partitions, s.o.Goroutines, s.o.MinSize, s.o.MaxSize = 8, 2, 64, 128
		}},
		{"latency -D cont", func(s *settings) { s.o.Derived.Kind = bench.Contiguous }},
		{"latency -DVECT:128:64 -T mpi_int", func(s *settings) {
			s.o.Derived, s.o.Types = bench.Derived{Kind: bench.Vector, Stride: 128, Block: 64}, []bench.Datatype{bench.Int}
		}},
		{"bw --ddt=struct -c", func(s *settings) { s.o.Derived.Kind, s.o.Validate = bench.Structs, true }},
		{"bibw --ddt hand:8:8", func(s *settings) { s.o.Derived = bench.Derived{Kind: bench.ByHand, Stride: 8, Block: 8} }},
		{"put_latency -w create -s lock_all -m 8", func(s *settings) {
			s.o.Creation, s.o.Sync, s.o.MaxSize = bench.WinCreate, bench.ByLockAll, 8
		}},
		{"get_bw --win-options dynamic --sync-option=FLUSH_LOCAL -W 4 -c", func(s *settings) {
			s.o.Creation, s.o.Sync, s.o.Window, s.o.Validate = bench.WinDynamic, bench.ByFlushLocal, 4, true
		}},
		{"put_bibw -s fence", func(s *settings) { s.o.Sync = bench.ByFence }},
		{"fop_latency -T mpi_int64_t -s pscw", func(s *settings) { s.o.Types, s.o.Sync = []bench.Datatype{bench.Int64}, bench.ByPSCW }},
		{"cas_latency -T all -w allocate", func(s *settings) { s.o.Types = []bench.Datatype{bench.Char, bench.Int, bench.Int64} }},
		{"cpu -s 0.5", func(s *settings) { s.o.Wait = 500 * time.Millisecond }},
		{"latency --fabric mem --json --bind none --decimals 4", func(s *settings) {
			s.fabric, s.json, s.unbound, s.decimals = "mem", true, true, 4
		}},
	} {
		args := strings.Fields(tc.args)
		got, err := parseRun(args[0], args[1:])
		if err != nil {
			t.Errorf("%s: %v", tc.args, err)
			continue
		}
		want := newSettings(got.bench)
		tc.want(want)
		want.forward = got.forward
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", tc.args, got, want)
		}
		// The arguments of a rank parse to the same settings.
		again, err := parseRun(args[0], rankArgs(got))
		if err != nil {
			t.Errorf("%s as %v: %v", tc.args, rankArgs(got), err)
			continue
		}
		if !reflect.DeepEqual(again.o, got.o) || again.ranks != got.ranks || again.fabric != got.fabric || again.json != got.json || again.noThread != got.noThread || again.decimals != got.decimals {
			t.Errorf("%s as %v: %+v, want %+v", tc.args, rankArgs(got), again, got)
		}
	}
}

func counts(o *bench.Options, iterations, warmup int) {
	o.Iterations, o.IterationsLarge, o.Batches = iterations, iterations, true
	o.Warmup, o.WarmupLarge = warmup, warmup
}

func TestDefaultsAreThoseOfOSU(t *testing.T) {
	for _, tc := range []struct {
		name                            string
		min, max                        int
		iterations, warmup, large, less int
		window                          int
	}{
		{"latency", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"multi_lat", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"latency_mt", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"bw", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"bibw", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"latency_persistent", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"bw_persistent", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"bibw_persistent", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"mbw_mr", 1, 4 << 20, 100, 10, 100, 10, 64},
		{"barrier", 0, 0, 1000, 100, 1000, 100, 0},
		{"barrier_persistent", 0, 0, 1000, 100, 1000, 100, 0},
		{"bcast_persistent", 1, 1 << 20, 1000, 100, 100, 10, 0},
		{"neighbor_alltoall", 1, 1 << 20, 1000, 100, 100, 10, 0},
		{"ineighbor_allgatherv", 1, 1 << 20, 1000, 100, 100, 10, 0},
		{"put_latency", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"get_latency", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"acc_latency", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"get_acc_latency", 1, 4 << 20, 10000, 100, 1000, 10, 0},
		{"fop_latency", 0, 0, 10000, 100, 10000, 100, 0},
		{"cas_latency", 0, 0, 10000, 100, 10000, 100, 0},
		{"put_bw", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"get_bw", 1, 4 << 20, 100, 10, 20, 2, 64},
		{"put_bibw", 1, 4 << 20, 100, 10, 20, 2, 64},
	} {
		s, err := parseRun(tc.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := s.o
		if o.MinSize != tc.min || o.MaxSize != tc.max || o.Iterations != tc.iterations || o.Warmup != tc.warmup ||
			o.IterationsLarge != tc.large || o.WarmupLarge != tc.less || o.Window != tc.window || s.ranks != 2 {
			t.Errorf("%s: %+v", tc.name, o)
		}
	}
}

func TestWindowsAreMadeAndSynchronizedAsOSUDoes(t *testing.T) {
	for name, want := range map[string]struct {
		creation bench.Creation
		sync     bench.Synchronization
	}{
		"put_latency":     {bench.WinAllocate, bench.ByFlush},
		"get_latency":     {bench.WinAllocate, bench.ByFlush},
		"put_bw":          {bench.WinAllocate, bench.ByFlush},
		"get_bw":          {bench.WinAllocate, bench.ByFlush},
		"put_bibw":        {bench.WinAllocate, bench.ByPSCW},
		"acc_latency":     {bench.WinAllocate, bench.ByFlush},
		"get_acc_latency": {bench.WinCreate, bench.ByLock},
		"fop_latency":     {bench.WinAllocate, bench.ByFlush},
		"cas_latency":     {bench.WinAllocate, bench.ByFlush},
	} {
		s, err := parseRun(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.o.Creation != want.creation || s.o.Sync != want.sync {
			t.Errorf("%s: %v, %v", name, s.o.Creation, s.o.Sync)
		}
	}
}

func TestEveryOptionIsSomebodysAndLettersDoNotClash(t *testing.T) {
	for _, o := range options {
		used := false
		for _, b := range bench.All() {
			used = used || strings.Contains(b.Flags, o.letter)
		}
		if !used {
			t.Errorf("no benchmark has --%s", o.long)
		}
	}
	for _, b := range bench.All() {
		flagSet(newSettings(b)) // panics where two flags share a name
		for _, l := range b.Flags {
			if !slices.ContainsFunc(options, func(o option) bool { return o.letter == string(l) }) {
				t.Errorf("%s has option %c, which is not in the table", b.Name, l)
			}
		}
	}
}

func TestGluedValuesOfOptionalArgumentsAreKeptTogether(t *testing.T) {
	b, _ := bench.Lookup("bw")
	for in, want := range map[string]string{
		"-z50,99":      "-z=50,99",
		"-z=50":        "-z=50",
		"-z":           "-z",
		"-cz9":         "-cz=9",
		"-zc":          "-z=c",
		"-m -z5":       "-m -z5", // the value of -m
		"-m8 -z5":      "-m8 -z=5",
		"-bz5":         "-bz5", // likewise of -b
		"--json -z5":   "--json -z=5",
		"-- -z5":       "-- -z5",
		"-":            "-",
		"-? -z5":       "-? -z=5",
		"--tail-lat=5": "--tail-lat=5",
	} {
		fs := flagSet(newSettings(b))
		if got := strings.Join(glueOptional(fs, strings.Fields(in)), " "); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func FuzzGlueOptional(f *testing.F) {
	f.Add("-z50,99 -m 1:8 -cfz")
	f.Add("-- -z5")
	b, _ := bench.Lookup("latency")
	f.Fuzz(func(t *testing.T, in string) {
		args := strings.Fields(in)
		out := glueOptional(flagSet(newSettings(b)), args)
		if len(out) != len(args) {
			t.Errorf("%q became %q", args, out)
		}
		fs := flagSet(newSettings(b))
		_ = parseFlags("latency", fs, args) // must not panic
	})
}

func TestNearestIsTheLeastEditDistance(t *testing.T) {
	words := []string{"latency", "bw", "bibw", "mbw_mr", "barrier"}
	for in, want := range map[string]string{"latenzy": "latency", "bw": "bw", "barier": "barrier", "b": "bw"} {
		if got := nearest(in, words); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestProgressIsForTerminalsOnlyAndGivesWayToRows(t *testing.T) {
	var out strings.Builder
	p := newProgress("latency", &out)
	p.step(8, 0, 4)
	p.clear()
	if out.Len() > 0 {
		t.Errorf("to something that is no terminal: %q", out.String())
	}
	p.w = &out
	p.step(8, 3, 4)
	if !strings.HasPrefix(out.String(), "\r\x1b[Klatency: 8 (4 of 4), ") {
		t.Errorf("printed %q", out.String())
	}
	out.Reset()
	p.clear()
	p.clear()
	if out.String() != "\r\x1b[K" {
		t.Errorf("cleared with %q", out.String())
	}
}
