package datatype

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
)

// mostRuns is how many contiguous pieces of memory Overlaps looks at.
const mostRuns = 1 << 20

// Overlaps reports whether count elements of a committed type touch some byte
// twice. Nothing may be received into such (MPI-4.0 §5.1.11). Strided types of any
// size are decided by their strides, where these allow it, and all others by their
// contiguous pieces. If there are more than 2²⁰ of those, known may be false. The
// answer for a type and the last count is kept.
func (t *Type) Overlaps(count int) (overlaps, known bool) {
	p := t.prog.Load()
	switch {
	case p == nil:
		return false, false
	case p.root == nil || count <= 0:
		return false, true
	case p.root.op == codeBlock && (count == 1 || t.ub-t.lb >= p.root.size):
		return false, true
	}
	switch lo, hi, ok := t.span(count); {
	case !ok:
		return false, false
	case count*t.size > hi-lo: // there are fewer bytes than are sent
		return true, true
	}
	if state, ok := p.overlap.load(count); ok {
		return state == doOverlap, state != mayOverlap
	}
	state := overlapOf(p.root, count, t.ub-t.lb)
	p.overlap.store(count, state)
	return state == doOverlap, state != mayOverlap
}

type overlapState uint64

const (
	noOverlap overlapState = iota + 1
	doOverlap
	mayOverlap
)

// overlapCache is the answer for one count, as count<<2 + state; 0 is none. Stores
// in store are seen by load; the word carries nothing but itself.
type overlapCache struct{ word atomic.Uint64 }

func (c *overlapCache) load(count int) (overlapState, bool) {
	w := c.word.Load()
	return overlapState(w & 3), w != 0 && w>>2 == uint64(count)
}

func (c *overlapCache) store(count int, s overlapState) {
	if uint64(count) < 1<<62 {
		c.word.Store(uint64(count)<<2 | uint64(s))
	}
}

func overlapOf(root *code, count, extent int) overlapState {
	all := times(root, count, extent)
	if (prover{}).apart(&all).apart {
		return noOverlap
	}
	var c Cursor
	c.many(root, count, extent, 0)
	var runs []span
	for off, n := range c.Runs(math.MaxInt) {
		if len(runs) == mostRuns {
			return mayOverlap
		}
		runs = append(runs, span{off, off + n})
	}
	if apart(runs) {
		return noOverlap
	}
	return doOverlap
}

// span is the bytes [lo, hi).
type span struct{ lo, hi int }

// apart sorts spans and reports whether no two have a byte in common.
func apart(list []span) bool {
	slices.SortFunc(list, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	for i := 1; i < len(list); i++ {
		if list[i].lo < list[i-1].hi {
			return false
		}
	}
	return true
}

// proof is the bytes that a code touches, and whether it is certain that it touches
// none twice.
type proof struct {
	span
	apart bool
}

// prover remembers the proofs for codes, which may have several parents.
type prover map[*code]proof

// level is a repetition.
type level struct{ n, stride int }

// apart looks for a proof. Repetitions do not overlap if, from the smallest stride
// to the largest, each stride is at least what the ones before it span: in
// whatever order they are nested. So the columns of a matrix are apart, although
// they lie between one another.
func (v prover) apart(c *code) proof {
	if p, ok := v[c]; ok {
		return p
	}
	var levels []level
	base := c
	for base.op == codeLoop {
		levels = append(levels, level{base.n2, base.s2})
		base = base.child
	}
	if base.op == codeGrid || base.op == codeRows {
		levels = append(levels, level{base.n2, base.s2})
	}
	p := v.base(base)
	if base.op == codeGrid {
		levels = append(levels, level{base.n1, base.s1})
	}
	slices.SortFunc(levels, func(a, b level) int { return cmp.Compare(magnitude(a.stride), magnitude(b.stride)) })
	for _, l := range levels {
		if l.n == 1 {
			continue
		}
		p.apart = p.apart && magnitude(l.stride) >= uint(p.hi-p.lo)
		last := (l.n - 1) * l.stride
		p.lo, p.hi = p.lo+min(0, last), p.hi+max(0, last)
	}
	v[c] = p
	return p
}

// base is the proof for what is repeated.
func (v prover) base(c *code) proof {
	switch c.op {
	case codeBlock, codeGrid:
		return proof{span{0, c.b}, true}
	case codeSeq:
		p := proof{apart: true}
		list := make([]span, len(c.list.disps))
		for i, d := range c.list.disps {
			k := v.apart(c.list.kid(i))
			p.apart = p.apart && k.apart
			list[i] = span{d + k.lo, d + k.hi}
		}
		return p.of(list)
	default:
		list := make([]span, len(c.list.disps))
		for i, d := range c.list.disps {
			list[i] = span{d, d + c.list.bytes(i)}
		}
		return proof{apart: true}.of(list)
	}
}

// of completes a proof whose parts touch the spans.
func (p proof) of(list []span) proof {
	p.span = list[0]
	for _, s := range list {
		p.lo, p.hi = min(p.lo, s.lo), max(p.hi, s.hi)
	}
	p.apart = p.apart && apart(list)
	return p
}
