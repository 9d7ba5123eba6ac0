package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
)

// measure runs the benchmark of s: on goroutines of this process, as one rank
// of a launcher's job, or on ranks that it starts itself.
func measure(s *settings, stdout, stderr io.Writer) error {
	switch {
	case s.help:
		return writeHelp(stdout, s)
	case s.version:
		_, err := fmt.Fprintf(stdout, "# %s v%s\n", s.bench.Title, osufmt.Version)
		return err
	case s.fabric == "mem":
		return goroutines(s, stdout, stderr)
	}
	launched, err := launch.Launched()
	switch {
	case err != nil:
		return err
	case launched && s.metrics != "":
		return usagef("--metrics serves the ranks that osu-go starts itself, and a launcher has started these: write weft run --metrics %s osu-go %s", s.metrics, s.bench.Name)
	case launched:
		return rank(s, stdout, stderr)
	}
	return startRanks(s, stdout, stderr)
}

// startRanks starts this program again as the ranks of a job on this machine.
func startRanks(s *settings, stdout, stderr io.Writer) error {
	if err := mpi.CheckEnvironment(); err != nil { // once, and not by each rank
		return usageError{err}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to start its ranks: %w", err)
	}
	ctx, stop := launch.WithSignals(context.Background())
	defer stop()
	l := launch.Launch{
		N: s.ranks, Path: self, Args: append([]string{s.bench.Name}, rankArgs(s)...),
		Stdout: stdout, Stderr: stderr,
		Direct: true, // only rank 0 prints, and it checks for a terminal
	}
	if s.documents() {
		l.Env = append(os.Environ(), floorEnv+"="+measureFloor())
	}
	if s.unbound {
		l.Bind = launch.BindNone
	}
	counters, err := serveProcesses(s.metrics, stderr)
	if err != nil {
		return err
	}
	if counters != nil {
		l.Begun = func(id string, key launch.Key) { counters.Begun(id, key, l.N) }
	}
	err = l.Run(ctx)
	counters.Close() // it has no file that could fail
	if onlyExits(err) {
		return said{launch.ExitCode(err)}
	}
	return err
}

// onlyExits reports whether an error of Launch.Run contains only ranks that
// have exited with a code, and so have printed their error.
func onlyExits(err error) bool {
	switch e := err.(type) {
	case *launch.ExitError:
		return e.Code > 0 && e.Err == nil
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(err error) bool { return !onlyExits(err) })
	}
	return false
}

// rankArgs are the flags of a rank.
func rankArgs(s *settings) []string {
	args := append([]string{}, s.forward...)
	if s.json {
		args = append(args, "--json")
	}
	if s.save != "" {
		args = append(args, "--save="+s.save)
	}
	if s.trace != "" {
		args = append(args, "--trace="+s.trace)
	}
	return append(args, fmt.Sprintf("--decimals=%d", s.decimals))
}

// rank runs the benchmark in this process, as one rank of a job.
func rank(s *settings, stdout, stderr io.Writer) error {
	w, err := mpi.Init(context.Background(), s.world()...)
	if err != nil {
		return err
	}
	me := w.Comm().Rank()
	err = onRank(w, s, stdout, stderr)
	status := 0
	switch {
	case err == nil:
	case errors.Is(err, bench.ErrValidation):
		status = exitFailed
	case errors.As(err, &usageError{}):
		status = exitUsage
	default:
		// No Finalize, which would wait for the others: they may not call it.
		return fmt.Errorf("rank %d: %w", me, err)
	}
	// All ranks have the same outcome. If one exited before rank 0 has printed
	// it, the launcher would stop rank 0.
	if status != 0 && me == 0 {
		fmt.Fprintf(stderr, "osu-go: %v\n", err)
	}
	if err := w.Finalize(); err != nil && status == 0 {
		return fmt.Errorf("rank %d: %w", me, err)
	}
	if status != 0 {
		return said{status}
	}
	return nil
}

// world are the options of a World.
func (s *settings) world() []mpi.Option {
	o := []mpi.Option{mpi.WithFabric(s.fabric)}
	if s.trace != "" {
		o = append(o, mpi.WithTrace(s.trace))
	}
	if s.noThread {
		o = append(o, mpi.WithoutProgressThread())
	}
	return o
}

// progress is the value of --progress.
func (s *settings) progress() string {
	if s.noThread {
		return "none"
	}
	return "thread"
}

// goroutines runs all ranks in this process.
func goroutines(s *settings, stdout, stderr io.Writer) error {
	if s.documents() {
		s.floor = measureFloor()
	}
	seen := &worlds{}
	if s.metrics != "" {
		stop, err := seen.serve(s.metrics, stderr)
		if err != nil {
			return err
		}
		defer stop()
	}
	return mpi.Run(s.ranks, func(w *mpi.World) error {
		seen.add(w)
		return onRank(w, s, stdout, stderr)
	}, s.world()...)
}

// onRank runs the benchmark on one rank; only rank 0 prints.
func onRank(w *mpi.World, s *settings, stdout, stderr io.Writer) error {
	c := w.Comm()
	if s.ranksSet && s.ranks != c.Size() {
		return usagef("-n %d, but the launcher has started %d ranks", s.ranks, c.Size())
	}
	if err := s.bench.CheckRanks(c.Size()); err != nil {
		return usageError{err}
	}
	if c.Rank() != 0 {
		if err := s.bench.Run(c, s.o, nil, nil); err != nil || !s.documents() {
			return err
		}
		_, err := places(c)
		return err
	}
	p := newProgress(s.bench.Name, stderr)
	defer p.clear()
	doc := &osufmt.Collector{}
	var sink bench.Sink = doc
	if !s.json {
		table := osufmt.NewWriter(stdout)
		table.Decimals = s.decimals
		if sink = table; s.save != "" {
			sink = both{table, doc}
		}
	}
	if err := s.bench.Run(c, s.o, p.wrap(sink), p.step); err != nil || !s.documents() {
		return err
	}
	return s.document(w, doc, stdout)
}
