package fabric

import (
	"errors"
	"strings"
	"testing"
)

func TestCapsCheck(t *testing.T) {
	good := Caps{MaxEager: 8192, Chunk: 2048, RndvMin: 16384, RndvMinMapped: 4096, Get: true, Put: true, PutFirst: true}
	cases := []struct {
		field  string // that the error names; none: they can be
		change func(*Caps)
	}{
		{"", func(*Caps) {}},
		{"", func(c *Caps) { c.Get, c.Put, c.PutFirst = false, false, false }},
		{"", func(c *Caps) { c.Chunk, c.RndvMin, c.RndvMinMapped = c.MaxEager, 1, 1 }},
		{"", func(c *Caps) { c.RndvMin, c.RndvMinMapped = MaxRndvMin, MaxRndvMin }},
		{"MaxEager", func(c *Caps) { c.MaxEager = 0 }},
		{"Chunk", func(c *Caps) { c.Chunk = 0 }},
		{"Chunk", func(c *Caps) { c.Chunk = c.MaxEager + 1 }},
		{"RndvMin", func(c *Caps) { c.RndvMin = 0 }},
		{"RndvMin", func(c *Caps) { c.Get, c.Put, c.PutFirst, c.RndvMin = false, false, false, 0 }},
		{"RndvMin", func(c *Caps) { c.RndvMin = MaxRndvMin + 1 }},
		{"RndvMinMapped", func(c *Caps) { c.RndvMinMapped = -1 }},
		{"RndvMinMapped", func(c *Caps) { c.RndvMinMapped = MaxRndvMin + 1 }},
		{"PutFirst", func(c *Caps) { c.Put = false }},
	}
	for _, c := range cases {
		caps := good
		c.change(&caps)
		err := caps.Check()
		var bad *CapsError
		switch {
		case c.field == "":
			if err != nil {
				t.Errorf("%+v: %v", caps, err)
			}
		case !errors.As(err, &bad) || bad.Field != c.field || !strings.Contains(err.Error(), "Caps."+c.field+" "):
			t.Errorf("%+v: want an error that names %s, got %v", caps, c.field, err)
		}
	}
}

// odd is a transport whose Caps are what a test says.
type odd struct {
	Provider
	Domain
	caps   Caps
	closed int
}

func (o *odd) Name() string                { return "odd" }
func (o *odd) Open(Config) (Domain, error) { return o, nil }
func (o *odd) Caps() Caps                  { return o.caps }
func (o *odd) Close() error                { o.closed++; return nil }

func TestOpenRefusesCapsThatCannotBe(t *testing.T) {
	o := &odd{caps: Caps{MaxEager: 64, Chunk: 64, RndvMin: 1, RndvMinMapped: 1}}
	if d, err := Open(o, Config{}); err != nil || d != Domain(o) || o.closed != 0 {
		t.Errorf("Open answers %v, %v after %d Closes", d, err, o.closed)
	}
	o.caps.Chunk = 65
	var bad *CapsError
	if d, err := Open(o, Config{}); d != nil || !errors.As(err, &bad) || bad.Field != "Chunk" || o.closed != 1 {
		t.Errorf("Open answers %v, %v after %d Closes", d, err, o.closed)
	}
}
