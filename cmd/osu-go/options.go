package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/mpi"
)

// settings are the parsed command line.
type settings struct {
	bench    *bench.Benchmark
	o        bench.Options
	ranks    int
	ranksSet bool
	fabric   string
	unbound  bool
	noThread bool
	json     bool
	save     string
	floor    string // of measureFloor
	decimals int
	metrics  string // where the ranks' counters are served, or ""
	trace    string // file of the job's trace, or ""
	help     bool
	version  bool

	forward []string // the flags as an argument list for another osu-go
}

// option is a row of the table of flags.
type option struct {
	letter   string // in Benchmark.Flags; "" for those that every benchmark has
	long     string
	short    string
	arg      string // name of the argument in the help; "" for a switch
	optional string // value of an argument that may be left out
	usage    string
	set      func(s *settings, v string) error
	private  bool // not passed on to the runs of a comparison
}

// options are the flags of OSU 7.4 with its letters and names, then ours.
var options = []option{
	{letter: "m", long: "message-size", short: "m", arg: "[MIN:]MAX", usage: "smallest and largest message in bytes: 128, 2:128, 2: (matching: depth)", set: setSizes},
	{letter: "i", long: "iterations", short: "i", arg: "N", usage: "iterations to time (matching: batches, and no budget)", set: setIterations},
	{letter: "x", long: "warmup", short: "x", arg: "N", usage: "iterations before them", set: setWarmup},
	{letter: "W", long: "window-size", short: "W", arg: "N", usage: "messages in flight before synchronisation", set: func(s *settings, v string) error {
		return setInt(&s.o.Window, v, 1, bench.MaxWindow)
	}},
	{letter: "c", long: "validation", short: "c", usage: "validate every byte", set: func(s *settings, v string) error {
		return setBool(&s.o.Validate, v)
	}},
	{letter: "u", long: "validation-warmup", short: "u", arg: "N", usage: "exchanges before the timed one when validating", set: func(s *settings, v string) error {
		return setInt(&s.o.ValidationWarmup, v, 0, bench.MaxValidationWarmup)
	}},
	{letter: "f", long: "full", short: "f", usage: "minimum, maximum and iterations too", set: func(s *settings, v string) error {
		return setBool(&s.o.Full, v)
	}},
	{letter: "z", long: "tail-lat", short: "z", arg: "P,P...", optional: "50,90,99", usage: "percentiles too; glued: -z50,99", set: setPercentiles},
	{letter: "b", long: "buffer-num", short: "b", arg: "single|multiple", usage: "one buffer, or one for each message of a window", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"single":   func() { s.o.Multiple = false },
			"multiple": func() { s.o.Multiple = true },
		})
	}},
	{letter: "T", long: "type", short: "T", arg: "TYPE", usage: "mpi_char, mpi_int, mpi_float or all", set: setType},
	{letter: "Y", long: "type", short: "T", arg: "TYPE", usage: "mpi_char, mpi_int, mpi_float, mpi_int64_t or all", set: func(s *settings, v string) error {
		return setTypes(s, v, bench.Char, bench.Int, bench.Float, bench.Int64)
	}},
	{letter: "I", long: "type", short: "T", arg: "TYPE", usage: "mpi_char, mpi_int, mpi_int64_t or all", set: func(s *settings, v string) error {
		return setTypes(s, v, bench.Char, bench.Int, bench.Int64)
	}},
	{letter: "D", long: "ddt", short: "D", arg: "TYPE", usage: "messages of a derived datatype, in elements of -T: cont, vect:STRIDE:BLOCK, indx:FILE (lines of DISPLACEMENT,LENGTH), struct, or hand:STRIDE:BLOCK, a vector that the program packs itself; sizes are then those of the memory, and the last column is what is sent of it", set: setDerived},
	{letter: "E", long: "ddt", short: "D", arg: "TYPE", usage: "messages, or blocks, of a derived datatype, in elements of the type: cont, vect:STRIDE:BLOCK, indx:FILE (lines of DISPLACEMENT,LENGTH), or struct (not in sums); sizes are then those of the memory, and the last column is what is sent of it", set: setDerived},
	{letter: "O", long: "operator", short: "O", arg: "sum|maxloc", usage: "the operator: a sum of elements, or the maximum of pairs of two mpi_int and where it is", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"sum":    func() { s.o.Reduction = bench.Sum },
			"maxloc": func() { s.o.Reduction = bench.MaxLoc },
		})
	}},
	{letter: "C", long: "win-options", short: "w", arg: "create|allocate|dynamic", usage: "how the window is made", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"create":   func() { s.o.Creation = bench.WinCreate },
			"allocate": func() { s.o.Creation = bench.WinAllocate },
			"dynamic":  func() { s.o.Creation = bench.WinDynamic },
		})
	}},
	{letter: "S", long: "sync-option", short: "s", arg: "lock|flush|flush_local|lock_all|pscw|fence", usage: "the synchronization of the operations", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"lock":        func() { s.o.Sync = bench.ByLock },
			"flush":       func() { s.o.Sync = bench.ByFlush },
			"flush_local": func() { s.o.Sync = bench.ByFlushLocal },
			"lock_all":    func() { s.o.Sync = bench.ByLockAll },
			"pscw":        func() { s.o.Sync = bench.ByPSCW },
			"fence":       func() { s.o.Sync = bench.ByFence },
		})
	}},
	{letter: "A", long: "sync-option", short: "s", arg: "pscw|fence", usage: "the synchronization of the operations", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"pscw":  func() { s.o.Sync = bench.ByPSCW },
			"fence": func() { s.o.Sync = bench.ByFence },
		})
	}},
	{letter: "t", long: "num-threads", short: "t", arg: "[S:]R", usage: "sending goroutines of rank 0 and receiving ones of rank 1", set: setThreads},
	{letter: "P", long: "partitions", short: "p", arg: "N", usage: "partitions of a message", set: func(s *settings, v string) error {
		return setInt(&s.o.Partitions, v, 1, bench.MaxPartitions)
	}},
	{letter: "G", long: "threads", short: "t", arg: "N", usage: "goroutines of rank 0 that make the partitions ready, each a chunk of them", set: func(s *settings, v string) error {
		return setInt(&s.o.Goroutines, v, 1, bench.MaxThreads)
	}},
	{letter: "R", long: "print-rate", short: "R", arg: "0|1", usage: "print the message rate", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"0": func() { s.o.PrintRate = false },
			"1": func() { s.o.PrintRate = true },
		})
	}},
	{letter: "q", long: "queue", short: "q", arg: "posted|unexpected", usage: "which queue is deep", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"posted":     func() { s.o.Queue = bench.Posted },
			"unexpected": func() { s.o.Queue = bench.Unexpected },
		})
	}},
	{letter: "B", long: "budget", short: "b", arg: "MS", usage: "wall time for a depth in milliseconds", set: func(s *settings, v string) error {
		var ms int
		err := setInt(&ms, v, 1, math.MaxInt32)
		s.o.Budget = time.Duration(ms) * time.Millisecond
		return err
	}},
	{letter: "k", long: "computing", short: "k", arg: "receiver|both", usage: "who computes during the transfer", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"receiver": func() { s.o.Computing = bench.ReceiverOnly },
			"both":     func() { s.o.Computing = bench.BothRanks },
		})
	}},
	{letter: "w", long: "work", short: "w", arg: "FACTOR", usage: "how long to compute, in times of the pure communication", set: setWork},
	{letter: "K", long: "operation", short: "k", arg: "ssend|send", usage: "the operation to time", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"ssend": func() { s.o.Sending = bench.BySsend },
			"send":  func() { s.o.Sending = bench.BySend },
		})
	}},
	{letter: "M", long: "computation", short: "w", arg: "MS", usage: "how long rank 1 computes at a time, in milliseconds", set: setBurst},
	{letter: "s", long: "seconds", short: "s", arg: "SECONDS", usage: "how long rank 1 waits", set: setSeconds},

	{long: "ranks", short: "n", arg: "RANKS", usage: "ranks to start (default 2)", set: func(s *settings, v string) error {
		s.ranksSet = true
		return setInt(&s.ranks, v, 1, math.MaxInt32)
	}},
	{long: "fabric", arg: "NAME", usage: "transport: " + strings.Join(mpi.Fabrics(), ", "), set: func(s *settings, v string) error {
		if !slices.Contains(mpi.Fabrics(), v) {
			return fmt.Errorf("there is no fabric %q: did you mean %s?", v, nearest(v, mpi.Fabrics()))
		}
		s.fabric = v
		return nil
	}},
	// The benchmarks with this option are those that can validate: the others
	// have no buffers to choose.
	{letter: "c", long: "buffers", arg: "heap|alloc", usage: "buffers from the Go heap or from mpi.Alloc", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"heap":  func() { s.o.Alloc = false },
			"alloc": func() { s.o.Alloc = true },
		})
	}},
	{long: "bind", arg: "auto|none", usage: "bind each rank to a core if there are enough, or not", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"auto": func() { s.unbound = false },
			"none": func() { s.unbound = true },
		})
	}},
	{long: "progress", arg: "thread|none", usage: "with the progress thread, or with progress in calls only", set: func(s *settings, v string) error {
		return setChoice(v, map[string]func(){
			"thread": func() { s.noThread = false },
			"none":   func() { s.noThread = true },
		})
	}},
	{long: "decimals", arg: "N", usage: "decimals of the table (OSU: 2)", private: true, set: func(s *settings, v string) error {
		return setInt(&s.decimals, v, 0, 9)
	}},
	{long: "metrics", arg: "ADDR", usage: "serve the ranks' counters to Prometheus at HOST:PORT, or :PORT for the loopback interface (under another launcher: weft run --metrics)", private: true, set: func(s *settings, v string) error {
		s.metrics = v
		return nil
	}},
	{long: "trace", arg: "FILE", usage: "record messages, waits and collective calls into FILE, which Perfetto shows; the results are slower", private: true, set: func(s *settings, v string) error {
		s.trace = v
		return nil
	}},
	{long: "json", usage: "one JSON object and no table", private: true, set: func(s *settings, v string) error {
		return setBool(&s.json, v)
	}},
	{long: "save", arg: "DIR", usage: "keep the result in DIR for osu-go report, or in the file X.json", private: true, set: func(s *settings, v string) error {
		s.save = v
		return nil
	}},
	{long: "version", short: "v", usage: "print the title with the version of OSU it follows", private: true, set: func(s *settings, v string) error {
		return setBool(&s.version, v)
	}},
	{long: "help", short: "h", usage: "print this help", private: true, set: func(s *settings, v string) error {
		return setBool(&s.help, v)
	}},
}

func setBool(to *bool, v string) (err error) {
	*to, err = strconv.ParseBool(v)
	return err
}

// setInt takes a whole number from lo to hi.
func setInt(to *int, v string, lo, hi int) error {
	n, err := strconv.Atoi(v)
	switch {
	case err != nil:
		return fmt.Errorf("%q is not a whole number", v)
	case n < lo:
		return fmt.Errorf("%d is below %d", n, lo)
	case n > hi:
		return fmt.Errorf("%d is above %d", n, hi)
	}
	*to = n
	return nil
}

// setChoice takes one of a few words, in any case.
func setChoice(v string, choices map[string]func()) error {
	if f, ok := choices[strings.ToLower(v)]; ok {
		f()
		return nil
	}
	var words []string
	for w := range choices {
		words = append(words, w)
	}
	slices.Sort(words)
	return fmt.Errorf("%q is not one of %s: did you mean %s?", v, strings.Join(words, ", "), nearest(v, words))
}

// setSizes takes MAX, MIN:MAX, MIN: or :MAX.
func setSizes(s *settings, v string) error {
	lo, hi, both := strings.Cut(v, ":")
	if !both {
		lo, hi = "", v
	}
	if lo == "" && hi == "" {
		return errors.New("neither a smallest nor a largest size")
	}
	top := bench.MaxSize
	if s.bench.Name == "matching" {
		top = bench.MaxDepth
	}
	if lo != "" {
		if err := setInt(&s.o.MinSize, lo, 1, top); err != nil {
			return err
		}
	}
	if hi != "" {
		return setInt(&s.o.MaxSize, hi, 1, top)
	}
	return nil
}

func setIterations(s *settings, v string) error {
	err := setInt(&s.o.Iterations, v, 1, math.MaxInt32)
	s.o.IterationsLarge, s.o.Batches = s.o.Iterations, true
	return err
}

func setWarmup(s *settings, v string) error {
	err := setInt(&s.o.Warmup, v, 0, math.MaxInt32)
	s.o.WarmupLarge = s.o.Warmup
	return err
}

func setPercentiles(s *settings, v string) error {
	s.o.Percentiles = nil
	for f := range strings.SplitSeq(v, ",") {
		var p int
		if err := setInt(&p, f, 1, 100); err != nil {
			return err
		}
		s.o.Percentiles = append(s.o.Percentiles, p)
	}
	if n := len(s.o.Percentiles); n > bench.MaxPercentiles {
		return fmt.Errorf("%d percentiles, the most is %d", n, bench.MaxPercentiles)
	}
	return nil
}

func setType(s *settings, v string) error {
	return setTypes(s, v, bench.Char, bench.Int, bench.Float)
}

// setTypes takes one of the types, by its name in small letters, or all.
func setTypes(s *settings, v string, types ...bench.Datatype) error {
	choices := map[string]func(){"all": func() { s.o.Types = types }}
	for i, t := range types {
		choices[strings.ToLower(t.String())] = func() { s.o.Types = types[i : i+1 : i+1] }
	}
	return setChoice(v, choices)
}

// setThreads takes R or S:R.
func setThreads(s *settings, v string) error {
	senders, receivers, both := strings.Cut(v, ":")
	if !both {
		senders, receivers = "1", v
	}
	if err := setInt(&s.o.Senders, senders, 1, bench.MaxThreads); err != nil {
		return err
	}
	return setInt(&s.o.Receivers, receivers, 1, bench.MaxThreads)
}

func setSeconds(s *settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f > 0) || f > 86400 {
		return fmt.Errorf("%q is not a number of seconds between 0 and 86400", v)
	}
	s.o.Wait = time.Duration(f * float64(time.Second))
	return nil
}

func setWork(s *settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f > 0) || f > bench.MaxWork {
		return fmt.Errorf("%q is not a number above 0 and up to %d", v, bench.MaxWork)
	}
	s.o.Work = f
	return nil
}

func setBurst(s *settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	most := float64(bench.MaxBurst / time.Millisecond)
	if err != nil || !(f > 0) || f > most {
		return fmt.Errorf("%q is not a number of milliseconds above 0 and up to %g", v, most)
	}
	s.o.Burst = time.Duration(f * float64(time.Millisecond))
	return nil
}
