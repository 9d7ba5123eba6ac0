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

// rows draws named values along a horizontal axis, or nothing if there are none.
func rows(all []row, xName string, linear bool, ref reference) *drawing {
	lo, hi := math.Inf(1), math.Inf(-1)
	if ref.on {
		lo, hi = 1, 1
	}
	h, some := rowGap, false
	for _, r := range all {
		h += nameHeight + rowGap
		for _, m := range r.marks {
			linear = linear || !(m.lo > 0)
			lo, hi = min(lo, m.lo), max(hi, m.hi)
			h += markHeight
			some = true
		}
	}
	if !some {
		return nil
	}
	const side = 12.0
	d := &drawing{w: width, h: h + bottom + 8}
	f := box{side, 8, width - 2*side, h}
	x := valueAxis(lo, hi, f.x+inset, f.x+f.w-inset, linear)
	ticks := x.ticks(tickGap)
	for i, t := range ticks {
		// A label is centred at its tick, which may be close to the edge.
		if t.At > f.x+f.w-10 || t.At < f.x+4 {
			ticks[i].Label = ""
		}
	}
	one := x.at(1)
	var good box
	switch {
	case ref.on && ref.better == osufmt.Lower:
		good = box{f.x, f.y, one - f.x, f.h}
	case ref.on:
		good = box{one, f.y, f.x + f.w - one, f.h}
	}
	d.frame(f, good, ticks, nil, clip(xName, width), "")
	var whiskers, marks, labels, strips markup
	y := f.y + rowGap
	for _, r := range all {
		text := clip(r.name, f.w-2*inset)
		labels.put(`<text class="label" x="%v" y="%v">%v`, f.x+inset, y+nameHeight-6, text)
		if text != r.name {
			labels.put("<title>%v</title>", r.name)
		}
		labels.line("</text>")
		y += nameHeight
		if ref.on { // beside the marks only: the names cross it
			d.one(one, y-2, one, y+markHeight*float64(len(r.marks))+2)
		}
		for _, m := range r.marks {
			mid := y + markHeight/2
			if m.lo < m.hi {
				whiskers.line(`<path class="whisker %v" d="M%v %vH%v"/>`, class(m.style), x.at(m.lo), mid, x.at(m.hi))
			}
			marks.mark(m.style, x.at(m.mid), mid)
			strips.rect("strip", box{f.x, y, f.w, markHeight}, m.tip)
			y += markHeight
		}
		y += rowGap
	}
	d.put("%v%v%v%v", &whiskers, &marks, &labels, &strips)
	return d
}
