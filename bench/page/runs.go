package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// runner is a program of single runs: what differs between two runners makes
// two series, and runs of one runner are pooled.
type runner struct {
	program                                       string // of another program; empty: ours
	dir                                           string
	fabric, ranks, progress, flags, version, host string
}

// extent are the flags that say how much is measured, not of what.
var extent = []string{"--message-size", "--iterations", "--warmup"}

// runnerOf tells who has run a source.
func (b *builder) runnerOf(s *source, bench string) runner {
	dir, base := path.Split(s.name)
	dir = strings.TrimSuffix(dir, "/")
	if s.run == nil {
		if b.titles[base] != "" && dir != "" { // openmpi/latency
			dir, base = path.Split(dir)
			return runner{program: base, dir: strings.TrimSuffix(dir, "/")}
		}
		return runner{program: trimBench(base, bench), dir: dir}
	}
	var flags []string
	for _, f := range s.run.Flags {
		name, _, _ := strings.Cut(f, "=")
		if name != "--ranks" && name != "--fabric" && name != "--progress" && !slices.Contains(extent, name) {
			flags = append(flags, strings.Replace(f, "=", " ", 1))
		}
	}
	return runner{
		dir: dir, fabric: s.job.Fabric, ranks: fmt.Sprintf("%d ranks", s.job.Ranks), progress: "progress " + s.job.Progress,
		flags: strings.Join(flags, " "), version: shortVersion(s.head.Version), host: s.head.Machine.Host,
	}
}

// trimBench takes the benchmark's name from a file's, so that a program has one
// name on the whole page: latency.openmpi is openmpi.
func trimBench(name, bench string) string {
	for _, sep := range []string{".", "-", "_"} {
		if s, ok := strings.CutPrefix(name, bench+sep); ok && s != "" {
			return s
		}
		if s, ok := strings.CutSuffix(name, sep+bench); ok && s != "" {
			return s
		}
	}
	return name
}

// shortVersion is a version in a legend: revisions are long.
func shortVersion(v string) string {
	if len(v) > 12 && !strings.HasPrefix(v, "v") {
		return v[:12]
	}
	return v
}

// parts are what a name of our runner can say besides Weft.
func (r runner) parts() []string {
	return []string{r.fabric, r.ranks, r.progress, r.flags, r.version, r.host, r.dir}
}

// names gives each runner a name that says how it differs from the others.
func names(all []runner) map[runner]string {
	differs := map[int]bool{}
	dirs := map[string]string{} // of each other program
	apart := map[string]bool{}
	var first []string
	for _, r := range all {
		if r.program != "" {
			if d, ok := dirs[r.program]; ok && d != r.dir {
				apart[r.program] = true
			}
			dirs[r.program] = r.dir
			continue
		}
		for i, p := range r.parts() {
			if first != nil && first[i] != p {
				differs[i] = true
			}
		}
		if first == nil {
			first = r.parts()
		}
	}
	out, taken := map[runner]string{}, map[string]bool{}
	for _, r := range all {
		name := r.program
		switch {
		case apart[name]:
			name = path.Join(r.dir, name)
		case name == "":
			name = weft
			for i, p := range r.parts() {
				if differs[i] && p != "" {
					name += ", " + p
				}
			}
		}
		name = unique(name, func(s string) bool { return taken[s] })
		taken[name], out[r] = true, name
	}
	return out
}

// measured are the values of a benchmark's column.
type measured struct {
	column osufmt.Column
	first  string
	at     map[runner]map[int][]float64
	limit  map[int][]spread.Spread
}

// bench are the runs of one benchmark, with one datatype.
type bench struct {
	name, title, datatype string
	runners               []runner
	columns               []*measured
	commands              []command
}

// runs makes the cards of single runs.
func (b *builder) runs(sources []source) []card {
	var all []*bench
	for i := range sources {
		s := &sources[i]
		for _, t := range s.tables {
			name, title := b.benchmark(s, t)
			r := b.runnerOf(s, name)
			for j := range t.Sections {
				sec := &t.Sections[j]
				e := find(&all, name, title, usual(sec.Datatype))
				e.add(r, sec, s)
				if s.run != nil {
					e.say(weft, "osu-go "+strings.Join(append([]string{name}, s.run.Flags...), " "))
				}
			}
		}
	}
	var cards []card
	for _, e := range all {
		if c, ok := b.runCard(e); ok {
			cards = append(cards, c)
		}
	}
	return cards
}

// benchmark is the name and the title of what a table shows.
func (b *builder) benchmark(s *source, t *osufmt.Table) (name, title string) {
	if s.run != nil {
		return s.run.Benchmark, cmp.Or(b.titles[s.run.Benchmark], s.run.Benchmark)
	}
	bare, _, _ := strings.Cut(t.Title, " v")
	for name, title := range b.titles {
		if title == bare {
			return name, title
		}
	}
	if bare == "" {
		return s.name, s.name
	}
	return bare, bare
}

func find(all *[]*bench, name, title, datatype string) *bench {
	for _, e := range *all {
		if e.name == name && e.datatype == datatype {
			return e
		}
	}
	e := &bench{name: name, title: title, datatype: datatype}
	*all = append(*all, e)
	return e
}

func (e *bench) say(name, line string) {
	if c := (command{name, line}); !slices.Contains(e.commands, c) {
		e.commands = append(e.commands, c)
	}
}

// add adds a section's values.
func (e *bench) add(r runner, sec *osufmt.Section, s *source) {
	if !slices.Contains(e.runners, r) {
		e.runners = append(e.runners, r)
	}
	for i, col := range sec.Columns {
		if col.Better == osufmt.Neither {
			continue
		}
		id := identity(col.Name)
		k := slices.IndexFunc(e.columns, func(m *measured) bool { return identity(m.column.Name) == id })
		if k < 0 {
			m := &measured{column: col, at: map[runner]map[int][]float64{}, limit: map[int][]spread.Spread{}}
			if !sec.NoSize {
				m.first = sec.FirstName()
			}
			k, e.columns = len(e.columns), append(e.columns, m)
		}
		at := e.columns[k].at
		if at[r] == nil {
			at[r] = map[int][]float64{}
		}
		for _, row := range sec.Rows {
			at[r][row.Size] = append(at[r][row.Size], row.Values[i])
			if s.run != nil && s.floor != nil {
				if v := compare.Limit(*s.floor, e.name, s.job.Ranks, col.Name, row.Size); v > 0 {
					limit := e.columns[k].limit
					limit[row.Size] = append(limit[row.Size], spread.Of([]float64{v}))
				}
			}
		}
	}
}

func identity(column string) string {
	return osufmt.Column{Key: osufmt.Key(column)}.Identity()
}

// runCard makes a card of a benchmark's runs.
func (b *builder) runCard(e *bench) (card, bool) {
	slices.SortStableFunc(e.runners, func(x, y runner) int { return cmp.Compare(x.program, y.program) }) // ours first
	named := names(e.runners)
	c := card{kind: kindOf(e.title), title: short(e.title) + of(e.datatype), how: "Single runs.", commands: e.commands}
	repeated, beside := 0, false
	for _, m := range e.columns {
		name, unit := nameAndUnit(m.column.Name)
		p := panel{title: name, unit: unit, better: m.column.Better, first: m.first, limit: pooled(m.limit)}
		var ours, theirs []series
		for _, r := range e.runners {
			if m.at[r] == nil {
				continue
			}
			s := series{name: named[r], style: b.styles.of(named[r])}
			at := map[int]spread.Spread{}
			for size, v := range m.at[r] {
				at[size] = spread.Of(v)
				repeated = max(repeated, len(v))
			}
			s.points = sorted(at)
			p.series = append(p.series, s)
			if r.program == "" {
				ours = append(ours, s)
			} else {
				theirs = append(theirs, s)
			}
		}
		p.ratios = ratios(ours, theirs)
		beside = beside || len(p.ratios) > 0
		c.panels = append(c.panels, p)
	}
	if repeated > 1 {
		c.notes = append(c.notes, fmt.Sprintf("Medians of up to %d runs, shaded from the first quartile to the third.", repeated))
	}
	if beside {
		c.notes = append(c.notes, "Ratios are of medians. The programs did not take turns, and the speed of a shared machine drifts: osu-go compare measures a ratio.")
	}
	return c, len(c.panels) > 0
}

// ratios are those of ours to theirs, where one side has one series only: else
// they are too many to read.
func ratios(ours, theirs []series) (all []series) {
	if len(ours) != 1 && len(theirs) != 1 {
		return nil
	}
	for _, o := range ours {
		for _, t := range theirs {
			s := series{name: o.name + " to " + t.name, style: t.style}
			if len(ours) > 1 {
				s.style = o.style
			}
			below := map[int]float64{}
			for _, p := range t.points {
				below[p.size] = p.v.Median
			}
			for _, p := range o.points {
				if d := below[p.size]; d > 0 {
					s.points = append(s.points, point{p.size, spread.Of([]float64{p.v.Median / d})})
				}
			}
			if len(s.points) > 0 {
				all = append(all, s)
			}
		}
	}
	return all
}
