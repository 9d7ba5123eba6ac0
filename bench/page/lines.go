package page

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// drawing is an SVG: what page.html's template "drawing" draws. Lengths are
// those of the view box.
type drawing struct {
	ID, Title, Desc string
	W, H            float64
	Frame           box
	X, Y            []tick
	XName, YName    string
	Good            *box   // where ratios speak for us
	Ones            []line // the ratio of equal programs
	Limit           string
	Bands, Curves   []stroke
	Marks           []mark
	Strips          []strip
	Labels          []label
	Whiskers        []whisker
}

type box struct{ X, Y, W, H float64 }

// line is horizontal or vertical.
type line struct{ X1, Y1, X2, Y2 float64 }

// stroke is a path in the colour of a style.
type stroke struct {
	Style int
	Path  string
}

// mark is the symbol of a style at a point.
type mark struct {
	Style int
	X, Y  float64
	Tip   string
}

// strip is an area that shows a tip when it is pointed at.
type strip struct {
	Box box
	Tip string
}

// label is a text in a drawing. Full is the whole of one that was clipped.
type label struct {
	X, Y float64
	Text string
	Full string
}

// whisker is a line between quartiles.
type whisker struct {
	Style     int
	X1, X2, Y float64
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

// lines draws curves over sizes. ok is false if fewer than two sizes can be
// drawn. gone counts the points that the axes can't show.
func (c *curves) lines() (d drawing, gone int, ok bool) {
	linear, first, ref := c.linear, c.first, c.ref
	d = drawing{W: width, H: height, Frame: box{left, top, width - left - right, height - top - bottom}, YName: clip(c.yName, width-8), XName: clip(xName(first), width-left-right)}
	var sizes []int
	lo, hi := math.Inf(1), math.Inf(-1)
	if ref.on {
		lo, hi = 1, 1
	}
	shown := func(p point) bool { return p.size > 0 && drawable(p.v, linear) }
	reach := func(p point) { lo, hi = min(lo, p.v.Q1), max(hi, p.v.Q3) }
	for _, s := range c.series {
		for _, p := range s.points {
			if !shown(p) {
				gone++
				continue
			}
			reach(p)
			sizes = append(sizes, p.size)
		}
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 2 {
		return d, gone, false
	}
	for _, p := range c.limit {
		if shown(p) && slices.Contains(sizes, p.size) {
			reach(p)
		}
	}
	f := d.Frame
	x := sizeAxis(sizes[0], sizes[len(sizes)-1], f.X+inset, f.X+f.W-inset)
	y := valueAxis(lo, hi, f.Y+f.H-inset, f.Y+inset, linear)
	if x.linear = c.inTime; x.linear {
		d.X = x.counts(sizeGap)
	} else {
		d.X = x.powers(sizeGap)
	}
	d.Y = y.ticks(textGap)
	if ref.on {
		one := y.at(1)
		d.Ones = []line{{f.X, one, f.X + f.W, one}}
		good := box{f.X, f.Y, f.W, one - f.Y}
		if ref.better == osufmt.Lower {
			good = box{f.X, one, f.W, f.Y + f.H - one}
		}
		d.Good = &good
	}
	place := func(p point) (float64, float64) { return x.at(float64(p.size)), y.at(p.v.Median) }
	d.Limit = trace(c.limit, func(p point) bool { return shown(p) && slices.Contains(sizes, p.size) }, place)
	tips := map[int][]string{}
	for _, s := range c.series {
		d.Bands = append(d.Bands, stroke{s.style, band(s.points, shown, x, y)})
		d.Curves = append(d.Curves, stroke{s.style, trace(s.points, shown, place)})
		for _, p := range s.points {
			if shown(p) {
				px, py := place(p)
				d.Marks = append(d.Marks, mark{Style: s.style, X: px, Y: py})
				tips[p.size] = append(tips[p.size], s.name+": "+figure(p))
			}
		}
	}
	for i, n := range sizes {
		from, to := f.X, f.X+f.W
		if i > 0 {
			from = (x.at(float64(sizes[i-1])) + x.at(float64(n))) / 2
		}
		if i < len(sizes)-1 {
			to = (x.at(float64(n)) + x.at(float64(sizes[i+1]))) / 2
		}
		head := exactly(n)
		if first == "Size" {
			head += " bytes"
		} else {
			head = first + " " + head
		}
		d.Strips = append(d.Strips, strip{box{from, f.Y, to - from, f.H}, head + "\n" + strings.Join(tips[n], "\n")})
	}
	return d, gone, true
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

// trace joins the points that are shown.
func trace(points []point, shown func(point) bool, place func(point) (float64, float64)) string {
	var s strings.Builder
	for _, p := range points {
		if shown(p) {
			x, y := place(p)
			step(&s, x, y)
		}
	}
	return s.String()
}

func step(s *strings.Builder, x, y float64) {
	c := byte('L')
	if s.Len() == 0 {
		c = 'M'
	}
	fmt.Fprintf(s, "%c%.1f %.1f", c, x, y)
}

// band is the area between the quartiles; nothing where none differ.
func band(points []point, shown func(point) bool, x, y axis) string {
	var s strings.Builder
	wide := false
	var kept []point
	for _, p := range points {
		if shown(p) {
			kept = append(kept, p)
			wide = wide || p.v.Q1 < p.v.Q3
		}
	}
	if !wide || len(kept) < 2 {
		return ""
	}
	for _, p := range kept {
		step(&s, x.at(float64(p.size)), y.at(p.v.Q1))
	}
	for _, p := range slices.Backward(kept) {
		step(&s, x.at(float64(p.size)), y.at(p.v.Q3))
	}
	return s.String() + "Z"
}
