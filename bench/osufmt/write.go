package osufmt

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Writer prints tables in OSU's layout. Every call flushes, so that a reader
// sees each row when it is measured. The first error sticks and is returned by
// every later call. Not safe for concurrent use.
type Writer struct {
	// Decimals is the number of decimals of a Float. NewWriter sets two, as OSU
	// prints: below a tenth of a microsecond that leaves one significant digit.
	Decimals int

	w   *bufio.Writer
	sec Section
	err error
}

// NewWriter returns a Writer to w. The caller closes w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{Decimals: decimals, w: bufio.NewWriter(w)}
}

// Title prints the head of a benchmark's output.
func (w *Writer) Title(t Title) error {
	for _, l := range t.Before {
		w.printf("# %s\n", l)
	}
	if !t.Tight {
		w.printf("\n")
	}
	if t.Own {
		w.printf("# %s\n", t.Name)
	} else {
		w.printf("# %s v%s\n", t.Name, Version)
	}
	for _, l := range t.After {
		w.printf("# %s\n", l)
	}
	return w.flush()
}

// Section prints the header line of s and sets the columns of the rows that
// follow. It ignores s.Rows.
func (w *Writer) Section(s Section) error {
	w.sec = s
	if s.Datatype != "" {
		w.printf("# Datatype: %s.\n", s.Datatype)
	}
	for i, c := range s.Columns {
		switch {
		case i == 0 && s.Left:
			w.printf("%-*s", sizeWidth, "# "+c.Name)
		case i == 0 && s.NoSize:
			w.printf("# %s", c.Name)
		case i == 0:
			w.printf("%-*s%*s", sizeWidth, "# "+s.FirstName(), c.width(), c.Name)
		default:
			w.printf("%*s", c.width(), c.Name)
		}
	}
	w.printf("\n")
	return w.flush()
}

// Row prints one row under the columns of the last Section.
func (w *Writer) Row(r Row) error {
	if w.err == nil && len(r.Values) != len(w.sec.Columns) {
		w.err = fmt.Errorf("write OSU row: %d values under %d columns", len(r.Values), len(w.sec.Columns))
	}
	if w.err != nil {
		return w.err
	}
	if !w.sec.NoSize {
		w.printf("%-*d", sizeWidth, r.Size)
	}
	for i, v := range r.Values {
		c := w.sec.Columns[i]
		width := c.width()
		switch {
		case i == 0 && w.sec.Left:
			width = -sizeWidth
		case i == 0 && w.sec.NoSize:
			width = soleWidth
		}
		switch c.Kind {
		case Float4:
			w.printf("%*.*f", width, max(4, w.Decimals), v)
		case Integer, Bytes:
			w.printf("%*.0f", width, v)
		case PassFail:
			w.printf("%*s", width, status(v))
		default:
			w.printf("%*.*f", width, w.Decimals, v)
		}
	}
	w.printf("\n")
	return w.flush()
}

// Line prints a line that belongs to no table.
func (w *Writer) Line(s string) error {
	w.printf("%s\n", strings.TrimRight(s, "\n"))
	return w.flush()
}

func status(errors float64) string {
	if errors > 0 {
		return "Fail"
	}
	return "Pass"
}

func (w *Writer) printf(format string, a ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, a...)
	}
}

func (w *Writer) flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}
