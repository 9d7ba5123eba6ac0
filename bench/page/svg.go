package page

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
)

// ErrNothingToDraw is returned for a result without a column of at least two
// sizes.
var ErrNothingToDraw = errors.New("no column with several sizes and positive values to draw")

// sheet is what comparison.svg shows.
type sheet struct {
	cardView
	Style  template.CSS
	Rounds int
	W, H   int
}

// WriteSVG draws each column of a comparison that has several sizes: both curves
// over the size, and the ratio beside them. The shade lies between the quartiles.
// Of several datatypes the first is drawn.
func WriteSVG(w io.Writer, r *compare.Result) error {
	b := &builder{ours: r.Names[0], ratios: "Ratio of " + r.Names[0] + " to " + r.Names[1], styles: styles{r.Names[0]: 0}}
	v := sheet{Style: template.CSS(plainStyle()), Rounds: r.Rounds, W: 2*width + 36}
	if cards := b.comparisons([]source{{comparison: r}}); len(cards) > 0 {
		c := &cards[0]
		c.panels = slices.DeleteFunc(c.panels, func(p panel) bool { return p.single() })
		v.cardView = b.card(c)
		v.Panels = slices.DeleteFunc(v.Panels, func(p panelView) bool { return len(p.Figures) == 0 })
	}
	if len(v.Panels) == 0 {
		return fmt.Errorf("draw the comparison: %w", ErrNothingToDraw)
	}
	v.H = 120 + 282*len(v.Panels)
	v.Title = fmt.Sprintf("%s: %s and %s", r.Benchmark, r.Names[0], r.Names[1])
	v.Legend[1].Name += ": " + r.Theirs
	return execute(w, "comparison.svg", v)
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
