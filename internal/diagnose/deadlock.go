package diagnose

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// deadlocks says which ranks wait for one another, and which wait for those.
func (j *Job) deadlocks(say func(string, ...any), g *graph) {
	behind := maps.Clone(g.stuck)
	for _, k := range g.knots {
		for _, r := range k {
			delete(behind, r)
		}
		say("%s", j.deadlock(g, k))
	}
	if len(behind) > 0 {
		ranks := slices.Sorted(maps.Keys(behind))
		say("%s %s for %s and can't go on either", Ranks(ranks), plural(ranks, "waits", "wait"), plural(slices.Concat(g.knots...), "that rank", "those"))
	}
}

func (j *Job) deadlock(g *graph, ranks []int) string {
	sends, receives := true, true
	var parts []string
	in := map[int]bool{}
	for _, r := range ranks {
		in[r] = true
	}
	for _, r := range ranks {
		for i, w := range j.holding(r, in) {
			sends, receives = sends && w.Kind == Send, receives && (w.Kind == Receive || w.Kind == Probe)
			if i == 0 && len(parts) < named {
				parts = append(parts, fmt.Sprintf("rank %d: %s%s", r, j.Phrase(w), since(w)))
			}
		}
	}
	if len(ranks) > named {
		parts = append(parts, "and so on")
	}
	what := strings.Join(parts, "; ")
	other, none, all := "one another", "none of them", "all"
	if len(ranks) == 2 {
		other, none, all = "each other", "neither", "both"
	}
	switch {
	case len(ranks) == 1:
		return fmt.Sprintf("rank %d waits for itself: deadlock (%s)", ranks[0], what)
	case receives:
		return fmt.Sprintf("%s wait to receive from %s, and %s sends: deadlock (%s)", Ranks(ranks), other, none, what)
	case sends:
		return fmt.Sprintf("%s wait for %s's receive, %s are blocked in a send: deadlock; use Sendrecv, or Isend on one side (%s)", Ranks(ranks), other, all, what)
	}
	return fmt.Sprintf("%s wait for %s: deadlock (%s)", Ranks(ranks), other, what)
}

// holding lists the operations of a rank that those ranks hold.
func (j *Job) holding(rank int, in map[int]bool) (waits []*Wait) {
	r := j.rank(rank)
	for i := range r.Waits {
		w := &r.Waits[i]
		if w.Goroutine > 0 && (part{j.needs(rank, w), w.Any}).held(in) {
			waits = append(waits, w)
		}
	}
	return waits
}
