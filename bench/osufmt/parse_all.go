package osufmt

import (
	"bytes"
	"errors"
	"strings"
)

// ParseAll reads output that may be of several runs, one after another: each
// title begins a table. A title without rows is left out; all of them without
// rows is ErrNoTable. Errors are those of Parse, with the line in out.
func ParseAll(out []byte) ([]*Table, error) {
	var all []*Table
	begin, line := 0, 0
	var first error
	part := func(end, lines int) error {
		// Empty lines in place of what came before: so errors name the right line.
		text := append(bytes.Repeat([]byte("\n"), line), out[begin:end]...)
		begin, line = end, lines
		t, err := Parse(text)
		switch {
		case errors.Is(err, ErrNoTable):
			first = err
			return nil
		case err == nil:
			all = append(all, t)
		}
		return err
	}
	at, titles := 0, 0
	for n := 0; at < len(out); n++ {
		end := len(out)
		if i := bytes.IndexByte(out[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if c, ok := bytes.CutPrefix(out[at:end], []byte("#")); ok && titled.MatchString(strings.TrimSpace(string(c))) {
			if titles++; titles > 1 {
				if err := part(at, n); err != nil {
					return nil, err
				}
			}
		}
		at = end
	}
	if err := part(len(out), 0); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, first
	}
	return all, nil
}
