package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/internal/atomicfile"
	"github.com/weft-mpi/weft/internal/timeline"
)

const traceUsage = `weft trace merge joins the traces of a job's ranks into one file. weft run --trace FILE
writes one file for the whole job; only ranks that could not hand over their part,
since another one had died, write files of their own: FILE.0, FILE.1 and so on.

usage: weft trace merge -o FILE PARTS...

PARTS may include the FILE of the job. Open the result at https://ui.perfetto.dev.

`

// runTrace joins traces.
func runTrace(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("trace", pflag.ContinueOnError)
	out := flags.StringP("output", "o", "", "write the joined trace to `FILE`, which may be one of the parts")
	if code, done := parse(flags, args, traceUsage, "", stdout, stderr); done {
		return code
	}
	switch {
	case flags.Arg(0) != "merge":
		return wrong(stderr, errors.New("what to do is missing: write weft trace merge -o FILE PARTS"))
	case *out == "":
		return wrong(stderr, errors.New("weft trace merge needs a file to write: -o FILE"))
	case flags.NArg() < 2:
		return wrong(stderr, errors.New("weft trace merge needs the parts to join, behind the flags"))
	}
	ranks, err := mergeTraces(*out, flags.Args()[1:])
	if err != nil {
		fmt.Fprintln(stderr, "weft:", err)
		return exitFailed
	}
	return say(stdout, stderr, fmt.Sprintf("%s has the ranks %s\n", *out, strings.Trim(fmt.Sprint(ranks), "[]")))
}

// mergeTraces joins parts. The file is there as a whole or as it was.
func mergeTraces(to string, parts []string) (ranks []int, err error) {
	var in []io.Reader
	for _, name := range parts {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = append(in, f)
	}
	err = atomicfile.Write(to, func(f io.Writer) error {
		joined, err := timeline.Merge(f, in...)
		ranks = joined
		return err
	})
	return ranks, err
}
