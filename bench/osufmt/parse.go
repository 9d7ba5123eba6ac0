package osufmt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Table is a parsed output.
type Table struct {
	Title    string // "OSU MPI Latency Test v7.4"; empty if it had none
	Sections []Section
}

// ErrNoTable is in the error of Parse when the output holds no row.
var ErrNoTable = errors.New("no OSU table in the output")

// maxLine bounds the length of a line in bytes; a longer line is an error of
// Parse.
const maxLine = 1 << 20

// Parse reads the OSU tables in out. Empty lines, comments that are no header
// and lines that are no row (warnings of a launcher, say) are skipped. A row of
// numbers that does not fit its header is an error, as is output without any
// row. The result shares no memory with out.
func Parse(out []byte) (*Table, error) {
	t := &Table{}
	var sec *Section
	var datatype string
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, maxLine)
	for line := 1; sc.Scan(); line++ {
		s := strings.TrimRight(sc.Text(), " \t\r")
		if s == "" {
			continue
		}
		if c, ok := strings.CutPrefix(s, "#"); ok {
			c = strings.TrimSpace(c)
			if d, ok := strings.CutPrefix(c, "Datatype:"); ok {
				datatype = strings.TrimSuffix(strings.TrimSpace(d), ".")
				// OSU before 7.4 prints the datatype below the header.
				if sec != nil && len(sec.Rows) == 0 {
					sec.Datatype = datatype
				}
				continue
			}
			if titled.MatchString(c) {
				if t.Title == "" {
					t.Title = c
				}
				continue
			}
			if h, ok := header(c); ok {
				h.Datatype = datatype
				t.Sections = append(t.Sections, h)
				sec = &t.Sections[len(t.Sections)-1]
			}
			continue
		}
		r, digits, ok := fields(s)
		switch {
		case !ok:
			continue
		case sec == nil:
			return nil, fmt.Errorf("parse OSU output: line %d: a row before any header: %q", line, clip(s))
		}
		row, err := sec.row(r, digits)
		if err != nil {
			return nil, fmt.Errorf("parse OSU output: line %d: %w: %q", line, err, clip(s))
		}
		sec.Rows = append(sec.Rows, row)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("parse OSU output: %w", err)
	}
	t.Sections = withRows(t.Sections)
	if len(t.Sections) == 0 {
		return nil, fmt.Errorf("parse OSU output: %w", ErrNoTable)
	}
	return t, nil
}

var (
	titled = regexp.MustCompile(` Test( v[0-9].*)?$`)
	gap    = regexp.MustCompile(`\t+|\s{2,}|\)\s+`)
	tail   = regexp.MustCompile(`\s(P[0-9]+ Tail )`)
	// sole is the name of a lone value: a few words and a unit.
	sole = regexp.MustCompile(`^(\S+ ){0,3}\S*(\(\S+\)|/s)$`)
)

// header reads a comment as a header line. Within a name words are separated by
// one space. Names are separated by a tab or several spaces. One space is
// enough after a unit in parentheses and before a percentile, whose name fills
// the width of its column.
func header(c string) (Section, bool) {
	names := splitAfterUnit(tail.ReplaceAllString(c, "  $1"))
	if len(names) == 0 {
		return Section{}, false
	}
	s := Section{}
	rest := names
	switch {
	case names[0] == WallTime.Name:
		s.NoSize, s.Left = true, true
		rest = names[1:]
		s.Columns = append(s.Columns, column(names[0]))
	case direction(names[0]) == Neither:
		// The first column is the size (or depth, or threads) unless the whole
		// table is a single value.
		if strings.ContainsAny(names[0], " :[]()") {
			return Section{}, false
		}
		s.First, rest = names[0], names[1:]
	default:
		s.NoSize = true
	}
	if len(rest) == 0 || direction(rest[0]) == Neither {
		return Section{}, false
	}
	for _, n := range rest {
		if strings.HasSuffix(n, ":") || strings.HasSuffix(n, ".") {
			return Section{}, false
		}
		s.Columns = append(s.Columns, column(n))
	}
	// A sentence about bandwidth is not a header.
	return s, !s.NoSize || s.Left || sole.MatchString(rest[0])
}

func splitAfterUnit(c string) []string {
	var out []string
	for len(c) > 0 {
		m := gap.FindStringIndex(c)
		if m == nil {
			out = append(out, c)
			break
		}
		end := m[0]
		if c[end] == ')' {
			end++
		}
		if name := strings.TrimSpace(c[:end]); name != "" {
			out = append(out, name)
		}
		c = c[m[1]:]
	}
	return out
}

func column(name string) Column {
	c := Column{Name: name, Key: Key(name), Better: direction(name)}
	switch strings.ToLower(name) {
	case "validation":
		c.Kind, c.Key = PassFail, Validation.Key
	case "iterations":
		c.Kind = Integer
	case "transmit size":
		c.Kind = Bytes
	}
	return c
}

// Key is the name in JSON of a column with this name.
func Key(name string) string {
	f := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(f, "_")
}

// fields reads a line as numbers and validation marks, and counts the decimals
// of each. ok is false if the line contains anything else.
func fields(s string) (v []float64, decimals []int, ok bool) {
	for i, f := range strings.Fields(s) {
		switch {
		case f == "Pass" && i > 0:
			v = append(v, 0)
		case f == "Fail" && i > 0:
			v = append(v, 1)
		default:
			x, err := strconv.ParseFloat(f, 64)
			if err != nil || strings.ContainsAny(f, "xXpP_") {
				return nil, nil, false
			}
			v = append(v, x)
		}
		_, after, _ := strings.Cut(f, ".")
		decimals = append(decimals, len(after))
	}
	return v, decimals, len(v) > 0
}

// row makes a row from the numbers of a line.
func (s *Section) row(v []float64, decimals []int) (Row, error) {
	var r Row
	if !s.NoSize {
		if v[0] < 0 || v[0] > math.MaxInt32*1024.0 || v[0] != math.Trunc(v[0]) {
			return r, fmt.Errorf("%v is no %s", v[0], strings.ToLower(s.FirstName()))
		}
		r.Size, v, decimals = int(v[0]), v[1:], decimals[1:]
	}
	if len(v) != len(s.Columns) {
		return r, fmt.Errorf("%d values under %d columns", len(v), len(s.Columns))
	}
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return r, fmt.Errorf("%v is no measurement", x)
		}
		s.Columns[i].Decimals = max(s.Columns[i].Decimals, decimals[i])
	}
	r.Values = v
	return r, nil
}

func withRows(secs []Section) []Section {
	out := secs[:0]
	for _, s := range secs {
		if len(s.Rows) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}
