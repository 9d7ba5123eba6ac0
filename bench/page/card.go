package page

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/bench/spread"
)

// card is the part of the page about one benchmark: its drawings and tables.
type card struct {
	kind     kind
	bench    string
	title    string
	name     string // the title, with the flags that tell it from cards of the same title
	how      string // how the programs were run
	flags    string // of ours
	flagList []string
	panels   []panel
	notes    []string
	commands []command
}

// command is a line of a card that says how a series was measured.
type command struct {
	name, line string
}

// panel is a column of a benchmark: the figures, and the ratios to peers.
type panel struct {
	title  string // "Avg Latency"
	unit   string // "µs"
	better osufmt.Better
	first  string // header of the sizes; empty: there are none
	series []series
	limit  []point // the floor; may be empty
	ratios []series
	pairs  []pair // of comparisons: the columns of the table
	inTime bool   // the sizes are numbers of measurements
}

// series is a curve.
type series struct {
	name   string
	style  int // chosen by styles
	points []point
}

// point is the spread of the measurements at one size.
type point struct {
	size int
	v    spread.Spread
}

// pair is what two programs took in turns.
type pair struct {
	name                string // of the peer
	ours, theirs, ratio map[int]spread.Spread
}

// single reports whether the panel has one size only, so no curves.
func (p *panel) single() bool {
	if p.first == "" {
		return true
	}
	sizes := map[int]bool{}
	for _, s := range p.series {
		for _, pt := range s.points {
			sizes[pt.size] = true
		}
	}
	return len(sizes) < 2
}

// kind orders the cards.
type kind int

const (
	latencies kind = iota
	bandwidths
	rates
	collectives
	onesided
	others
	kinds
)

func (k kind) String() string {
	return [kinds]string{"Latency", "Bandwidth", "Message rate", "Collective calls", "One-sided", "More"}[k]
}

// words tell the kind of a benchmark from its title; the first that fits counts.
var words = []struct {
	kind kind
	re   *regexp.Regexp
}{
	{onesided, regexp.MustCompile(`(?i)mpi_(put|get|acc|fetch|compare)`)},
	{collectives, regexp.MustCompile(`(?i)barrier|b(road)?cast|reduce|gather|scatter|all-?to-?all|scan\b|\bagree\b|neighborhood`)},
	{others, regexp.MustCompile(`(?i)overlap|asynchronous|partitioned|matching|cpu`)},
	{rates, regexp.MustCompile(`(?i)message rate`)},
	{bandwidths, regexp.MustCompile(`(?i)bandwidth`)},
	{latencies, regexp.MustCompile(`(?i)latency`)},
}

func kindOf(title string) kind {
	for _, w := range words {
		if w.re.MatchString(title) {
			return w.kind
		}
	}
	return others
}

var (
	wrapping = regexp.MustCompile(`^(?:(?:OSU|Weft) )?(?:MPI )?(.*?)(?: Test)?(?: v[0-9].*)?$`)
	united   = regexp.MustCompile(`^(.*?) ?\(([^()]+)\)$`)
)

// short is a benchmark's title without what all titles have.
func short(title string) string {
	s := wrapping.FindStringSubmatch(title)
	if s == nil || s[1] == "" {
		return title
	}
	return s[1]
}

// nameAndUnit takes the name of a column apart: "Avg Latency(us)".
func nameAndUnit(column string) (name, unit string) {
	switch column {
	case osufmt.MBs.Name:
		return "Bandwidth", "MB/s"
	case osufmt.MessagesS.Name:
		return "Message rate", "messages/s"
	}
	m := united.FindStringSubmatch(column)
	if m == nil {
		return column, ""
	}
	return m[1], strings.Replace(m[2], "us", "µs", 1)
}

// styles gives each name a style, the same on the whole page. Ours is the first.
type styles map[string]int

// hues is the number of colours in colours.css, and of symbols. Each pair of them
// is a style.
const hues = 8

func (s styles) of(name string) int {
	i, ok := s[name]
	if !ok {
		i = len(s) % (hues * hues)
		s[name] = i
	}
	return i
}

// weft is the name of our series.
const weft = "Weft"

func sorted(at map[int]spread.Spread) (p []point) {
	for _, size := range slices.Sorted(maps.Keys(at)) {
		p = append(p, point{size, at[size]})
	}
	return p
}

// unique makes a name different from those taken: "mpich (2)".
func unique(name string, taken func(string) bool) string {
	out := name
	for n := 2; taken(out); n++ {
		out = fmt.Sprintf("%s (%d)", name, n)
	}
	return out
}

// of returns a datatype in titles; nothing of the usual one.
func of(datatype string) string {
	if datatype == "" || datatype == "MPI_CHAR" {
		return ""
	}
	return ", " + datatype
}

// usual makes one of the two ways to say that datatype does not matter.
func usual(datatype string) string {
	if datatype == "" {
		return "MPI_CHAR"
	}
	return datatype
}
