package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode"
)

//go:embed page.html
var pageText string

//go:embed comparison.svg
var sheetText string

//go:embed colours.css
var colours string

//go:embed drawing.css
var drawingStyle string

//go:embed style.css
var pageStyle string

// symbols are the marks of styles, as paths around the origin.
var symbols = [hues]string{
	"M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0Z",                          // circle
	"M-2.7-2.7h5.4v5.4h-5.4Z",                                     // square
	"M0-3.6L3.4 2.4H-3.4Z",                                        // triangle
	"M0-3.8L3.8 0L0 3.8L-3.8 0Z",                                  // diamond
	"M0 3.6L3.4-2.4H-3.4Z",                                        // triangle, down
	"M-1.2-3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4Z", // cross
	"M-1.9-3.4H1.9L3.6 0L1.9 3.4H-1.9L-3.6 0Z",                    // hexagon
	"M-3.6-1.3H3.6V1.3H-3.6Z",                                     // bar
}

// symbol is the mark of a style. Styles of one colour have different ones.
func symbol(style int) string { return symbols[(style+style/hues)%hues] }

// class is the class of a style in drawing.css.
func class(style int) string {
	c := fmt.Sprintf("s%d", style%hues)
	if style >= hues {
		c += " again"
	}
	return c
}

// markup is a part of a page or a drawing. html/template is not used: with it
// the linker keeps every method of every type, a sixth of osu-go.
type markup struct{ bytes.Buffer }

// put adds a format whose strings are texts: they can't become markup, as a
// *markup among them does. Numbers with a fraction are lengths.
func (m *markup) put(format string, args ...any) {
	for i, a := range args {
		switch v := a.(type) {
		case string:
			args[i] = html.EscapeString(v)
		case float64:
			args[i] = strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
		}
	}
	fmt.Fprintf(m, format, args...)
}

// line puts a line.
func (m *markup) line(format string, args ...any) {
	m.put(format, args...)
	m.WriteByte('\n')
}

// wrap puts what is not empty between two tags.
func (m *markup) wrap(open string, in *markup, shut string) {
	if in.Len() > 0 {
		m.WriteString(open + in.String() + shut)
	}
}

// fill writes a text, with parts in the place of their names in braces.
func fill(w io.Writer, text string, parts map[string]*markup) error {
	var pairs []string
	for name, m := range parts {
		pairs = append(pairs, "{"+name+"}", m.String())
	}
	// XML has no control characters, and a name may.
	_, err := io.WriteString(w, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.NewReplacer(pairs...).Replace(text)))
	return err
}

// swatch is the style of a series in a legend.
func swatch(style int) *markup {
	m := &markup{}
	m.put(`<svg class="swatch %v" viewBox="0 0 26 12" aria-hidden="true"><path class="curve" d="M0 6H26"/>`+
		`<path class="mark" transform="translate(13 6)" d="%v"/></svg>`, class(style), symbol(style))
	return m
}

// floorSwatch is the floor in a legend.
func floorSwatch() *markup {
	m := &markup{}
	m.put(`<svg class="swatch" viewBox="0 0 26 12" aria-hidden="true"><path class="limit" d="M0 6H26"/></svg>`)
	return m
}

// legend names series, each once.
func legend(all []series) *markup {
	var in, m markup
	named := map[string]bool{}
	for _, s := range all {
		if !named[s.name] {
			named[s.name] = true
			in.put("<li>%v %v</li>", swatch(s.style), s.name)
		}
	}
	m.wrap(`<ul class="legend">`, &in, "</ul>\n")
	return &m
}

// notes is a list of sentences.
func notes(all []string) *markup {
	var in, m markup
	for _, n := range all {
		in.put("<li>%v</li>", n)
	}
	m.wrap(`<ul class="notes">`, &in, "</ul>\n")
	return &m
}
