package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/page"
	"github.com/weft-mpi/weft/bench/record"
	"github.com/weft-mpi/weft/internal/launch"
)

// floorTime is spent on the floor before each round of a comparison.
const floorTime = 200 * time.Millisecond

// exactDecimals is the number of decimals of our own runs in a comparison. With
// OSU's two, rounding would affect both sides of a ratio.
const exactDecimals = 5

// comparison is the command line of osu-go compare.
type comparison struct {
	*settings
	rounds  int
	svg     string
	label   string
	noFloor bool
	command []string
}

// parseCompare reads the command line of a comparison.
func parseCompare(args []string) (*comparison, *pflag.FlagSet, error) {
	if len(args) == 0 {
		return nil, nil, usagef("compare what? osu-go compare BENCH [flags] -- COMMAND ...")
	}
	b, err := lookup(args[0])
	if err != nil {
		return nil, nil, err
	}
	c := &comparison{settings: newSettings(b)}
	fs := flagSet(c.settings)
	fs.IntVar(&c.rounds, "rounds", 7, "how often to run both")
	fs.StringVar(&c.svg, "svg", "", "draw the comparison into this file")
	fs.StringVar(&c.label, "label", "", "name of the other program in tables and drawings")
	fs.BoolVar(&c.noFloor, "no-floor", false, "do not measure the floor between the rounds")
	if err := parseFlags("compare "+b.Name, fs, args[1:]); err != nil || c.help {
		return c, fs, err
	}
	dash := fs.ArgsLenAtDash()
	switch {
	case dash > 0 || dash < 0 && fs.NArg() > 0:
		return nil, nil, usagef("compare %s takes flags only before --, what is %q?", b.Name, fs.Arg(0))
	case fs.NArg() == 0:
		return nil, nil, usagef("compare with what? Put the command behind --: osu-go compare %s -- mpirun -n 2 osu_%s", b.Name, b.Name)
	case c.rounds < 1 || c.rounds > compare.MaxRounds:
		return nil, nil, usagef("--rounds %d is not between 1 and %d", c.rounds, compare.MaxRounds)
	case c.svg != "" && (b.Name == "barrier" || b.Name == "cpu"):
		return nil, nil, usagef("%s measures a single value: there is nothing for --svg to draw", b.Name)
	case c.version:
		return nil, nil, usagef("-v makes no sense in a comparison")
	}
	c.command = fs.Args()
	if c.label == "" {
		c.label = filepath.Base(c.command[0])
	}
	return c, fs, c.check(fs)
}

// runCompare runs a comparison and prints its outcome.
func runCompare(args []string, stdout, stderr io.Writer) error {
	if len(args) == 1 && (args[0] == "-h" || args[0] == "--help") {
		writeUsage(stdout)
		return nil
	}
	c, fs, err := parseCompare(args)
	if err != nil {
		return err
	}
	if c.help {
		_, err := fmt.Fprintf(stdout, "Usage: osu-go compare %s [flags] -- COMMAND ...\n\n%s", c.bench.Name, fs.FlagUsages())
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program to run it: %w", err)
	}
	ctx, stop := launch.WithSignals(context.Background())
	defer stop()
	p := newProgress("compare "+c.bench.Name, stderr)
	defer p.clear()
	cfg := compare.Config{
		Benchmark: c.bench.Name,
		Ranks:     c.ranks,
		Ours:      compare.Side{Name: "osu-go", Argv: c.ours(self)},
		Theirs:    compare.Side{Name: c.label, Argv: c.command},
		Rounds:    c.rounds,
		Progress:  p.say,
	}
	if !c.noFloor && c.hasFloor() {
		cfg.Floor = func() (floor.Floor, error) { return floor.Measure(floorTime) }
	}
	r, err := compare.Run(ctx, cfg)
	p.clear()
	if err != nil {
		return err
	}
	if c.svg != "" {
		if err := writeSVG(r, c.svg); err != nil {
			return err
		}
	}
	doc := &record.Comparison{Head: documented(record.ComparisonKind), Result: r, Job: c.job()}
	if c.save != "" {
		if err := save(c.save, doc, "compare", c.bench.Name, c.label); err != nil {
			return err
		}
	}
	if c.json {
		return record.Write(stdout, doc)
	}
	return r.WriteText(stdout)
}

// ours is the command line of our side.
func (c *comparison) ours(self string) []string {
	args := append([]string{self, c.bench.Name}, c.forward...)
	return append(args, fmt.Sprintf("--decimals=%d", exactDecimals))
}

// job is how the ranks of our side ran.
func (c *comparison) job() record.Job {
	j := record.Job{Ranks: c.ranks, Fabric: c.fabric, Progress: c.progress()}
	host, _ := os.Hostname()
	cores, err := launch.AllowedCores()
	if err != nil {
		return j
	}
	for i := range c.ranks {
		of := cores
		if !c.unbound && c.fabric != "mem" {
			of = cores[i%len(cores):][:1] // as launch.BindAuto
		}
		j.Places = append(j.Places, record.Place{Host: host, Cores: record.Cores(of)})
	}
	return j
}

// writeSVG draws into a file, which stays as it was if the drawing fails.
func writeSVG(r *compare.Result, path string) error {
	var svg bytes.Buffer
	if err := page.WriteSVG(&svg, r); err != nil {
		return err
	}
	return replace(path, svg.Bytes())
}
