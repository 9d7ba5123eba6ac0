package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// drawing is what is in an SVG. Lengths are those of the view box.
type drawing struct {
	markup
	w, h  float64
	floor bool // it is drawn
}

type box struct{ x, y, w, h float64 }

// rect puts a box that shows a tip when it is pointed at; no tip: none.
func (m *markup) rect(class string, b box, tip string) {
	m.put(`<rect class="%v" x="%v" y="%v" width="%v" height="%v"`, class, b.x, b.y, b.w, b.h)
	if tip == "" {
		m.line("/>")
		return
	}
	m.line("><title>%v</title></rect>", tip)
}

// mark puts the symbol of a style at a point.
func (m *markup) mark(style int, x, y float64) {
	m.line(`<path class="mark %v" transform="translate(%v %v)" d="%v"/>`, class(style), x, y, symbol(style))
}

// frame begins a drawing: its axes, and where ratios speak for us, if anywhere.
func (d *drawing) frame(f, good box, x, y []tick, xName, yName string) {
	d.rect("frame", f, "")
	if good != (box{}) {
		d.rect("good", good, "")
	}
	for _, t := range x {
		d.line(`<path class="grid" d="M%v %vV%v"/><text class="tick x" x="%v" y="%v">%v</text>`, t.At, f.y, f.y+f.h, t.At, f.y+f.h+14, t.Label)
	}
	for _, t := range y {
		d.line(`<path class="grid" d="M%v %vh%v"/><text class="tick y" x="%v" y="%v">%v</text>`, f.x, t.At, f.w, f.x-6, t.At+4, t.Label)
	}
	if xName != "" {
		d.line(`<text class="name x" x="%v" y="%v">%v</text>`, f.x+f.w/2, f.y+f.h+32, xName)
	}
	if yName != "" {
		d.line(`<text class="name" x="4" y="15">%v</text>`, yName)
	}
}

// one puts the line of equal programs.
func (d *drawing) one(x1, y1, x2, y2 float64) {
	d.line(`<path class="one" d="M%v %vL%v %v"/>`, x1, y1, x2, y2)
}

// Lengths of a drawing.
const (
	width   = 360.0
	height  = 250.0
	left    = 52.0
	right   = 12.0
	top     = 26.0
	bottom  = 40.0
	inset   = 7.0 // between the frame and what is in it
	textGap = 18.0
	sizeGap = 38.0
)

// reference is how a drawing of ratios differs.
type reference struct {
	better osufmt.Better
	on     bool
}

// curves says what to draw.
type curves struct {
	series []series
	limit  []point
	first  string // header of the sizes
	yName  string
	linear bool // the values' axis
	inTime bool // the sizes are numbers of measurements
	ref    reference
}

// lines draws curves over sizes, or nothing if fewer than two sizes can be drawn.
// gone counts the points that the axes can't show.
func (c *curves) lines() (d *drawing, gone int) {
	f := box{left, top, width - left - right, height - top - bottom}
	var sizes []int
	lo, hi := math.Inf(1), math.Inf(-1)
	if c.ref.on {
		lo, hi = 1, 1
	}
	reach := func(p point) { lo, hi = min(lo, p.v.Q1), max(hi, p.v.Q3) }
	lost := func(p point) bool { return p.size <= 0 || !drawable(p.v, c.linear) }
	shown := make([][]point, len(c.series))
	for i, s := range c.series {
		shown[i] = slices.DeleteFunc(slices.Clone(s.points), lost)
		gone += len(s.points) - len(shown[i])
		for _, p := range shown[i] {
			reach(p)
			sizes = append(sizes, p.size)
		}
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 2 {
		return nil, gone
	}
	limit := slices.DeleteFunc(slices.Clone(c.limit), func(p point) bool { return lost(p) || !slices.Contains(sizes, p.size) })
	for _, p := range limit {
		reach(p)
	}
	x := sizeAxis(sizes[0], sizes[len(sizes)-1], f.x+inset, f.x+f.w-inset)
	y := valueAxis(lo, hi, f.y+f.h-inset, f.y+inset, c.linear)
	places := x.powers
	if x.linear = c.inTime; x.linear {
		places = x.counts
	}
	one := y.at(1)
	var good box
	switch {
	case c.ref.on && c.ref.better == osufmt.Lower:
		good = box{f.x, one, f.w, f.y + f.h - one}
	case c.ref.on:
		good = box{f.x, f.y, f.w, one - f.y}
	}
	d = &drawing{w: width, h: height, floor: len(limit) > 0}
	d.frame(f, good, places(sizeGap), y.ticks(textGap), clip(xName(c.first), width-left-right), clip(c.yName, width-8))
	if c.ref.on {
		d.one(f.x, one, f.x+f.w, one)
	}
	path := func(points []point, of func(spread.Spread) float64) string {
		var s strings.Builder
		for _, p := range points {
			fmt.Fprintf(&s, "L%.1f %.1f", x.at(float64(p.size)), y.at(of(p.v)))
		}
		return strings.Replace(s.String(), "L", "M", 1)
	}
	median := func(v spread.Spread) float64 { return v.Median }
	tips := map[int][]string{}
	var curves, marks markup
	for i, s := range c.series {
		if points := shown[i]; len(points) > 1 && slices.ContainsFunc(points, func(p point) bool { return p.v.Q1 < p.v.Q3 }) {
			there := path(points, func(v spread.Spread) float64 { return v.Q1 })
			slices.Reverse(points)
			back := path(points, func(v spread.Spread) float64 { return v.Q3 })
			slices.Reverse(points)
			d.line(`<path class="band %v" d="%vL%vZ"/>`, class(s.style), there, back[1:])
		}
		curves.line(`<path class="curve %v" d="%v"/>`, class(s.style), path(shown[i], median))
		for _, p := range shown[i] {
			marks.mark(s.style, x.at(float64(p.size)), y.at(p.v.Median))
			tips[p.size] = append(tips[p.size], s.name+": "+figure(p))
		}
	}
	if d.floor {
		d.line(`<path class="limit" d="%v"/>`, path(limit, median))
	}
	d.put("%v%v", &curves, &marks)
	for i, n := range sizes {
		from, to := f.x, f.x+f.w
		if i > 0 {
			from = (x.at(float64(sizes[i-1])) + x.at(float64(n))) / 2
		}
		if i < len(sizes)-1 {
			to = (x.at(float64(n)) + x.at(float64(sizes[i+1]))) / 2
		}
		head := c.first + " " + exactly(n)
		if c.first == "Size" {
			head = exactly(n) + " bytes"
		}
		d.rect("strip", box{from, f.y, to - from, f.h}, head+"\n"+strings.Join(tips[n], "\n"))
	}
	return d, gone
}

// extreme bounds what is drawn: beyond it nothing was measured, and axes would
// overflow.
const extreme = 1e30

// drawable reports whether an axis can show a spread.
func drawable(v spread.Spread, linear bool) bool {
	low := 1 / extreme
	if linear {
		low = -extreme
	}
	return v.Q1 >= low && v.Q3 <= extreme
}

func xName(first string) string {
	if first == "Size" {
		return "Message size (bytes)"
	}
	return first
}

// figure prints a median and, where they differ, the quartiles.
func figure(p point) string {
	s := number(p.v.Median)
	if p.v.Q1 < p.v.Q3 {
		s += " (" + number(p.v.Q1) + " to " + number(p.v.Q3) + ")"
	}
	return s
}
