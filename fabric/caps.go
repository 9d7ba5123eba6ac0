package fabric

import (
	"errors"
	"fmt"
)

// MaxRndvMin bounds Caps.RndvMin: the longest message that is sent without an
// announcement.
const MaxRndvMin = 1 << 20

// CapsError reports Caps that break the rules of Check.
type CapsError struct {
	Field string // of Caps
	Value any
	Want  string
}

func (e *CapsError) Error() string {
	return fmt.Sprintf("fabric: Caps.%s is %v: it has to be %s", e.Field, e.Value, e.Want)
}

// Check returns a *CapsError for the first field that breaks the rules: a
// threshold or a piece that is not positive, a piece longer than one Send takes,
// or a preference for an operation that is not offered. Domains without Get need
// the thresholds too, since their messages are announced as well.
func (c Caps) Check() error {
	for _, f := range []struct {
		name        string
		value, most int
		limit       string
	}{
		{"MaxEager", c.MaxEager, c.MaxEager, ""},
		{"Chunk", c.Chunk, c.MaxEager, "MaxEager, "},
		{"RndvMin", c.RndvMin, MaxRndvMin, "MaxRndvMin, "},
		{"RndvMinMapped", c.RndvMinMapped, MaxRndvMin, "MaxRndvMin, "},
	} {
		switch {
		case f.value < 1:
			return &CapsError{f.name, f.value, "1 or more"}
		case f.value > f.most:
			return &CapsError{f.name, f.value, fmt.Sprintf("at most %s%d", f.limit, f.most)}
		}
	}
	if c.PutFirst && !c.Put {
		return &CapsError{"PutFirst", true, "false, since Put is not offered"}
	}
	return nil
}

// Open opens a transport for this rank. It closes it again if its Caps fail
// Check.
func Open(p Provider, cfg Config) (Domain, error) {
	d, err := p.Open(cfg)
	if err != nil {
		return nil, err
	}
	if err := d.Caps().Check(); err != nil {
		return nil, errors.Join(&Error{Op: "open " + p.Name(), Err: err}, d.Close())
	}
	return d, nil
}
