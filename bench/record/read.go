package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// ErrUnknown is in the error of Read about JSON that is no document of osu-go.
var ErrUnknown = errors.New(`not a document of osu-go: it has no "kind" of run, comparison or floor`)

// Read parses a document and checks it. The result is a *Run, a *Comparison or
// a *Floor; it shares no memory with text.
func Read(text []byte) (any, error) {
	var head struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("no JSON object: %w", err)
	}
	var doc interface{ check() error }
	switch head.Kind {
	case RunKind:
		doc = &Run{}
	case ComparisonKind:
		doc = &Comparison{Result: &compare.Result{}}
	case FloorKind:
		doc = &Floor{}
	default:
		return nil, ErrUnknown
	}
	if err := json.Unmarshal(text, doc); err != nil {
		return nil, fmt.Errorf("a document of kind %s: %w", head.Kind, err)
	}
	if err := doc.check(); err != nil {
		return nil, fmt.Errorf("a document of kind %s: %w", head.Kind, err)
	}
	return doc, nil
}

func (r *Run) check() error {
	switch {
	case r.Benchmark == "":
		return errors.New("it names no benchmark")
	case len(r.Rows) == 0:
		return errors.New("it has no rows")
	case len(r.Columns) == 0:
		return errors.New("it names no columns")
	case r.Floor != nil:
		if err := sound(*r.Floor); err != nil {
			return err
		}
	}
	_, err := r.Sections()
	return err
}

func (c *Comparison) check() error {
	if c.Benchmark == "" || len(c.Metrics) == 0 {
		return errors.New("it compares nothing")
	}
	if c.Floor != nil {
		if err := sound(*c.Floor); err != nil {
			return err
		}
	}
	for _, m := range c.Metrics {
		if _, err := better(m.Better); err != nil {
			return fmt.Errorf("column %q: %w", m.Name, err)
		}
		for _, p := range m.Points {
			if !ordered(p.Ours) || !ordered(p.Theirs) || !ordered(p.Ratio) || p.Size < 0 || !(p.Floor >= 0) {
				return fmt.Errorf("column %q, size %d: figures that are no measurement", m.Name, p.Size)
			}
		}
	}
	return nil
}

func (f *Floor) check() error { return sound(f.Floor) }

// sound checks a floor: it is interpolated, and divided by.
func sound(f floor.Floor) error {
	ok := ordered(f.LineNs) && f.LineNs.Min > 0 && len(f.Copies) > 0
	for i, c := range f.Copies {
		ok = ok && ordered(c.GBs) && c.GBs.Min > 0 && c.Size > 0 && (i == 0 || c.Size > f.Copies[i-1].Size)
	}
	if !ok {
		return errors.New("a floor that can't have been measured")
	}
	return nil
}

func ordered(s spread.Spread) bool {
	return s.N > 0 && 0 <= s.Min && s.Min <= s.Q1 && s.Q1 <= s.Median && s.Median <= s.Q3 && s.Q3 <= s.Max
}

func better(s string) (osufmt.Better, error) {
	for _, b := range []osufmt.Better{osufmt.Neither, osufmt.Lower, osufmt.Higher} {
		if s == b.String() {
			return b, nil
		}
	}
	return 0, fmt.Errorf("%q is not %q or %q", s, osufmt.Lower, osufmt.Higher)
}

// Sections are the tables of the run, one for each datatype.
func (r *Run) Sections() ([]osufmt.Section, error) {
	var columns []osufmt.Column
	for _, c := range r.Columns {
		b, err := better(c.Better)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		columns = append(columns, osufmt.Column{Name: c.Name, Key: c.Key, Better: b})
	}
	var all []osufmt.Section
	for i, o := range r.Rows {
		datatype, _ := o["datatype"].(string)
		if len(all) == 0 || all[len(all)-1].Datatype != datatype {
			all = append(all, osufmt.Section{Datatype: datatype, First: r.First, NoSize: r.First == "", Columns: columns})
		}
		row := osufmt.Row{}
		if r.First != "" {
			n, ok := o[osufmt.Key(r.First)].(float64)
			if !ok || n < 0 || n != math.Trunc(n) || n > 1<<50 {
				return nil, fmt.Errorf("row %d has no %s", i+1, strings.ToLower(r.First))
			}
			row.Size = int(n)
		}
		for _, c := range columns {
			switch v := o[c.Key].(type) {
			case float64:
				row.Values = append(row.Values, v)
			case bool: // validation: the number of errors
				errs := 1.0
				if v {
					errs = 0
				}
				row.Values = append(row.Values, errs)
			default:
				return nil, fmt.Errorf("row %d has no %s", i+1, c.Key)
			}
		}
		s := &all[len(all)-1]
		s.Rows = append(s.Rows, row)
	}
	return all, nil
}
