package page

import (
	"slices"

	"github.com/weft-mpi/weft/bench/spread"
)

// table is the alternative to a drawing: all of its figures.
type table struct {
	Caption string
	Head    [][]cell
	Body    [][]cell
}

// cell is a cell of a table. Span is the number of columns if it is above 1, Down
// that of rows. A cell is a header if Scope says of what: col, colgroup or row.
type cell struct {
	Text  string
	Small string // quartiles
	Span  int
	Down  int
	Scope string
}

// markup is the table, closed.
func (t *table) markup() *markup {
	m := &markup{}
	lines := func(rows [][]cell, end string) {
		for _, cells := range rows {
			m.WriteString("<tr>")
			for _, c := range cells {
				c.put(m)
			}
			m.WriteString("</tr>" + end)
		}
	}
	m.put("<details><summary>Table</summary>\n"+`<p class="caption">%[1]v</p>`+"\n"+
		`<div class="scroll" role="region" aria-label="%[1]v" tabindex="0"><table aria-label="%[1]v">`+"\n<thead>", t.Caption)
	lines(t.Head, "")
	m.line("</thead>\n<tbody>")
	lines(t.Body, "\n")
	m.line("</tbody></table></div></details>")
	return m
}

// put puts the cell at the end of a row.
func (c *cell) put(m *markup) {
	if c.Scope == "" {
		m.put("<td>%v", c.Text)
		if c.Small != "" {
			m.put(" <small>%v</small>", c.Small)
		}
		m.put("</td>")
		return
	}
	m.put(`<th scope="%v"`, c.Scope)
	if c.Span > 1 {
		m.put(` colspan="%d"`, c.Span)
	}
	if c.Down > 1 {
		m.put(` rowspan="%d"`, c.Down)
	}
	m.put(">%v</th>", c.Text)
}

// tableOf is the table of a panel.
func tableOf(p *panel) table {
	t := table{Caption: caption(p)}
	first := p.first
	if first == "" {
		first = "Program"
	}
	if p.first == "" {
		return single(p, t)
	}
	head := []cell{{Text: first, Scope: "col", Down: 2}}
	var under []cell
	if len(p.pairs) > 0 {
		for _, pr := range p.pairs {
			head = append(head, cell{Text: pr.name, Span: 3, Scope: "colgroup"})
			under = append(under, cell{Text: weft, Scope: "col"}, cell{Text: pr.name, Scope: "col"}, cell{Text: "ratio", Scope: "col"})
		}
	} else {
		for _, s := range slices.Concat(p.series, p.ratios) {
			head = append(head, cell{Text: s.name, Scope: "col"})
		}
		head[0].Down = 1
	}
	if len(p.limit) > 0 {
		head = append(head, cell{Text: "floor", Scope: "col", Down: head[0].Down})
	}
	t.Head = append(t.Head, head)
	if under != nil {
		t.Head = append(t.Head, under)
	}
	limit := bySize(p.limit)
	for _, n := range sizesOf(p) {
		line := []cell{{Text: exactly(n), Scope: "row"}}
		for _, pr := range p.pairs {
			line = append(line, cellOf(pr.ours, n), cellOf(pr.theirs, n), cellOf(pr.ratio, n))
		}
		if len(p.pairs) == 0 {
			for _, s := range slices.Concat(p.series, p.ratios) {
				line = append(line, cellOf(bySize(s.points), n))
			}
		}
		if len(p.limit) > 0 {
			line = append(line, cellOf(limit, n))
		}
		t.Body = append(t.Body, line)
	}
	return t
}

// single is the table of a panel without sizes.
func single(p *panel, t table) table {
	if len(p.pairs) > 0 {
		t.Head = [][]cell{{{Text: "Peer", Scope: "col"}, {Text: weft, Scope: "col"}, {Text: "the peer", Scope: "col"}, {Text: "ratio", Scope: "col"}}}
		for _, pr := range p.pairs {
			t.Body = append(t.Body, []cell{{Text: pr.name, Scope: "row"}, cellOf(pr.ours, 0), cellOf(pr.theirs, 0), cellOf(pr.ratio, 0)})
		}
	} else {
		t.Head = [][]cell{{{Text: "Program", Scope: "col"}, {Text: p.title, Scope: "col"}}}
		for _, s := range slices.Concat(p.series, p.ratios) {
			t.Body = append(t.Body, []cell{{Text: s.name, Scope: "row"}, cellOf(bySize(s.points), 0)})
		}
	}
	for _, l := range p.limit {
		line := make([]cell, len(t.Head[0]))
		line[0], line[1] = cell{Text: "floor", Scope: "row"}, cellOf(map[int]spread.Spread{0: l.v}, 0)
		for i := 2; i < len(line); i++ {
			line[i].Text = "–"
		}
		t.Body = append(t.Body, line)
	}
	return t
}

// caption says what the figures of a panel are.
func caption(p *panel) string {
	s := p.title
	if p.unit != "" {
		s += " in " + p.unit
	}
	if b := p.better.String(); b != "" {
		s += ", " + b
	}
	return s + ". Medians, with quartiles where they differ."
}

func bySize(points []point) map[int]spread.Spread {
	at := map[int]spread.Spread{}
	for _, p := range points {
		at[p.size] = p.v
	}
	return at
}

// sizesOf are all sizes of a panel, ascending.
func sizesOf(p *panel) (sizes []int) {
	for _, s := range p.series {
		for _, pt := range s.points {
			sizes = append(sizes, pt.size)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func cellOf(at map[int]spread.Spread, size int) cell {
	v, ok := at[size]
	if !ok {
		return cell{Text: "–"}
	}
	c := cell{Text: number(v.Median)}
	if v.Q1 < v.Q3 {
		c.Small = number(v.Q1) + "–" + number(v.Q3)
	}
	return c
}
