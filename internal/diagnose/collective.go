package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// place is a collective call of a communicator, by its number.
type place struct {
	comm   uint32
	number uint32
}

// collectives says which ranks are in collective calls that others have not made, or where
// others have made another call.
func (j *Job) collectives(say func(string, ...any), g *graph) {
	in := map[place]map[string][]int{} // ranks that wait, by their call
	j.each(func(r *Rank, w *Wait) {
		if w.Kind != Collective {
			return
		}
		p := place{w.Comm, w.Number}
		if in[p] == nil {
			in[p] = map[string][]int{}
		}
		if l := in[p][w.Call]; !slices.Contains(l, r.Rank) {
			in[p][w.Call] = append(l, r.Rank)
		}
	})
	order := slices.SortedFunc(maps.Keys(in), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.number, b.number))
	})
	for _, p := range order {
		calls, waiting := in[p], []int{}
		for _, l := range calls {
			waiting = append(waiting, l...)
		}
		late := j.past(p, calls, waiting)
		if len(calls) > 1 {
			say("%s: all ranks of a communicator make its collective calls in the same order, with the same root, length and operator", j.differ(p, calls))
			continue
		}
		var call string
		for call = range calls {
		}
		if len(late) > 0 {
			say("%s %s in %s, which %s %s not called: %s", Ranks(waiting), plural(waiting, "waits", "wait"),
				j.callWords(p.comm, call, p.number), Ranks(late), plural(late, "has", "have"), j.doingAll(late))
		}
	}
}

// past adds the ranks that have made the call and do not wait in it, as far as they tell
// which one it was, and returns the ranks that have not made it.
func (j *Job) past(p place, calls map[string][]int, waiting []int) (late []int) {
	for i := range j.Ranks {
		r := &j.Ranks[i]
		c := r.comm(p.comm)
		switch {
		case slices.Contains(waiting, r.Rank):
		case c == nil:
			// It has freed the communicator, or has not made it yet, or is no member.
		case c.Calls < p.number:
			late = append(late, r.Rank)
		default:
			k := slices.IndexFunc(c.Recent, func(c Call) bool { return c.Number == p.number })
			if k >= 0 {
				text := c.Recent[k].Text
				calls[text] = append(calls[text], r.Rank)
			}
		}
	}
	return late
}

// differ says which ranks have made which call in one place.
func (j *Job) differ(p place, calls map[string][]int) string {
	texts := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(calls[a]), len(calls[b])), strings.Compare(a, b))
	})
	var parts []string
	for _, t := range texts {
		parts = append(parts, fmt.Sprintf("%s %s in %s", Ranks(calls[t]), plural(calls[t], "is", "are"), j.callWords(p.comm, t, p.number)))
	}
	return enumerate(parts)
}

// named bounds the ranks that a sentence tells of one by one.
const named = 8

// doingAll says what some ranks do, those that do nothing in one.
func (j *Job) doingAll(ranks []int) string {
	var idle, silent []int
	var parts []string
	for _, r := range ranks {
		switch s := j.rank(r); {
		case s == nil:
			silent = append(silent, r)
		case s.longest() == nil:
			idle = append(idle, r)
		case len(parts) == named:
			parts = append(parts, "and so on")
		case len(parts) < named:
			w := s.longest()
			parts = append(parts, fmt.Sprintf("rank %d is in %s%s", r, j.Phrase(w), since(w)))
		}
	}
	if len(idle) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s blocked in no call: %s, or %s outside of the library", Ranks(idle),
			plural(idle, "is", "are"), plural(idle, "it computes", "they compute"), plural(idle, "waits", "wait")))
	}
	if len(silent) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s not told what %s", Ranks(silent), plural(silent, "has", "have"), plural(silent, "it does", "they do")))
	}
	return strings.Join(parts, "; ")
}
