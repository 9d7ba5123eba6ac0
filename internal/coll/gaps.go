package coll

import "slices"

// Gaps says which memory of the caller's has gaps: its elements are not one range.
// They are numbered as if they were, but only Copy uses them in place, and in a plan that
// is Direct Send and Recv.
type Gaps uint8

const (
	GapsIn  Gaps = 1 << iota // In has gaps
	GapsOut                  // Out has
)

func (g Gaps) has(m Mem) bool { return m == In && g&GapsIn != 0 || m == Out && g&GapsOut != 0 }

// shortGaps is up to how many bytes of messages memory with gaps is copied as a whole.
const shortGaps = 8 << 10

// withGaps returns the plan for memory with gaps. Messages and operators use temporary
// memory instead: what they read is copied there first, and what they have written is
// copied from there in the end, and nothing else. Memory that no step combines and that is
// in one message at most needs none of that if its messages have more than most elements
// together: they are packed and unpacked as they go, and the plan is Direct.
func (p Plan) withGaps(g Gaps, most int) Plan {
	q := p
	q.Steps = make([]Step, 0, len(p.Steps)+2)
	var moved [Temp]moved
	for m := In; m <= Out; m++ {
		if !g.has(m) {
			continue
		}
		u := p.usage(m)
		if !u.combined && u.sent.total() == u.bytes && (u.bytes == 0 || u.bytes > most) {
			q.Direct = q.Direct || u.bytes > 0
			continue
		}
		moved[m] = u.moved(&q)
		for _, r := range u.first {
			q.Steps = append(q.Steps, Step{Do: Copy, A: Ref{m, r.lo, r.hi - r.lo}, To: moved[m].ref(r)})
		}
		moved[m].last = u.written
	}
	for _, s := range p.Steps {
		for _, r := range [...]*Ref{&s.A, &s.B, &s.To} {
			if (r.Mem == In || r.Mem == Out) && moved[r.Mem].from.has(r.span()) {
				*r = moved[r.Mem].ref(span{r.At, r.At + r.N})
			}
		}
		q.Steps = append(q.Steps, s)
	}
	for _, r := range moved[Out].last {
		q.Steps = append(q.Steps, Step{Do: Copy, A: moved[Out].ref(r), To: Ref{Out, r.lo, r.hi - r.lo}})
	}
	return q
}

// usage is what a plan does with some memory.
type usage struct {
	all      spans // what messages, operators and copies of that touch
	first    spans // what it reads before it has written it
	written  spans
	sent     spans // what messages carry
	bytes    int   // elements that messages carry
	combined bool
}

func (p *Plan) usage(m Mem) (u usage) {
	u.all = p.touched(m)
	for _, s := range p.Steps {
		for _, r := range [...]Ref{s.A, s.B} {
			if r.Mem == m && u.all.has(r.span()) {
				for _, gap := range u.written.missing(r.span()) {
					u.first = u.first.add(gap)
				}
			}
		}
		if s.To.Mem == m && u.all.has(s.To.span()) {
			u.written = u.written.add(s.To.span())
		}
		switch s.Do {
		case Send, Recv:
			for _, r := range [...]Ref{s.A, s.To} {
				if r.Mem == m {
					u.sent = u.sent.add(r.span())
					u.bytes += r.N
				}
			}
		case Combine:
			u.combined = u.combined || s.A.Mem == m || s.B.Mem == m || s.To.Mem == m
		}
	}
	return u
}

// touched is what of some memory is in messages or combined, and all of a copy of which a
// part is.
func (p *Plan) touched(m Mem) (all spans) {
	for grown := true; grown; {
		grown = false
		for _, s := range p.Steps {
			for _, r := range [...]Ref{s.A, s.B, s.To} {
				x := r.span()
				if r.Mem == m && r.N > 0 && !all.has(x) && (s.Do != Copy || all.meets(x)) {
					all, grown = all.add(x), true
				}
			}
		}
	}
	return all
}

// moved says where in Temp is what a plan uses of some memory.
type moved struct {
	from spans // of the memory
	to   []int // where each of them begins in Temp
	last spans // what is copied back in the end
}

func (u *usage) moved(p *Plan) (m moved) {
	m.from = u.all
	for _, r := range u.all {
		m.to = append(m.to, p.Temp)
		p.Temp += r.hi - r.lo
	}
	return m
}

// ref is the place of a span that is in one of from.
func (m *moved) ref(r span) Ref {
	i, _ := slices.BinarySearchFunc(m.from, r.lo, func(x span, lo int) int {
		if x.hi <= lo {
			return -1
		}
		return 1
	})
	return Ref{Temp, m.to[i] + r.lo - m.from[i].lo, r.hi - r.lo}
}

// span is the elements from lo up to hi.
type span struct{ lo, hi int }

func (r Ref) span() span { return span{r.At, r.At + r.N} }

// spans are in order, and neither overlap nor touch.
type spans []span

func (s spans) total() (n int) {
	for _, x := range s {
		n += x.hi - x.lo
	}
	return n
}

// from is the first of s that ends at lo or later.
func (s spans) from(lo int) int {
	i, _ := slices.BinarySearchFunc(s, lo, func(x span, lo int) int {
		if x.hi < lo {
			return -1
		}
		return 1
	})
	return i
}

// add joins x with those that it overlaps or touches.
func (s spans) add(x span) spans {
	if x.lo == x.hi {
		return s
	}
	i := s.from(x.lo)
	j := i
	for ; j < len(s) && s[j].lo <= x.hi; j++ {
		x.lo, x.hi = min(x.lo, s[j].lo), max(x.hi, s[j].hi)
	}
	return slices.Replace(s, i, j, x)
}

// has reports whether all of x is in s.
func (s spans) has(x span) bool { return x.lo < x.hi && len(s.missing(x)) == 0 }

// meets reports whether a part of x is in s.
func (s spans) meets(x span) bool {
	i := s.from(x.lo + 1)
	return i < len(s) && s[i].lo < x.hi
}

// missing is what of x is not in s.
func (s spans) missing(x span) (gaps []span) {
	for i := s.from(x.lo); i < len(s) && s[i].lo < x.hi; i++ {
		if x.lo < s[i].lo {
			gaps = append(gaps, span{x.lo, s[i].lo})
		}
		x.lo = max(x.lo, s[i].hi)
	}
	if x.lo < x.hi {
		gaps = append(gaps, x)
	}
	return gaps
}
