package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/mpi"
)

// list prints the benchmarks and the fabrics.
func list(args []string, w io.Writer) error {
	if len(args) > 0 {
		return usagef("list takes no arguments, what is %q?", args[0])
	}
	fmt.Fprintln(w, "benchmarks:")
	for _, b := range bench.All() {
		fmt.Fprintf(w, "  %-31s%s (%s)\n", b.Name, b.Summary, ranksOf(b))
		for _, n := range b.Notes {
			fmt.Fprintf(w, "  %-31s  %s\n", "", n)
		}
	}
	_, err := fmt.Fprintf(w, "fabrics:\n  %s\n", strings.Join(mpi.Fabrics(), "\n  "))
	return err
}

func ranksOf(b *bench.Benchmark) string {
	switch {
	case b.MaxRanks == b.MinRanks:
		return fmt.Sprintf("%d ranks", b.MinRanks)
	case b.EvenRanks:
		return "an even number of ranks"
	}
	return fmt.Sprintf("%d ranks or more", b.MinRanks)
}

// writeUsage is the help of the whole command.
func writeUsage(w io.Writer) {
	fmt.Fprint(w, `osu-go measures Weft with the benchmarks, flags and output of OSU 7.4.

  osu-go BENCH [flags]                      measure (osu-go BENCH -h: its flags)
  osu-go compare BENCH [flags] [--rounds 7] [--svg FILE] [--json] -- COMMAND ...
                                            measure in turns with any command that
                                            prints OSU's format
  osu-go report DIR [-o FILE]               one page of the results in DIR, with plots
                                            (BENCH and compare: --save DIR)
  osu-go floor [--json] [--seconds S]       what the machine itself costs
  osu-go list                               the benchmarks and fabrics

Without a launcher it starts its ranks on this machine by itself.
`)
}

// writeHelp is the help of a benchmark.
func writeHelp(w io.Writer, s *settings) error {
	b := s.bench
	fmt.Fprintf(w, "Usage: osu-go %s [flags]\n%s: %s.\n\n", b.Name, b.Title, b.Summary)
	for _, n := range b.Notes {
		fmt.Fprintf(w, "  %s\n", n)
	}
	if len(b.Notes) > 0 {
		fmt.Fprintln(w)
	}
	_, err := fmt.Fprint(w, flagSet(newSettings(b)).FlagUsages())
	return err
}
