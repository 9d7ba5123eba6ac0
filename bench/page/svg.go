package page

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
)

// ErrNothingToDraw is returned for a result without a column of at least two
// sizes.
var ErrNothingToDraw = errors.New("no column with several sizes and positive values to draw")

// WriteSVG draws each column of a comparison that has several sizes: both curves
// over the size, and the ratio beside them. The shade lies between the quartiles.
// Of several datatypes the first is drawn.
func WriteSVG(w io.Writer, r *compare.Result) error {
	b := &builder{ours: r.Names[0], ratios: "Ratio of " + r.Names[0] + " to " + r.Names[1], styles: styles{r.Names[0]: 0}}
	var c card
	if cards := b.comparisons([]source{{comparison: r}}); len(cards) > 0 {
		c = cards[0]
	}
	c.panels = slices.DeleteFunc(c.panels, func(p panel) bool { return p.single() })
	var size, style, title, head, rounds, figures markup
	below, floor := 116.0, false
	for i := range c.panels {
		all, _ := b.figures(&c.panels[i], c.title)
		for column, f := range all {
			figures.line(`<g transform="translate(%d %v)"><text class="caption" x="4" y="12">%v</text>`, 12+372*column, below, clip(f.title, 340))
			figures.line(`<svg y="18" width="%v" height="%v">%v</svg></g>`, width, height, f.svg)
			floor = floor || f.floor
		}
		if len(all) > 0 {
			below += height + 32
		}
	}
	if figures.Len() == 0 {
		return fmt.Errorf("draw the comparison: %w", ErrNothingToDraw)
	}
	const swatchAt = `<g transform="translate(12 %d)"><svg width="26" height="12">%v</svg><text x="34" y="10">%v</text></g>`
	for i, s := range c.panels[0].series {
		name := s.name
		if i == 1 {
			name += ": " + r.Theirs
		}
		figures.line(swatchAt, 52+17*i, swatch(s.style), clip(name, 710))
	}
	if floor {
		figures.line(swatchAt, 86, floorSwatch(), "floor: cache line and one copy")
	}
	size.put(`viewBox="0 0 %v %v" width="%v" height="%v"`, 2*width+36, below+4, 1.25*(2*width+36), 1.25*(below+4))
	style.WriteString(plainStyle())
	text := fmt.Sprintf("%s: %s and %s", r.Benchmark, r.Names[0], r.Names[1])
	title.put("%v", text)
	head.put("%v", clip(text, 460))
	rounds.put("%d", r.Rounds)
	return fill(w, sheetText, map[string]*markup{"size": &size, "style": &style, "title": &title, "head": &head, "rounds": &rounds, "figures": &figures})
}

var variable = regexp.MustCompile(`--(\w+): (#\w+);`)

// plainStyle is the style of drawings without variables, which few programs but
// browsers know.
func plainStyle() string {
	in := func(scheme string) string {
		var pairs []string
		for _, v := range variable.FindAllStringSubmatch(scheme, -1) {
			pairs = append(pairs, "var(--"+v[1]+")", v[2])
		}
		return strings.NewReplacer(pairs...).Replace(drawingStyle)
	}
	light, dark, _ := strings.Cut(colours, "@media")
	return in(light) + "@media (prefers-color-scheme: dark) {\n" + in(dark) + "}\n"
}
