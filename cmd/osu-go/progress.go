package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/weft-mpi/weft/bench"
	"github.com/weft-mpi/weft/bench/osufmt"
)

// progress is a line on a terminal that says how far a run is. It is written
// between measurements only. Not safe for concurrent use.
type progress struct {
	name  string
	w     io.Writer // nil: no terminal
	begun time.Time
	shown bool
}

// newProgress shows progress on w if that is a terminal.
func newProgress(name string, w io.Writer) *progress {
	p := &progress{name: name, begun: time.Now()}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w = w
	}
	return p
}

// step is a bench.Progress.
func (p *progress) step(size, step, steps int) {
	p.say(fmt.Sprintf("%d (%d of %d)", size, step+1, steps))
}

func (p *progress) say(what string) {
	if p.w == nil {
		return
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %s, %s", p.name, what, time.Since(p.begun).Round(100*time.Millisecond))
	p.shown = true
}

// clear erases the line, so that a row can take its place.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// wrap clears the line before each piece of output.
func (p *progress) wrap(s bench.Sink) bench.Sink { return clearing{p, s} }

type clearing struct {
	p    *progress
	sink bench.Sink
}

func (c clearing) Title(t osufmt.Title) error     { c.p.clear(); return c.sink.Title(t) }
func (c clearing) Section(s osufmt.Section) error { c.p.clear(); return c.sink.Section(s) }
func (c clearing) Row(r osufmt.Row) error         { c.p.clear(); return c.sink.Row(r) }
func (c clearing) Line(s string) error            { c.p.clear(); return c.sink.Line(s) }
