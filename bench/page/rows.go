package page

import (
	"math"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// row is a line of a drawing with names instead of sizes.
type row struct {
	name  string
	marks []rowMark
}

// rowMark is a mark of a row, with a whisker.
type rowMark struct {
	style       int
	lo, mid, hi float64
	tip         string
}

// Heights in a drawing of rows.
const (
	nameHeight = 19.0
	markHeight = 13.0
	rowGap     = 6.0
	tickGap    = 46.0
)

// rows draws named values along a horizontal axis. ok is false if there is
// nothing to draw.
func rows(all []row, xName string, linear bool, ref reference) (d drawing, ok bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	if ref.on {
		lo, hi = 1, 1
	}
	h := rowGap
	for _, r := range all {
		h += nameHeight + rowGap
		for _, m := range r.marks {
			if !linear && !(m.lo > 0) {
				linear = true
			}
			lo, hi = min(lo, m.lo), max(hi, m.hi)
			h += markHeight
			ok = true
		}
	}
	if !ok {
		return d, false
	}
	const side = 12.0
	d = drawing{W: width, H: h + bottom + 8, Frame: box{side, 8, width - 2*side, h}, XName: clip(xName, width)}
	f := d.Frame
	x := valueAxis(lo, hi, f.X+inset, f.X+f.W-inset, linear)
	for _, t := range x.ticks(tickGap) {
		// A label is centred at its tick, which may be close to the edge.
		if t.At > f.X+f.W-10 || t.At < f.X+4 {
			t.Label = ""
		}
		d.X = append(d.X, t)
	}
	if ref.on {
		one := x.at(1)
		good := box{one, f.Y, f.X + f.W - one, f.H}
		if ref.better == osufmt.Lower {
			good = box{f.X, f.Y, one - f.X, f.H}
		}
		d.Good = &good
	}
	y := f.Y + rowGap
	for _, r := range all {
		l := label{X: f.X + inset, Y: y + nameHeight - 6, Text: clip(r.name, f.W-2*inset)}
		if l.Text != r.name {
			l.Full = r.name
		}
		d.Labels = append(d.Labels, l)
		y += nameHeight
		if ref.on { // beside the marks only: the names cross it
			one := x.at(1)
			d.Ones = append(d.Ones, line{one, y - 2, one, y + markHeight*float64(len(r.marks)) + 2})
		}
		for _, m := range r.marks {
			mid := y + markHeight/2
			if m.lo < m.hi {
				d.Whiskers = append(d.Whiskers, whisker{m.style, x.at(m.lo), x.at(m.hi), mid})
			}
			d.Marks = append(d.Marks, mark{m.style, x.at(m.mid), mid, m.tip})
			d.Strips = append(d.Strips, strip{box{f.X, y, f.W, markHeight}, m.tip})
			y += markHeight
		}
		y += rowGap
	}
	return d, true
}
