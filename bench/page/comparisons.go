package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/compare"
	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// matchup are the comparisons of one benchmark with the same flags of ours, each
// with another peer.
type matchup struct {
	bench string
	flags []string
	peers []peer
}

// peer is a comparison in a matchup.
type peer struct {
	name string
	r    *compare.Result
}

// comparisons makes the cards of comparisons.
func (b *builder) comparisons(sources []source) []card {
	var all []*matchup
	for _, s := range sources {
		if s.comparison == nil {
			continue
		}
		r := s.comparison
		flags := flagsOf(r.Ours, r.Benchmark)
		i := slices.IndexFunc(all, func(m *matchup) bool { return m.bench == r.Benchmark && slices.Equal(m.flags, flags) })
		if i < 0 {
			i, all = len(all), append(all, &matchup{bench: r.Benchmark, flags: flags})
		}
		m := all[i]
		name := unique(cmp.Or(r.Names[1], "the other"), func(n string) bool {
			return n == b.ours || slices.ContainsFunc(m.peers, func(p peer) bool { return p.name == n })
		})
		m.peers = append(m.peers, peer{name, r})
	}
	var cards []card
	for _, m := range all {
		cards = append(cards, b.matchupCards(m)...)
	}
	distinguish(cards)
	return cards
}

// distinguish adds to the names of cards of one title the flags in which they
// differ.
func distinguish(cards []card) {
	byTitle := map[string][]*card{}
	for i := range cards {
		byTitle[cards[i].title] = append(byTitle[cards[i].title], &cards[i])
	}
	for _, alike := range byTitle {
		given := map[string]int{}
		for _, c := range alike {
			for _, f := range c.flagList {
				given[f]++
			}
		}
		for _, c := range alike {
			own := slices.DeleteFunc(slices.Clone(c.flagList), func(f string) bool { return given[f] == len(alike) })
			c.name = strings.Join(append([]string{c.title}, own...), " ")
		}
	}
}

// flagsOf are the flags of our side, without those of osu-go compare's own.
func flagsOf(command, bench string) []string {
	f := strings.Fields(command)
	if i := slices.Index(f, bench); i >= 0 {
		f = f[i+1:]
	}
	f = slices.DeleteFunc(f, func(s string) bool { return strings.HasPrefix(s, "--decimals") })
	for i := range f {
		f[i] = strings.Replace(f[i], "=", " ", 1)
	}
	return f
}

// matchupCards makes a card for each datatype of a matchup.
func (b *builder) matchupCards(m *matchup) []card {
	var datatypes []string
	for _, p := range m.peers {
		for _, metric := range p.r.Metrics {
			for _, pt := range metric.Points {
				if d := usual(pt.Datatype); !slices.Contains(datatypes, d) {
					datatypes = append(datatypes, d)
				}
			}
		}
	}
	title := cmp.Or(b.titles[m.bench], m.bench)
	var cards []card
	for _, d := range datatypes {
		c := card{bench: m.bench, kind: kindOf(title), title: short(title) + of(d), how: "In turns with peers.", flags: strings.Join(m.flags, " "), flagList: m.flags}
		c.notes = append(c.notes, turns(m.peers))
		if len(m.peers) > 1 {
			c.notes = append(c.notes, weft+"'s curve is of all comparisons: the median of its medians, shaded from the lowest first quartile to the highest third.")
		}
		for _, p := range m.peers {
			b.addPeer(&c, p, d)
		}
		for i := range c.panels {
			b.pool(&c.panels[i])
		}
		cards = append(cards, c)
	}
	return cards
}

// turns says how often the programs took turns.
func turns(peers []peer) string {
	least, most := peers[0].r.Rounds, peers[0].r.Rounds
	for _, p := range peers {
		least, most = min(least, p.r.Rounds), max(most, p.r.Rounds)
	}
	rounds := fmt.Sprint(most)
	if least < most {
		rounds = fmt.Sprintf("%d to %d", least, most)
	}
	return "Medians of " + rounds + " rounds in which the two programs took turns, shaded from the first quartile to the third; ratios are of the same round."
}

// addPeer adds the columns of a comparison to a card.
func (b *builder) addPeer(c *card, p peer, datatype string) {
	for _, m := range p.r.Metrics {
		name, unit := nameAndUnit(m.Name)
		i := slices.IndexFunc(c.panels, func(q panel) bool { return q.title == name && q.unit == unit })
		if i < 0 {
			better := osufmt.Higher
			if m.Better == osufmt.Lower.String() {
				better = osufmt.Lower
			}
			i, c.panels = len(c.panels), append(c.panels, panel{title: name, unit: unit, better: better, first: m.First})
		}
		q := &c.panels[i]
		pr := pair{name: p.name, ours: map[int]spread.Spread{}, theirs: map[int]spread.Spread{}, ratio: map[int]spread.Spread{}}
		for _, pt := range m.Points {
			if usual(pt.Datatype) != datatype {
				continue
			}
			pr.ours[pt.Size], pr.theirs[pt.Size], pr.ratio[pt.Size] = pt.Ours, pt.Theirs, pt.Ratio
			if pt.Floor > 0 {
				q.limit = append(q.limit, point{pt.Size, spread.Of([]float64{pt.Floor})})
			}
		}
		if len(pr.ours) > 0 {
			q.pairs = append(q.pairs, pr)
		}
		if m.Coarse > 0.01 {
			c.notes = append(c.notes, fmt.Sprintf("%s prints %s so coarsely that its values, and the ratios, are uncertain by up to %.0f %%.", p.name, name, 100*m.Coarse))
		}
	}
	for _, n := range p.r.Notes {
		c.notes = append(c.notes, p.name+": "+n)
	}
	c.commands = append(c.commands, command{b.ours, p.r.Ours}, command{p.name, p.r.Theirs})
}

// pool makes the curves of a panel from its pairs: one of ours.
func (b *builder) pool(p *panel) {
	ours := map[int][]spread.Spread{}
	for _, pr := range p.pairs {
		for size, v := range pr.ours {
			ours[size] = append(ours[size], v)
		}
	}
	p.series = append(p.series, series{b.ours, b.styles.of(b.ours), pooled(ours)})
	for _, pr := range p.pairs {
		style := b.styles.of(pr.name)
		p.series = append(p.series, series{pr.name, style, sorted(pr.theirs)})
		p.ratios = append(p.ratios, series{b.ours + " to " + pr.name, style, sorted(pr.ratio)})
	}
	limit := map[int][]spread.Spread{}
	for _, l := range p.limit {
		limit[l.size] = append(limit[l.size], l.v)
	}
	p.limit = pooled(limit)
}

// pooled puts together what was measured at each size.
func pooled(at map[int][]spread.Spread) []point {
	out := map[int]spread.Spread{}
	for size, all := range at {
		out[size] = together(all)
	}
	return sorted(out)
}

// together is the median of medians, within the outermost quartiles.
func together(all []spread.Spread) spread.Spread {
	var medians []float64
	s := all[0]
	n := 0
	for _, v := range all {
		medians = append(medians, v.Median)
		s.Min, s.Q1, s.Q3, s.Max = min(s.Min, v.Min), min(s.Q1, v.Q1), max(s.Q3, v.Q3), max(s.Max, v.Max)
		n += v.N
	}
	s.Median, s.N = spread.Of(medians).Median, n
	return s
}
