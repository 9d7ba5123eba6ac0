package compare

import (
	"fmt"
	"io"
	"strings"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
)

// coarseHead begins the line about values of theirs with few digits.
const coarseHead = "theirs is printed so coarsely"

// WriteText prints the result as text: a head of comments, then for each column
// a table of the sizes.
func (r *Result) WriteText(w io.Writer) error {
	p := &printer{w: w}
	p.line("# osu-go compare %s: %d rounds, the two in turns. Medians; ratio: ours to theirs in the same round, its median and quartiles.", r.Benchmark, r.Rounds)
	p.line("# ours:   %s", r.Ours)
	p.line("# theirs: %s", r.Theirs)
	if r.Floor != nil {
		p.line("# floor:  %s", describe(*r.Floor))
	}
	for _, n := range r.Notes {
		p.line("# note:   %s", n)
	}
	for _, m := range r.Metrics {
		m.write(p)
	}
	return p.err
}

// describe returns a floor in words.
func describe(f floor.Floor) string {
	s := fmt.Sprintf("one cache line between cores %d and %d in %.1f ns [%.1f, %.1f]; one core copies",
		f.CPUs[0], f.CPUs[1], f.LineNs.Median, f.LineNs.Q1, f.LineNs.Q3)
	for i, c := range f.Copies {
		if i > 0 {
			s += ","
		}
		s += fmt.Sprintf(" %s at %.1f GB/s", osufmt.SizeName(c.Size), c.GBs.Median)
	}
	return s
}

func (m *Metric) write(p *printer) {
	side := "above"
	if m.lower {
		side = "below"
	}
	p.line("#\n# %s: %s, a ratio %s 1 speaks for ours", m.Name, m.Better, side)
	if m.Coarse > 0.01 {
		p.line("# "+coarseHead+" that its values, and the ratios, are uncertain by up to %.0f %%", 100*m.Coarse)
	}
	hasFloor := false
	for _, pt := range m.Points {
		hasFloor = hasFloor || pt.Floor > 0
	}
	head := "#"
	if m.First != "" {
		head += " " + m.First
	}
	h := fmt.Sprintf("%-10s%14s%14s%10s%10s%10s", head, "Ours", "Theirs", "Ratio", "Q1", "Q3")
	if hasFloor {
		h += fmt.Sprintf("%14s", "Floor")
	}
	p.line("%s", h)
	datatype := ""
	for i, pt := range m.Points {
		if i == 0 {
			datatype = pt.Datatype
		}
		if pt.Datatype != datatype {
			datatype = pt.Datatype
			p.line("# Datatype: %s.", datatype)
		}
		first := ""
		if m.First != "" {
			first = fmt.Sprint(pt.Size)
		}
		l := fmt.Sprintf("%-10s%14s%14s%10.3f%10.3f%10.3f", first, number(pt.Ours.Median), number(pt.Theirs.Median),
			pt.Ratio.Median, pt.Ratio.Q1, pt.Ratio.Q3)
		if hasFloor {
			f := "-"
			if pt.Floor > 0 {
				f = number(pt.Floor)
			}
			l += fmt.Sprintf("%14s", f)
		}
		p.line("%s", l)
	}
}

// number prints a value with decimals that suit its magnitude.
func number(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.4f", v)
	case v < 100:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, a ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(fmt.Sprintf(format, a...), " "))
	}
}
