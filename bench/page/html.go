package page

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// templates are page.html, comparison.svg and drawing.html, which both use.
//
//go:embed *.html comparison.svg
var templates embed.FS

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

var layout = template.Must(template.New("").Funcs(template.FuncMap{
	"symbol": symbol,
	"class":  class,
	"clip":   clip,
	"num":    func(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") },
	"add":    func(a, b float64) float64 { return a + b },
	"half":   func(v float64) float64 { return v / 2 },
	"times":  func(by float64, n int) float64 { return by * float64(n) },
}).ParseFS(templates, "*"))

// Config is what WriteHTML is told besides the results. It is a plain value.
type Config struct {
	Title   string            // of the page: the directory, say
	Version string            // of Weft, which has made the page
	Titles  map[string]string // of the benchmarks, by name: as in OSU's output
}

// view is what page.html shows.
type view struct {
	Config
	Style    template.CSS
	Files    int
	When     string
	Glance   []figureView
	Legend   []legend
	Sections []sectionView
	Machines []machineView
	Sources  []sourceView
	Left     []Left
}

type sectionView struct {
	ID, Title string
	Cards     []cardView
}

type cardView struct {
	ID, Title  string
	How, Flags string
	Legend     []legend
	Floor      bool
	Side       bool // the panels are side by side
	Panels     []panelView
	Notes      []string
	Commands   []commandView
}

type commandView struct{ Name, Line string }

type legend struct {
	Style int
	Name  string
}

// panelView is one or two drawings above their table.
type panelView struct {
	Title   string
	Figures []figureView
	Table   table
	Notes   []string
}

type figureView struct {
	Title   string
	Drawing drawing
	Table   *table // below this drawing; nil: the panel has it
}

type machineView struct {
	Name   string
	Facts  []fact
	Panels []panelView
}

type sourceView struct{ File, What, Ranks, Fabric, When, Version string }

// builder makes the parts of a page.
type builder struct {
	titles map[string]string
	ours   string // the name of our series
	ratios string // the title of ratios
	below  string // a sentence about what is below a drawing
	styles styles
	ids    int
}

// WriteHTML writes the page. The page is the same for the same results.
func (r *Results) WriteHTML(w io.Writer, c Config) error {
	if len(r.sources) == 0 {
		return ErrNoResults
	}
	b := &builder{titles: c.Titles, ours: weft, ratios: "Ratio to peers", below: "The table below has all figures.", styles: styles{weft: 0}}
	cards := append(b.comparisons(r.sources), b.runs(r.sources)...)
	v := view{Config: c, Style: template.CSS(colours + drawingStyle + pageStyle), Files: len(r.sources), When: span(r.sources), Left: r.Left}
	peers := map[int]string{}
	for k := range kinds {
		s := sectionView{ID: fmt.Sprintf("kind%d", k), Title: k.String()}
		for i := range cards {
			if cards[i].kind == k {
				s.Cards = append(s.Cards, b.card(&cards[i]))
			}
		}
		if len(s.Cards) > 0 {
			v.Sections = append(v.Sections, s)
		}
		if d, t, ok := glance(cards, k); ok {
			v.Glance = append(v.Glance, figureView{Title: k.String(), Table: &t, Drawing: b.finish(d, k.String()+" beside the peers", t.Caption+" The table below has the figures.")})
		}
	}
	for i := range cards {
		for j := range cards[i].panels {
			for n, pr := range cards[i].panels[j].pairs {
				peers[cards[i].panels[j].ratios[n].style] = pr.name
			}
		}
	}
	for _, style := range slices.Sorted(maps.Keys(peers)) {
		v.Legend = append(v.Legend, legend{style, peers[style]})
	}
	for _, m := range machines(r.sources) {
		v.Machines = append(v.Machines, b.machine(m))
	}
	for _, s := range r.sources {
		v.Sources = append(v.Sources, sourceOf(s))
	}
	return execute(w, "page.html", v)
}

// execute writes what a template makes of a view.
func execute(w io.Writer, name string, view any) error {
	var out bytes.Buffer
	if err := layout.ExecuteTemplate(&out, name, view); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	// XML has no control characters, and a name may. The templates of page.html
	// have empty lines between them.
	text := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, bytes.TrimSpace(out.Bytes()))
	_, err := w.Write(append(text, '\n'))
	return err
}

// finish gives a drawing its texts and an id that no other has.
func (b *builder) finish(d drawing, title, desc string) drawing {
	b.ids++
	d.ID, d.Title, d.Desc = fmt.Sprintf("d%d", b.ids), title, desc
	return d
}

func (b *builder) card(c *card) cardView {
	b.ids++
	v := cardView{ID: fmt.Sprintf("c%d", b.ids), Title: c.title, How: c.how, Flags: c.flags, Notes: slices.Compact(c.notes)}
	v.Side = true
	seen := map[string]bool{}
	for _, m := range c.commands {
		if line := m.name + "\x00" + m.line; !seen[line] {
			seen[line] = true
			v.Commands = append(v.Commands, commandView{m.name, m.line})
		}
	}
	named := map[string]bool{}
	for i := range c.panels {
		p := &c.panels[i]
		for _, s := range p.series {
			if !named[s.name] {
				named[s.name] = true
				v.Legend = append(v.Legend, legend{s.style, s.name})
			}
		}
		pv := b.panel(p, c.title)
		for _, f := range pv.Figures {
			v.Floor = v.Floor || f.Drawing.Limit != ""
		}
		v.Side = v.Side && len(pv.Figures) < 2
		v.Panels = append(v.Panels, pv)
	}
	return v
}

// panel draws a panel.
func (b *builder) panel(p *panel, of string) panelView {
	v := panelView{Title: p.title, Table: tableOf(p)}
	yName := strings.TrimPrefix(p.unit+", "+p.better.String(), ", ")
	linear := p.unit == "%"
	value := func(title, y string, series []series, limit []point, linear bool, ref reference) {
		c := curves{series: series, limit: limit, first: p.first, yName: y, linear: linear, inTime: p.inTime, ref: ref}
		var d drawing
		gone, ok := 0, false
		if p.single() {
			d, ok = rows(rowsOf(series, p.unit, ref, linear), y, linear, ref)
		} else {
			d, gone, ok = c.lines()
		}
		if gone > 0 {
			v.Notes = append(v.Notes, fmt.Sprintf("%s: %d figures of 0 or of size 0 are in the table only.", title, gone))
		}
		if ok {
			v.Figures = append(v.Figures, figureView{Title: title, Drawing: b.finish(d, of+": "+title, describe(title, y, series, p, linear)+b.below)})
		}
	}
	value(p.title, yName, p.series, p.limit, linear, reference{})
	if len(p.ratios) > 0 {
		side := "above"
		if p.better == osufmt.Lower {
			side = "below"
		}
		value(b.ratios, "ratio, "+side+" 1 "+b.ours+" is better", p.ratios, nil, false, reference{p.better, true})
	}
	return v
}

// rowsOf are the rows of series that have one size.
func rowsOf(all []series, unit string, ref reference, linear bool) (rs []row) {
	for _, s := range all {
		for _, p := range s.points {
			if !drawable(p.v, linear) && !(p.v.Median == 0 && !ref.on) {
				continue
			}
			tip := s.name + ": " + figure(p)
			if !ref.on {
				tip += " " + unit
			}
			rs = append(rs, row{s.name, []rowMark{{s.style, p.v.Q1, p.v.Median, p.v.Q3, tip}}})
		}
	}
	return rs
}

// describe says in words what a drawing shows.
func describe(title, y string, all []series, p *panel, linear bool) string {
	s := title + " (" + y + ")"
	scale := "both axes logarithmic"
	if linear {
		scale = "the sizes' axis logarithmic"
	}
	if p.inTime {
		scale = "in the order of time"
	}
	if !p.single() {
		s += " over " + strings.ToLower(xName(p.first)) + ", " + scale
	}
	s += ". "
	for _, c := range all {
		if len(c.points) == 0 {
			continue
		}
		a, z := c.points[0], c.points[len(c.points)-1]
		if len(c.points) == 1 {
			s += fmt.Sprintf("%s: %s. ", c.name, number(a.v.Median))
			continue
		}
		s += fmt.Sprintf("%s: %s at %s, %s at %s. ", c.name, number(a.v.Median), exactly(a.size), number(z.v.Median), exactly(z.size))
	}
	return s
}

func (b *builder) machine(m *machine) machineView {
	v := machineView{Name: m.Host, Facts: m.facts()}
	if v.Name == "" {
		v.Name = "a machine without a name"
	}
	for _, p := range m.panels() {
		v.Panels = append(v.Panels, b.panel(&p, v.Name))
	}
	return v
}

// sourceOf is a file's line in the list of files.
func sourceOf(s source) sourceView {
	v := sourceView{File: s.file, Ranks: places(s.job)}
	switch {
	case s.run != nil:
		v.What = "osu-go " + strings.Join(append([]string{s.run.Benchmark}, s.run.Flags...), " ")
	case s.comparison != nil:
		v.What = "osu-go compare " + s.comparison.Benchmark + ": " + s.comparison.Theirs
	case s.head != nil:
		v.What = "osu-go floor"
	default:
		var titles []string
		for _, t := range s.tables {
			titles = append(titles, t.Title)
		}
		v.What = strings.Join(slices.Compact(titles), ", ")
		if v.What == "" {
			v.What = path.Base(s.name)
		}
	}
	if s.job != nil {
		v.Fabric = s.job.Fabric
	}
	if s.head != nil {
		v.When, v.Version = s.head.When.UTC().Format("2006-01-02 15:04"), shortVersion(s.head.Version)
	}
	return v
}

// span is the time of the measurements.
func span(sources []source) string {
	var first, last string
	for _, s := range sources {
		if s.head == nil || s.head.When.IsZero() {
			continue
		}
		day := s.head.When.UTC().Format("2006-01-02")
		if first == "" || day < first {
			first = day
		}
		last = max(last, day)
	}
	if first == last {
		return first
	}
	return first + " to " + last
}
