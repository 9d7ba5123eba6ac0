package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// cell is a row of the printed matrix.
type cell struct {
	state     string
	role      role
	transport string

	runs, hangs, wrong, leaks int
	times                     []delay // to the last error, by run
}

func (c *cell) String() string { return fmt.Sprintf("%s/%s/%s", c.state, c.role, c.transport) }

// matrix is what is asked for.
type matrix struct {
	runs       int
	match      *regexp.Regexp
	transports []string
	seed       uint64
	limit      time.Duration // of a run
	plant      string
}

// cells lists the rows that the user has chosen.
func (m *matrix) cells() (list []*cell) {
	for _, t := range m.transports {
		for _, s := range states {
			for _, r := range []role{sender, receiver, third} {
				c := &cell{state: s.name, role: r, transport: t}
				if m.match.MatchString(c.String()) {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// columns are the widths of the table.
const columns = "%-8s %-36s %-9s %5v %6v %6v %6v %10v %10v  %s\n"

func heading() string {
	return fmt.Sprintf(columns, "fabric", "state", "dies", "runs", "hangs", "wrong", "leaks", "median", "worst", "which")
}

func (c *cell) row() string {
	median, worst, which := "-", "-", ""
	if n := len(c.times); n > 0 {
		slices.SortFunc(c.times, func(a, b delay) int { return cmp.Compare(a.Duration, b.Duration) })
		median, worst, which = c.times[n/2].String(), c.times[n-1].String(), c.times[n-1].op
	}
	return fmt.Sprintf(columns, c.transport, c.state, c.role, c.runs, c.hangs, c.wrong, c.leaks, median, worst, which)
}

func (d delay) String() string {
	return fmt.Sprintf("%.2f ms", float64(d.Duration)/float64(time.Millisecond))
}

// add counts a run.
func (c *cell) add(r *result) {
	c.runs++
	if r.told {
		c.times = append(c.times, r.slowest)
	}
	for _, k := range []struct {
		n     *int
		lines []string
	}{{&c.hangs, r.hangs}, {&c.wrong, r.wrong}, {&c.leaks, r.leaks}} {
		if len(k.lines) > 0 {
			*k.n++
		}
	}
}

// described is how many failed runs are described, and have their output kept.
const described = 20

// errFound is returned if runs have failed.
var errFound = errors.New("runs have failed")

// print carries out all runs and prints a row for each cell when it is known,
// then the failures. status, if it is not nil, is a terminal that the present run
// is shown on.
func (m *matrix) print(ctx context.Context, out, status io.Writer) error {
	cells := m.cells()
	if len(cells) == 0 {
		return fmt.Errorf("no state, role and transport matches %q", m.match)
	}
	fmt.Fprint(out, heading())
	var descriptions []string
	var all cell
	failed := 0
	begin := time.Now()
	for i, c := range cells {
		for n := range m.runs {
			if status != nil {
				fmt.Fprintf(status, "\r\033[K%d of %d: %s, run %d of %d", i+1, len(cells), c, n+1, m.runs)
			}
			s := spec{State: c.state, Role: c.role, Fabric: c.transport, Seed: m.seed + uint64(n), Plant: m.plant}
			r, err := s.do(ctx, m.limit)
			if err != nil {
				return err
			}
			c.add(&r)
			if r.failed() {
				if failed++; failed <= described {
					descriptions = append(descriptions, s.describe(&r))
				}
			}
		}
		if status != nil {
			fmt.Fprint(status, "\r\033[K")
		}
		fmt.Fprint(out, c.row())
		all.runs, all.hangs, all.wrong, all.leaks = all.runs+c.runs, all.hangs+c.hangs, all.wrong+c.wrong, all.leaks+c.leaks
		all.times = append(all.times, c.times...)
	}
	all.transport = "all"
	fmt.Fprint(out, all.row())
	fmt.Fprintf(out, "time to error: from the kill, or from the beginning of a later operation, to the last error of a run, and which that was in the worst; took %v\n", time.Since(begin).Round(time.Second))
	for _, text := range descriptions {
		fmt.Fprint(out, "\n", text)
	}
	if failed > 0 {
		return fmt.Errorf("faults: %d of %d %w", failed, all.runs, errFound)
	}
	return nil
}

// describe is a failed run in words, with how to run it again, and the file that
// has what its ranks have said.
func (s spec) describe(r *result) string {
	var b strings.Builder
	exact := regexp.QuoteMeta(fmt.Sprintf("%s/%s/%s", s.State, s.Role, s.Fabric))
	fmt.Fprintf(&b, "*** go run -tags faults ./internal/testkit/faults -runs 1 -seed %d -transport %s -run '^%s$'\n", s.Seed, s.Fabric, exact)
	for _, k := range []struct {
		name  string
		lines []string
	}{{"hang", r.hangs}, {"wrong", r.wrong}, {"leak", r.leaks}} {
		for _, l := range k.lines {
			fmt.Fprintf(&b, "    %s: %s\n", k.name, strings.ReplaceAll(l, "\n", "\n        "))
		}
	}
	f, err := os.CreateTemp("", "weft-faults-*.txt")
	if err == nil {
		_, err = f.WriteString(r.text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintf(&b, "    its output is lost: %v\n", err)
		return b.String()
	}
	fmt.Fprintf(&b, "    its output: %s\n", filepath.Clean(f.Name()))
	return b.String()
}
