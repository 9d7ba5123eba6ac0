package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// Result is the outcome of a comparison.
type Result struct {
	Benchmark string       `json:"benchmark"`
	Rounds    int          `json:"rounds"`
	Names     [2]string    `json:"names"` // of ours and theirs, in tables and plots
	Ours      string       `json:"ours"`  // command lines
	Theirs    string       `json:"theirs"`
	Floor     *floor.Floor `json:"floor,omitempty"` // over all rounds
	Metrics   []Metric     `json:"metrics"`
	Notes     []string     `json:"notes,omitempty"` // what could not be compared, and why
}

// Metric is the comparison of one column.
type Metric struct {
	Name   string  `json:"name"` // as ours prints it: "Avg Latency(us)"
	Key    string  `json:"key"`
	Better string  `json:"better"`           // "lower is better" or "higher is better"
	First  string  `json:"first,omitempty"`  // header of the sizes; empty if there are none
	Coarse float64 `json:"coarse,omitempty"` // largest relative error of a value of theirs by its rounding
	Points []Point `json:"points"`

	lower bool
}

// Point is the comparison of one row.
type Point struct {
	Datatype string        `json:"datatype,omitempty"`
	Size     int           `json:"size"`
	Ours     spread.Spread `json:"ours"`
	Theirs   spread.Spread `json:"theirs"`
	Ratio    spread.Spread `json:"ratio"`           // of ours to theirs in the same round
	Floor    float64       `json:"floor,omitempty"` // in the column's unit; 0: none is known
}

// ErrNothingInCommon is the error of two programs without a common measurement.
var ErrNothingInCommon = errors.New("the two programs have no column and size in common")

// place is the row of a value in a table.
type place struct {
	datatype string
	size     int
}

// values are those of one column in one table; order is that of the table.
type values struct {
	col   osufmt.Column
	first string
	order []place
	at    map[place]float64
}

// reduce pairs the tables of each round.
func reduce(c Config, ours, theirs []*osufmt.Table, floors []floor.Floor) (*Result, error) {
	r := &Result{
		Benchmark: c.Benchmark,
		Rounds:    len(ours),
		Ours:      strings.Join(c.Ours.Argv, " "),
		Theirs:    strings.Join(c.Theirs.Argv, " "),
		Names:     [2]string{c.Ours.Name, c.Theirs.Name},
	}
	if len(floors) > 0 {
		f := floor.Merge(floors)
		r.Floor = &f
	}
	a, b := collect(ours), collect(theirs)
	for _, id := range a.ids {
		if b.by[id] == nil {
			r.note("%s prints no column %q", c.Theirs.Name, a.by[id][0].col.Name)
			continue
		}
		if m := r.metric(c, a.by[id], b.by[id]); len(m.Points) > 0 {
			r.Metrics = append(r.Metrics, m)
		}
	}
	if len(r.Metrics) == 0 {
		why := strings.Join(append([]string{""}, r.Notes...), "; ")
		return nil, fmt.Errorf("compare: %w: ours has %s, theirs has %s%s", ErrNothingInCommon, a, b, why)
	}
	return r, nil
}

func (r *Result) note(format string, a ...any) {
	n := fmt.Sprintf(format, a...)
	if !slices.Contains(r.Notes, n) {
		r.Notes = append(r.Notes, n)
	}
}

// columns are the measured columns of one side over all rounds.
type columns struct {
	ids []string
	by  map[string][]values // by id; the column in each round
}

func (c columns) String() string {
	var s []string
	for _, id := range c.ids {
		v := c.by[id][0]
		s = append(s, fmt.Sprintf("%q at %d sizes", v.col.Name, len(v.order)))
	}
	if len(s) == 0 {
		return "no measured column"
	}
	return strings.Join(s, ", ")
}

func collect(tabs []*osufmt.Table) columns {
	c := columns{by: map[string][]values{}}
	for round, t := range tabs {
		for id, v := range measured(t) {
			if len(c.by[id]) == round { // a column that one round lacks is dropped
				c.by[id] = append(c.by[id], v)
			}
		}
	}
	for _, s := range tabs[0].Sections {
		for _, col := range s.Columns {
			id := col.Identity()
			switch {
			case len(c.by[id]) == len(tabs):
				if !slices.Contains(c.ids, id) {
					c.ids = append(c.ids, id)
				}
			default:
				delete(c.by, id)
			}
		}
	}
	return c
}

// measured returns the columns of a table that have a good direction, by
// identity.
func measured(t *osufmt.Table) map[string]values {
	out := map[string]values{}
	for _, s := range t.Sections {
		for i, col := range s.Columns {
			if col.Better == osufmt.Neither {
				continue
			}
			id := col.Identity()
			v, ok := out[id]
			if !ok {
				v = values{col: col, at: map[place]float64{}}
				if !s.NoSize {
					v.first = s.FirstName()
				}
			}
			v.col.Decimals = max(v.col.Decimals, col.Decimals)
			for _, row := range s.Rows {
				p := place{s.Datatype, row.Size}
				if _, twice := v.at[p]; !twice {
					v.order = append(v.order, p)
				}
				v.at[p] = row.Values[i]
			}
			out[id] = v
		}
	}
	return out
}

// metric compares one column, whose values are given for each round.
func (r *Result) metric(c Config, ours, theirs []values) Metric {
	m := Metric{
		Name:   ours[0].col.Name,
		Key:    ours[0].col.Key,
		Better: ours[0].col.Better.String(),
		First:  ours[0].first,
		lower:  ours[0].col.Better == osufmt.Lower,
	}
	var absent, zero []string
	for _, p := range ours[0].order {
		var a, b, ratio []float64
		for i := range ours {
			x, okx := ours[i].at[p]
			y, oky := theirs[i].at[p]
			if !okx || !oky {
				break
			}
			a, b = append(a, x), append(b, y)
			if y != 0 {
				ratio = append(ratio, x/y)
			}
		}
		switch {
		case len(a) < len(ours):
			absent = append(absent, p.of(m.First))
			continue
		case len(ratio) < len(ours):
			zero = append(zero, p.of(m.First))
			continue
		}
		pt := Point{Datatype: p.datatype, Size: p.size, Ours: spread.Of(a), Theirs: spread.Of(b), Ratio: spread.Of(ratio)}
		if r.Floor != nil {
			pt.Floor = Limit(*r.Floor, c.Benchmark, c.Ranks, m.Name, p.size)
		}
		m.Coarse = max(m.Coarse, rounding(theirs[0].col.Decimals)/pt.Theirs.Median)
		m.Points = append(m.Points, pt)
	}
	if len(absent) > 0 {
		r.note("not in every output, so not compared: %s of %s", m.Name, strings.Join(absent, ", "))
	}
	if len(zero) > 0 {
		r.note("%s printed 0, so not compared: %s of %s", c.Theirs.Name, m.Name, strings.Join(zero, ", "))
	}
	return m
}

// of returns the name of the place in messages: "size 8".
func (p place) of(first string) string {
	if first == "" {
		return "the run"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %d", p.datatype, strings.ToLower(first), p.size))
}

// rounding is the largest error of a value that is printed with so many
// decimals.
func rounding(decimals int) float64 {
	r := 0.5
	for range decimals {
		r /= 10
	}
	return r
}

// minCopied is the size from which the copy bounds the bandwidth. Below it the
// cost of each message does.
const minCopied = 4096

// Limit is the floor f of a benchmark's column at a size, in the column's unit,
// or 0 where none is known. For a table without sizes size is 0.
func Limit(f floor.Floor, benchmark string, ranks int, column string, size int) float64 {
	switch {
	case strings.HasSuffix(column, "(us)") && strings.Contains(strings.ToLower(column), "lat"):
		return f.Latency(size)
	case strings.HasSuffix(column, "MB/s") || strings.HasSuffix(column, "(MB/s)"):
		if ranks == 2 && benchmark != "bibw" && size >= minCopied {
			return f.Bandwidth(size)
		}
	}
	return 0
}
