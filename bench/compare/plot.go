package compare

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ErrNothingToDraw is returned for a result without a column of at least two
// sizes.
var ErrNothingToDraw = errors.New("no column with several sizes and positive values to draw")

// Colours of Okabe and Ito, which people with any colour vision tell apart.
var (
	blue      = color.NRGBA{0, 114, 178, 255}
	vermilion = color.NRGBA{213, 94, 0, 255}
	grey      = color.NRGBA{120, 120, 120, 255}
	pale      = color.NRGBA{226, 226, 226, 255}
	ink       = color.NRGBA{40, 40, 40, 255}
)

// Sizes of the drawing.
const (
	panelWidth  = 560 * vg.Length(1)
	height      = 560 * vg.Length(1)
	headHeight  = 58 * vg.Length(1)
	ratioHeight = 165 * vg.Length(1)
	margin      = 12 * vg.Length(1)
)

// WriteSVG draws each column that has several sizes: both curves over the size
// with both axes logarithmic, and the ratio below. The shade lies between the
// quartiles. Of several datatypes the first is drawn.
func (r *Result) WriteSVG(w io.Writer) error {
	var panels []panel
	for i := range r.Metrics {
		if p, ok := newPanel(&r.Metrics[i]); ok {
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return fmt.Errorf("draw the comparison: %w", ErrNothingToDraw)
	}
	canvas := vgsvg.New(panelWidth*vg.Length(len(panels)), height)
	if err := r.draw(draw.New(canvas), panels); err != nil {
		return err
	}
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("draw the comparison: %w", err)
	}
	_, err := w.Write(withFallbackFonts(out.Bytes()))
	return err
}

// draw draws the panels side by side on a canvas of their size.
func (r *Result) draw(dc draw.Canvas, panels []panel) error {
	width := panelWidth * vg.Length(len(panels))
	dc.FillPolygon(color.White, []vg.Point{{X: 0, Y: 0}, {X: width, Y: 0}, {X: width, Y: height}, {X: 0, Y: height}})
	r.head(dc)
	for i, p := range panels {
		left := panelWidth * vg.Length(i)
		area := draw.Crop(dc, left+margin, left+panelWidth-width-margin, margin, -headHeight)
		if err := p.draw(area, r.Names); err != nil {
			return fmt.Errorf("draw %s: %w", p.m.Name, err)
		}
	}
	return nil
}

// withFallbackFonts adds fonts of the same metrics, for viewers that do not
// have the one that the drawing was measured with.
func withFallbackFonts(svg []byte) []byte {
	for _, f := range []string{"Liberation Sans", "LiberationSans"} {
		svg = bytes.ReplaceAll(svg, []byte("font-family:"+f+";"),
			[]byte("font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;"))
	}
	return svg
}

func sans(size vg.Length) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
}

func style(size vg.Length, c color.Color) draw.TextStyle {
	return draw.TextStyle{Color: c, Font: sans(size), Handler: plot.DefaultTextHandler}
}

// head draws the title, the method and the command line of theirs.
func (r *Result) head(dc draw.Canvas) {
	at := func(y vg.Length) vg.Point { return vg.Point{X: dc.Min.X + margin + 4, Y: dc.Max.Y - y} }
	title := style(15, ink)
	dc.FillText(title, at(24), fmt.Sprintf("%s: %s and %s", r.Benchmark, r.Names[0], r.Names[1]))
	small := style(8.5, grey)
	dc.FillText(small, at(39), fmt.Sprintf("median of %d rounds taken in turns, shaded from the first quartile to the third", r.Rounds))
	most := int((dc.Max.X - dc.Min.X) / 4.6)
	dc.FillText(small, at(51), shorten(r.Names[1]+": "+r.Theirs, most))
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return s
}

// panel is the drawing of one column.
type panel struct {
	m      *Metric
	points []Point
}

func newPanel(m *Metric) (panel, bool) {
	p := panel{m: m}
	for _, pt := range m.Points {
		if pt.Datatype == m.Points[0].Datatype && pt.Size > 0 && pt.Ours.Min > 0 && pt.Theirs.Min > 0 {
			p.points = append(p.points, pt)
		}
	}
	return p, m.First != "" && len(p.points) > 1
}

func (p panel) draw(dc draw.Canvas, names [2]string) error {
	curves, err := p.curves(names)
	if err != nil {
		return err
	}
	ratio, err := p.ratio(names)
	if err != nil {
		return err
	}
	top := draw.Crop(dc, 0, 0, ratioHeight, 0)
	bottom := draw.Crop(dc, 0, 0, 0, ratioHeight-(dc.Max.Y-dc.Min.Y))
	// Both data areas begin at the same x, however wide their labels are.
	shift := curves.DataCanvas(top).Min.X - ratio.DataCanvas(bottom).Min.X
	if shift > 0 {
		bottom = draw.Crop(bottom, shift, 0, 0, 0)
	} else {
		top = draw.Crop(top, -shift, 0, 0, 0)
	}
	curves.Draw(top)
	ratio.Draw(bottom)
	return nil
}

// newPlot is an empty plot over the sizes.
func (p panel) newPlot() *plot.Plot {
	pl := plot.New()
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Color = grey
		a.Tick.LineStyle.Color = grey
		a.Tick.Label.Font = sans(9)
		a.Tick.Label.Color = ink
		a.Label.TextStyle.Font = sans(10)
		a.Label.TextStyle.Color = ink
	}
	pl.X.Scale = plot.LogScale{}
	pl.X.Tick.Marker = sizeTicks{}
	pl.Legend.TextStyle.Font = sans(10)
	pl.Legend.TextStyle.Color = ink
	pl.Legend.Top, pl.Legend.Left = true, true
	pl.Legend.XOffs, pl.Legend.YOffs = 10, -8
	pl.Legend.Padding = 3
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = pale, pale
	pl.Add(g)
	return pl
}

// curves draws both medians and the floor.
func (p panel) curves(names [2]string) (*plot.Plot, error) {
	pl := p.newPlot()
	pl.Y.Label.Text = p.m.Name
	pl.Y.Scale = plot.LogScale{}
	pl.Y.Tick.Marker = decadeTicks{}
	ours := func(pt Point) (float64, float64, float64) { return pt.Ours.Q1, pt.Ours.Median, pt.Ours.Q3 }
	theirs := func(pt Point) (float64, float64, float64) { return pt.Theirs.Q1, pt.Theirs.Median, pt.Theirs.Q3 }
	if err := p.curve(pl, names[1], vermilion, draw.BoxGlyph{}, theirs); err != nil {
		return nil, err
	}
	if err := p.curve(pl, names[0], blue, draw.CircleGlyph{}, ours); err != nil {
		return nil, err
	}
	var limit plotter.XYs
	for _, pt := range p.points {
		if pt.Floor > 0 {
			limit = append(limit, plotter.XY{X: float64(pt.Size), Y: pt.Floor})
		}
	}
	if len(limit) > 1 {
		l, err := plotter.NewLine(limit)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width, l.Dashes = grey, 1, []vg.Length{4, 3}
		pl.Add(l)
		pl.Legend.Add("floor: cache line and one copy", l)
	}
	return pl, nil
}

// ratio draws the ratio and the line of equality.
func (p panel) ratio(names [2]string) (*plot.Plot, error) {
	pl := p.newPlot()
	pl.X.Label.Text = p.m.First
	if p.m.First == "Size" {
		pl.X.Label.Text = "Size (bytes)"
	}
	pl.Y.Label.Text = "ratio"
	one := func(pt Point) (float64, float64, float64) { return pt.Ratio.Q1, pt.Ratio.Median, pt.Ratio.Q3 }
	if err := p.curve(pl, names[0]+" to "+names[1], blue, draw.CircleGlyph{}, one); err != nil {
		return nil, err
	}
	equal, err := plotter.NewLine(plotter.XYs{
		{X: float64(p.points[0].Size), Y: 1}, {X: float64(p.points[len(p.points)-1].Size), Y: 1}})
	if err != nil {
		return nil, err
	}
	equal.Color, equal.Width, equal.Dashes = vermilion, 1, []vg.Length{4, 3}
	pl.Add(equal)
	lo, hi := 1.0, 1.0
	for _, pt := range p.points {
		lo, hi = min(lo, pt.Ratio.Q1), max(hi, pt.Ratio.Q3)
	}
	if hi <= 4 {
		pl.Y.Min, pl.Y.Max = 0, hi*1.25
		return pl, nil
	}
	pl.Y.Scale = plot.LogScale{}
	pl.Y.Tick.Marker = decadeTicks{}
	pl.Y.Min, pl.Y.Max = lo/1.5, hi*3
	return pl, nil
}

// curve adds a line with points and the shade between its quartiles.
func (p panel) curve(pl *plot.Plot, name string, c color.NRGBA, shape draw.GlyphDrawer,
	of func(Point) (q1, median, q3 float64)) error {
	var line, band plotter.XYs
	for _, pt := range p.points {
		q1, m, _ := of(pt)
		line = append(line, plotter.XY{X: float64(pt.Size), Y: m})
		band = append(band, plotter.XY{X: float64(pt.Size), Y: q1})
	}
	for i := len(p.points) - 1; i >= 0; i-- {
		_, _, q3 := of(p.points[i])
		band = append(band, plotter.XY{X: float64(p.points[i].Size), Y: q3})
	}
	shade, err := plotter.NewPolygon(band)
	if err != nil {
		return err
	}
	faint := c
	faint.A = 45
	shade.Color, shade.LineStyle.Width = faint, 0
	l, s, err := plotter.NewLinePoints(line)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, 1.6
	s.Color, s.Shape, s.Radius = c, shape, 2.2
	pl.Add(shade, l, s)
	pl.Legend.Add(name, l, s)
	return nil
}
