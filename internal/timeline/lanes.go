package timeline

import (
	"cmp"
	"slices"
)

// A lane is a row of a rank's picture: spans in it follow one another or lie within one
// another. The picture has rows where a rank has goroutines, which nobody can number, and
// where it has requests, which overlap in any way.
type lane struct {
	end    int64 // of the last span that lies in no other
	ending []*Span
}

// place puts a span into the first lane that is free and returns its index.
func place(lanes *[]*lane, s *Span) int {
	for i, l := range *lanes {
		if l.end <= s.Begin {
			l.end = s.End
			return i
		}
	}
	*lanes = append(*lanes, &lane{end: s.End})
	return len(*lanes) - 1
}

// order sorts spans so that those within others come behind them.
func order(all []Span) {
	slices.SortStableFunc(all, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.End, a.End), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
}

// rank tells calls, waits and sleeps of the same time apart: the first are around the
// others.
func rank(k Kind) int { return slices.Index([]Kind{Call, Wait, Park}, k) }

// goroutines gives lanes to calls, waits and sleeps: a sleep lies in its wait, a wait or a
// call in a call of the same communicator and in no wait, and everything else in a lane
// that is free.
// The spans are in order.
func goroutines(all []*Span) (lanes []int, used int) {
	type open struct {
		s    *Span
		lane int
	}
	var list []*lane
	calls, waits := map[uint32][]open{}, map[uint64]int{}
	lanes = make([]int, len(all))
	for i, s := range all {
		at := -1
		if s.Kind == Park {
			if l, ok := waits[s.Seq]; ok {
				at = l
			}
		}
		if s.Kind != Park {
			stack := calls[s.Context]
			for len(stack) > 0 && stack[len(stack)-1].s.End <= s.Begin {
				stack = stack[:len(stack)-1]
			}
			if n := len(stack); n > 0 && stack[n-1].s.End >= s.End {
				top := stack[n-1]
				l := list[top.lane]
				l.shrink(s.Begin)
				if n := len(l.ending); n > 0 && l.ending[n-1].Kind == Call && l.ending[n-1].End >= s.End {
					at = top.lane
				}
			}
			calls[s.Context] = stack
		}
		if at < 0 {
			at = place(&list, s)
			list[at].ending = list[at].ending[:0]
		}
		l := list[at]
		l.shrink(s.Begin)
		l.ending = append(l.ending, s)
		switch s.Kind {
		case Call:
			calls[s.Context] = append(calls[s.Context], open{s, at})
		case Wait:
			waits[s.Seq] = at
		}
		lanes[i] = at
	}
	return lanes, len(list)
}

// shrink forgets the spans that have ended by then.
func (l *lane) shrink(by int64) {
	for n := len(l.ending); n > 0 && l.ending[n-1].End <= by; n-- {
		l.ending = l.ending[:n-1]
	}
}
