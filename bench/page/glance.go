package page

import (
	"fmt"
	"math"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
)

// glance draws how many times as good as its peers Weft is, for each comparison
// of a kind: the geometric mean over the sizes, and the worst and best of them.
func glance(cards []card, k kind) (*drawing, table) {
	t := table{
		Caption: k.String() + ": how many times as good as the peer " + weft + " is, over the sizes. Above 1 " + weft + " is better.",
		Head: [][]cell{{{Text: "Benchmark", Scope: "col"}, {Text: "Peer", Scope: "col"}, {Text: "mean", Scope: "col"},
			{Text: "worst", Scope: "col"}, {Text: "best", Scope: "col"}}},
	}
	var all []row
	for _, c := range cards {
		if c.kind != k {
			continue
		}
		for i := range c.panels {
			p := &c.panels[i]
			r := row{name: c.name}
			if len(c.panels) > 1 {
				r.name = p.title + " of " + strings.Replace(c.name, c.title, c.bench, 1)
			}
			for j, pr := range p.pairs {
				m, drawn := advantage(p, j)
				if !drawn {
					continue
				}
				m.tip = fmt.Sprintf("%s beside %s: %s times as good (%s to %s over the sizes)", r.name, pr.name, number(m.mid), number(m.lo), number(m.hi))
				r.marks = append(r.marks, m)
				t.Body = append(t.Body, []cell{{Text: r.name, Scope: "row"}, {Text: pr.name},
					{Text: number(m.mid)}, {Text: number(m.lo)}, {Text: number(m.hi)}})
			}
			if len(r.marks) > 0 {
				all = append(all, r)
			}
		}
	}
	return rows(all, "times as good as the peer", false, reference{osufmt.Higher, true}), t
}

// advantage is the j-th pair of a panel in one mark.
func advantage(p *panel, j int) (m rowMark, ok bool) {
	m = rowMark{style: p.ratios[j].style, lo: math.Inf(1)}
	sum, n := 0.0, 0
	for _, pt := range p.ratios[j].points {
		if !drawable(pt.v, false) {
			continue
		}
		v := pt.v.Median
		if p.better == osufmt.Lower {
			v = 1 / v
		}
		sum, n = sum+math.Log(v), n+1
		m.lo, m.hi = min(m.lo, v), max(m.hi, v)
	}
	m.mid = min(max(math.Exp(sum/float64(max(n, 1))), m.lo), m.hi)
	return m, n > 0
}
