package compare

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// textHead begins what WriteText prints.
const textHead = "# osu-go compare "

// IsText reports whether text is what WriteText prints.
func IsText(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(textHead))
}

// ParseText reads what WriteText has printed. It has less than the Result: the
// sides' quartiles are missing, and their medians stand in for them; the floor
// is there for each size only; their name is that of their program.
func ParseText(text []byte) (*Result, error) {
	p := textParser{r: &Result{}}
	sc := bufio.NewScanner(bytes.NewReader(text))
	for line := 1; sc.Scan(); line++ {
		if err := p.line(strings.TrimRight(sc.Text(), " \t\r")); err != nil {
			return nil, fmt.Errorf("parse a comparison: line %d: %w", line, err)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("parse a comparison: %w", err)
	}
	rows := 0
	for _, m := range p.r.Metrics {
		rows += len(m.Points)
	}
	if rows == 0 {
		return nil, errors.New("parse a comparison: it has no rows")
	}
	return p.r, nil
}

// textParser takes the lines of a comparison.
type textParser struct {
	r        *Result
	m        *Metric // the metric whose rows follow
	datatype string
}

func (p *textParser) line(s string) error {
	if rest, ok := strings.CutPrefix(s, textHead); ok {
		name, rest, _ := strings.Cut(rest, ":")
		if _, err := fmt.Sscanf(rest, " %d rounds,", &p.r.Rounds); err != nil || p.r.Rounds < 1 {
			return errors.New("the head has no number of rounds")
		}
		p.r.Benchmark = name
		return nil
	}
	comment, ok := strings.CutPrefix(s, "#")
	if !ok {
		if s == "" {
			return nil
		}
		return p.row(s)
	}
	comment = strings.TrimSpace(comment)
	key, value, _ := strings.Cut(comment, ":")
	value = strings.TrimSpace(value)
	switch {
	case p.m == nil && key == "ours":
		p.r.Ours, p.r.Names[0] = value, program(value)
	case p.m == nil && key == "theirs":
		p.r.Theirs, p.r.Names[1] = value, program(value)
	case p.m == nil && key == "note":
		p.r.Notes = append(p.r.Notes, value)
	case key == "Datatype":
		p.datatype = strings.TrimSuffix(value, ".")
	case strings.HasPrefix(value, osufmt.Lower.String()+","), strings.HasPrefix(value, osufmt.Higher.String()+","):
		better, _, _ := strings.Cut(value, ",")
		p.r.Metrics = append(p.r.Metrics, Metric{Name: key, Key: osufmt.Key(key), Better: better, lower: better == osufmt.Lower.String()})
		p.m, p.datatype = &p.r.Metrics[len(p.r.Metrics)-1], ""
	case p.m != nil && strings.HasPrefix(comment, coarseHead):
		f := strings.Fields(comment)
		percent, _ := strconv.ParseFloat(f[max(len(f)-2, 0)], 64)
		p.m.Coarse = min(max(percent, 0), 100) / 100
	case p.m != nil && len(p.m.Points) == 0 && p.m.First == "":
		if f := strings.Fields(comment); len(f) > 5 && f[1] == "Ours" {
			p.m.First = f[0]
		}
	}
	return nil
}

// program is the name of a command's program.
func program(command string) string {
	f := strings.Fields(command)
	if len(f) == 0 {
		return ""
	}
	return filepath.Base(f[0])
}

// row takes a line of figures: size, ours, theirs, ratio, its quartiles, floor.
func (p *textParser) row(s string) error {
	if p.m == nil {
		return errors.New("figures before a column's name")
	}
	f := strings.Fields(s)
	pt := Point{Datatype: p.datatype}
	if p.m.First != "" {
		n, err := strconv.Atoi(f[0])
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no %s", f[0], strings.ToLower(p.m.First))
		}
		pt.Size, f = n, f[1:]
	}
	if len(f) != 5 && len(f) != 6 {
		return fmt.Errorf("%d figures, want 5 or 6", len(f))
	}
	var v [6]float64
	for i, t := range f {
		if i == 5 && t == "-" {
			continue
		}
		x, err := strconv.ParseFloat(t, 64)
		if err != nil || math.IsInf(x, 0) || !(x >= 0) {
			return fmt.Errorf("%q is no measurement", t)
		}
		v[i] = x
	}
	if !(v[3] <= v[2] && v[2] <= v[4]) {
		return errors.New("the median of the ratios is not between their quartiles")
	}
	same := func(x float64) spread.Spread {
		return spread.Spread{Min: x, Q1: x, Median: x, Q3: x, Max: x, N: p.r.Rounds}
	}
	pt.Ours, pt.Theirs, pt.Floor = same(v[0]), same(v[1]), v[5]
	pt.Ratio = spread.Spread{Min: v[3], Q1: v[3], Median: v[2], Q3: v[4], Max: v[4], N: p.r.Rounds}
	p.m.Points = append(p.m.Points, pt)
	return nil
}
