package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/record"
)

// runFloor measures and prints the hardware's limits.
func runFloor(args []string, w io.Writer) error {
	fs := pflag.NewFlagSet("floor", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	asJSON := fs.Bool("json", false, "one JSON object and no table")
	seconds := fs.Float64P("seconds", "s", 1, "how long to measure")
	help := fs.BoolP("help", "h", false, "print this help")
	if err := parseFlags("floor", fs, args); err != nil {
		return err
	}
	switch {
	case *help:
		_, err := fmt.Fprintf(w, "Usage: osu-go floor [flags]\nOne cache line between two cores, and one core's copy.\n\n%s", fs.FlagUsages())
		return err
	case fs.NArg() > 0:
		return usagef("floor takes flags only, what is %q?", fs.Arg(0))
	case !(*seconds > 0) || *seconds > 3600:
		return usagef("floor: -s %v is not between 0 and 3600 seconds", *seconds)
	}
	f, err := floor.Measure(time.Duration(*seconds * float64(time.Second)))
	if err != nil {
		return err
	}
	if *asJSON {
		return record.Write(w, &record.Floor{Head: documented(record.FloorKind), Floor: f})
	}
	return writeFloor(w, f)
}

func writeFloor(w io.Writer, f floor.Floor) error {
	l := f.LineNs
	model, _ := processors()
	fmt.Fprintf(w, "# Floor of %s, cores %d and %d\n", model, f.CPUs[0], f.CPUs[1])
	fmt.Fprintf(w, "# %-38s%14s%10s%10s%10s\n", "", "Median", "Q1", "Q3", "Best")
	fmt.Fprintf(w, "%-40s%14.1f%10.1f%10.1f%10.1f\n", "cache line, half a round trip (ns)", l.Median, l.Q1, l.Q3, l.Min)
	for _, c := range f.Copies {
		if _, err := fmt.Fprintf(w, "%-40s%14.1f%10.1f%10.1f%10.1f\n", fmt.Sprintf("copy of %d bytes on one core (GB/s)", c.Size),
			c.GBs.Median, c.GBs.Q1, c.GBs.Q3, c.GBs.Max); err != nil {
			return err
		}
	}
	return nil
}
