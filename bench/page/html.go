package page

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// Config is what WriteHTML is told besides the results. It is a plain value.
type Config struct {
	Title   string            // of the page: the directory, say
	Version string            // of Weft, which has made the page
	Titles  map[string]string // of the benchmarks, by name: as in OSU's output
}

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
	var title, style, summary, nav, sections, glances, hosts, files, left markup
	title.put("%v", c.Title)
	style.WriteString(colours + drawingStyle + pageStyle)
	var kind [kinds]markup
	for k := range kinds {
		for i := range cards {
			if cards[i].kind == k {
				b.card(&kind[k], &cards[i])
			}
		}
		if d, t := glance(cards, k); d != nil {
			svg := b.finish(d, k.String()+" beside the peers", t.Caption+" The table below has the figures.")
			glances.line(`<article class="card"><h3>%v</h3>`+"\n%v%v</article>", k, svg, t.markup())
		}
	}
	var peers []series
	for i := range cards {
		for _, p := range cards[i].panels {
			for n, pr := range p.pairs {
				peers = append(peers, series{name: pr.name, style: p.ratios[n].style})
			}
		}
	}
	for _, m := range machines(r.sources) {
		b.machine(&hosts, m)
	}
	for _, s := range r.sources {
		s.row(&files)
	}
	for _, l := range r.Left {
		left.put("<dt>%v</dt><dd>%v</dd>", l.Name, l.Reason.Error())
	}
	noun := "files"
	if len(r.sources) == 1 {
		noun = "file"
	}
	summary.put("%d %v of results", len(r.sources), noun)
	if when := span(r.sources); when != "" {
		summary.put(", measured %v", when)
	}
	summary.put("; page made by osu-go %v.", c.Version)
	if len(r.Left) > 0 {
		summary.put(` <a href="#left">%d left out</a>.`, len(r.Left))
	}
	section := func(id, title, open string, in *markup, shut string) {
		if in.Len() > 0 {
			nav.put(`<li><a href="#%v">%v</a></li>`, id, title)
			sections.line(`<section id="%v">`+"\n<h2>%v</h2>", id, title)
			sections.wrap(open, in, shut+"</section>\n")
		}
	}
	section("glance", "At a glance", "<p>How many times as good as each peer Weft is: the mean over all sizes, between the worst size and the best. "+
		"Right of the line Weft is better.</p>\n"+legend(peers).String()+`<div class="cards">`+"\n", &glances, "</div>\n")
	for k := range kinds {
		section(fmt.Sprintf("kind%d", k), k.String(), "", &kind[k], "")
	}
	section("machine", "Machine", "", &hosts, "")
	section("files", "Files", filesHead, &files, "</tbody></table></div>\n")
	section("left", "Left out", `<dl class="commands">`, &left, "</dl>\n")
	return fill(w, pageText, map[string]*markup{"title": &title, "style": &style, "summary": &summary, "nav": &nav, "sections": &sections})
}

// filesHead is the head of the list of files.
const filesHead = `<div class="scroll" role="region" aria-label="Files" tabindex="0"><table class="plain">
<thead><tr><th scope="col">file</th><th scope="col">what</th><th scope="col">fabric</th><th scope="col">ranks and their cores</th><th scope="col">when (UTC)</th><th scope="col">Weft</th></tr></thead>
<tbody>
`

// finish makes an SVG of a drawing, with texts and an id that no other has.
func (b *builder) finish(d *drawing, title, desc string) *markup {
	b.ids++
	m := &markup{}
	m.line(`<svg viewBox="0 0 %v %v" class="drawing" role="img" aria-labelledby="d%[3]dt d%[3]dd">`, d.w, d.h, b.ids)
	m.line(`<title id="d%[1]dt">%[2]v</title><desc id="d%[1]dd">%[3]v</desc>`, b.ids, title, desc)
	m.line("%v</svg>", &d.markup)
	return m
}

func (b *builder) card(m *markup, c *card) {
	b.ids++
	m.line(`<article class="card wide" aria-labelledby="c%[1]d">`+"\n"+`<h3 id="c%[1]d">%[2]v</h3>`, b.ids, c.title)
	m.put(`<p class="flags">%v`, c.how)
	if c.flags != "" {
		m.put(" <code>%v</code>", c.flags)
	}
	m.line("</p>")
	var all []series
	var parts []string
	floor, side := false, true
	for i := range c.panels {
		all = append(all, c.panels[i].series...)
		part, figures := b.panel(&c.panels[i], c.title)
		for _, f := range figures {
			floor = floor || f.floor
		}
		parts = append(parts, part)
		side = side && len(figures) < 2
	}
	m.put("%v", legend(all))
	if floor {
		m.line(`<p class="key">%v the hardware’s floor: one cache line and one copy</p>`, floorSwatch())
	}
	if side {
		m.WriteString(beside(parts))
	} else {
		m.WriteString(strings.Join(parts, ""))
	}
	m.put("%v", notes(slices.Compact(c.notes)))
	var commands markup
	said := map[command]bool{}
	for _, l := range c.commands {
		if !said[l] {
			said[l] = true
			commands.put("<dt>%v</dt><dd><code>%v</code></dd>", l.name, l.line)
		}
	}
	m.wrap("<details><summary>Commands</summary>\n"+`<dl class="commands">`, &commands, "</dl>\n</details>\n")
	m.line("</article>")
}

// beside puts panels side by side.
func beside(panels []string) string {
	return `<div class="pairs"><div>` + strings.Join(panels, "</div><div>") + "</div></div>\n"
}

// panel is a panel with its drawings above its table.
func (b *builder) panel(p *panel, of string) (string, []captioned) {
	var m, in markup
	figures, gone := b.figures(p, of)
	for _, f := range figures {
		in.line("<figure><figcaption>%v</figcaption>\n%v</figure>", f.title, f.svg)
	}
	m.wrap(`<div class="figures">`+"\n", &in, "</div>\n")
	t := tableOf(p)
	m.put("%v%v", notes(gone), t.markup())
	return m.String(), figures
}

// captioned is a drawing with a caption.
type captioned struct {
	title string
	svg   *markup
	floor bool
}

// figures draws a panel. gone says what is not drawn.
func (b *builder) figures(p *panel, of string) (all []captioned, gone []string) {
	yName := strings.TrimPrefix(p.unit+", "+p.better.String(), ", ")
	linear := p.unit == "%"
	value := func(title, y string, series []series, limit []point, linear bool, ref reference) {
		c := curves{series: series, limit: limit, first: p.first, yName: y, linear: linear, inTime: p.inTime, ref: ref}
		var d *drawing
		n := 0
		if p.single() {
			d = rows(rowsOf(series, p.unit, ref, linear), y, linear, ref)
		} else {
			d, n = c.lines()
		}
		if n > 0 {
			gone = append(gone, fmt.Sprintf("%s: %d figures of 0 or of size 0 are in the table only.", title, n))
		}
		if d != nil {
			all = append(all, captioned{title, b.finish(d, of+": "+title, describe(title, y, series, p, linear)+b.below), d.floor})
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
	return all, gone
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

func (b *builder) machine(m *markup, of *machine) {
	name := cmp.Or(of.Host, "a machine without a name")
	m.line(`<article class="card wide">`+"\n<h3>%v</h3>", name)
	m.put(`<dl class="facts">`)
	for _, f := range of.facts() {
		m.put("<div><dt>%v</dt><dd>%v</dd></div>", f.Name, f.Value)
	}
	m.line("</dl>")
	var parts []string
	for _, p := range of.panels() {
		part, _ := b.panel(&p, name)
		parts = append(parts, part)
	}
	if len(parts) > 0 {
		m.WriteString(beside(parts))
	}
	m.line("</article>")
}

// row is a file's line in the list of files.
func (s *source) row(m *markup) {
	var what, fabric, day, version string
	switch {
	case s.run != nil:
		what = "osu-go " + strings.Join(append([]string{s.run.Benchmark}, s.run.Flags...), " ")
	case s.comparison != nil:
		what = "osu-go compare " + s.comparison.Benchmark + ": " + s.comparison.Theirs
	case s.head != nil:
		what = "osu-go floor"
	default:
		var titles []string
		for _, t := range s.tables {
			titles = append(titles, t.Title)
		}
		what = cmp.Or(strings.Join(slices.Compact(titles), ", "), path.Base(s.name))
	}
	if s.job != nil {
		fabric = s.job.Fabric
	}
	if s.head != nil {
		day, version = s.head.When.UTC().Format("2006-01-02 15:04"), shortVersion(s.head.Version)
	}
	m.line(`<tr><th scope="row">%v</th><td><code>%v</code></td><td>%v</td><td>%v</td><td>%v</td><td>%v</td></tr>`,
		s.file, what, fabric, places(s.job), day, version)
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
