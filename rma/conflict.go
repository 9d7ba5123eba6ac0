package rma

import (
	"slices"

	"github.com/weft-mpi/weft/internal/op"
)

// The detector of accesses to one rank's part that conflict (MPI-4.0 §12.7). It is
// told of each access when its target hears of it, before it is carried out, and of
// what ends accesses. It waits for nothing and talks to nobody. Only the order in which
// the target hears matters: two accesses conflict if the first one has not ended when
// the second one comes. When that is so whatever the timing, the epochs say so; between
// locks it may take the right moment.

// accessCall is what an access does.
type accessCall uint8

const (
	accessPut accessCall = iota + 1
	accessGet
	accessAccumulate
	accessFetch // with a result
	accessSwap  // compares and swaps
	accessStore // of the part's own rank
	// No accesses, but what an origin says of those before.
	accessEnded    // a flush has ended them
	accessReturned // their results are there
	accessCalls
)

// accessEpoch is what ends an access at its target.
type accessEpoch uint8

const (
	inFence accessEpoch = iota // the next fence
	inStart                    // the Wait of the target
	inLock                     // the flush of its origin
	atOnce                     // for others its result, which its request brings; what it changes ends as inLock
	accessEpochs
)

// access is what a number of accesses have in common.
type access struct {
	origin int
	call   accessCall
	code   op.Code // the operator; of a store the Call behind which it was
	kind   op.Kind // of the elements, 0 of a Put or Get
	epoch  accessEpoch
	phase  uint64 // fences that the origin has ended
	line   string // of the program; of a store that of the Call
}

// accessClass are accesses that differ in their bytes alone.
type accessClass struct {
	classKey
	spans spans
}

type classKey struct {
	access
	place uint64 // of the first byte, within the length of an element
}

// clash is two accesses that conflict, in the order in which the target has heard of
// them.
type clash struct {
	span          span
	first, second access
}

// ledger are the accesses to a part. Its zero value is one without any.
type ledger struct {
	rule  opsRule
	phase uint64         // fences that some rank has ended
	open  []*accessClass // that have not ended
	done  []*accessClass // that have, and changed what the private copy has not got yet
	known map[classKey]*accessClass
}

// opsRule is what the hint accumulate_ops says of concurrent accumulates of an element.
type opsRule uint8

const (
	opsMix opsRule = iota // the library lets operators differ
	opsSame
	opsSameOrNone
)

// mostClasses bounds what a ledger keeps: accesses of further lines are not compared
// with later ones.
const mostClasses = 1024

// access takes one of n bytes, and returns the conflicts with those before.
func (l *ledger) access(a access, at, n uint64) (all []clash) {
	l.fenced(a.phase)
	a.phase = l.phase // no origin is behind a fence that another one has ended
	if n == 0 {
		return nil
	}
	s := span{at, at + n}
	c := classKey{access: a}
	if size := uint64(sizeOfKind(a.kind)); a.atomic() && size > 0 {
		c.place = at % size
	}
	for _, r := range l.open {
		if r.epoch != atOnce && l.conflicts(&r.classKey, &c) {
			if both, overlap := r.spans.meet(s); overlap {
				all = append(all, clash{both, r.access, a})
			}
		}
	}
	if a.epoch != atOnce || a.writes() {
		l.begin(c, s)
	}
	return all
}

// conflicts is whether accesses of two classes to one location may not be concurrent.
func (l *ledger) conflicts(r, a *classKey) bool {
	switch {
	case !r.writes() && !a.writes():
		return false
	case !r.atomic() || !a.atomic():
		return true
	}
	return r.kind != a.kind || r.place != a.place || l.rule.forbids(r.access, a.access)
}

// forbids is whether a hint promises that no two such accumulates are concurrent.
func (r opsRule) forbids(a, b access) bool {
	swaps, alike := a.call == accessSwap, (a.call == accessSwap) == (b.call == accessSwap)
	switch {
	case r == opsMix || alike && (swaps || a.code == b.code):
		return false
	case r == opsSame:
		return true
	}
	return !a.idle() && !b.idle()
}

// idle is whether the access is a fetch that changes nothing.
func (a *access) idle() bool { return a.call == accessFetch && a.code == op.CodeNoOp }

// atomic is whether the access changes elements at once, as others of its type see it.
func (a *access) atomic() bool {
	return a.call == accessAccumulate || a.call == accessFetch || a.call == accessSwap
}

func (a *access) writes() bool { return a.call != accessGet && !a.idle() }

// returns is whether the access gives its origin a result.
func (a *access) returns() bool {
	return a.call == accessGet || a.call == accessFetch || a.call == accessSwap
}

// begin adds bytes to the open class with a key.
func (l *ledger) begin(key classKey, s span) {
	c := l.known[key]
	if c == nil {
		if len(l.open) == mostClasses {
			return
		}
		if l.known == nil {
			l.known = map[classKey]*accessClass{}
		}
		c = &accessClass{classKey: key}
		l.known[key] = c
		l.open = append(l.open, c)
	}
	c.spans.add(s)
}

// finish adds bytes to what the private copy has not got yet. None is left out: with
// too many classes some have the line of another one.
func (l *ledger) finish(key classKey, s span) {
	i := slices.IndexFunc(l.done, func(c *accessClass) bool { return c.classKey == key })
	switch {
	case i >= 0:
	case len(l.done) < mostClasses:
		i = len(l.done)
		l.done = append(l.done, &accessClass{classKey: key})
	default:
		i = mostClasses - 1
	}
	l.done[i].spans.add(s)
}

// end ends the accesses that which names.
func (l *ledger) end(which func(a *access) bool) {
	rest := l.open[:0]
	for _, c := range l.open {
		if !which(&c.access) {
			rest = append(rest, c)
			continue
		}
		delete(l.known, c.classKey)
		if c.writes() && c.call != accessStore {
			for _, s := range c.spans {
				l.finish(c.classKey, s)
			}
		}
	}
	clear(l.open[len(rest):])
	l.open = rest
}

// flushed is that an origin has ended its accesses under locks, or with returned
// those that have results.
func (l *ledger) flushed(origin int, returned bool) {
	l.end(func(a *access) bool {
		return a.origin == origin && a.epoch >= inLock && (!returned || a.returns())
	})
}

// waited is that all of an exposure epoch have ended.
func (l *ledger) waited() { l.end(func(a *access) bool { return a.epoch == inStart }) }

// fenced is that a rank has ended its n-th fence, and with it all ranks their accesses
// before.
func (l *ledger) fenced(n uint64) {
	if n > l.phase {
		l.phase = n
		l.end(func(*access) bool { return true })
	}
}

// lost is that a rank is down.
func (l *ledger) lost(origin int) { l.end(func(a *access) bool { return a.origin == origin }) }

// stores takes what the part's own rank has stored since a call that has made the
// private copy and the public one alike, and returns the conflicts with what others
// do there or what they have changed since. With hold they conflict with all that
// come before the next fence, too.
func (l *ledger) stores(a access, where spans, hold bool) (all []clash) {
	a.phase = l.phase
	for _, s := range where {
		for _, list := range [][]*accessClass{l.open, l.done} {
			for _, r := range list {
				if both, overlap := r.spans.meet(s); overlap && r.call != accessStore {
					all = append(all, clash{both, r.access, a})
				}
			}
		}
	}
	if hold {
		for _, s := range where {
			l.begin(classKey{access: a}, s)
		}
	}
	return all
}

// seen is what accesses that have ended have changed since the last call of seen.
func (l *ledger) seen() (where spans) {
	for _, c := range l.done {
		for _, s := range c.spans {
			where.add(s)
		}
	}
	l.done = nil
	return where
}

// forget drops what is known of n bytes.
func (l *ledger) forget(at, n uint64) {
	for _, list := range [][]*accessClass{l.open, l.done} {
		for _, c := range list {
			c.spans.cut(span{at, at + n})
		}
	}
}

// span are the bytes from at to end.
type span struct{ at, end uint64 }

// spans are bytes: in order, and no two touch.
type spans []span

// from is the first one that ends at at or behind it.
func (all spans) from(at uint64) int {
	i, _ := slices.BinarySearchFunc(all, at, func(s span, at uint64) int {
		if s.end < at {
			return -1
		}
		return 1
	})
	return i
}

// meet is the first overlap with s.
func (all spans) meet(s span) (span, bool) {
	i := all.from(s.at + 1)
	if i == len(all) || all[i].at >= s.end {
		return span{}, false
	}
	return span{max(s.at, all[i].at), min(s.end, all[i].end)}, true
}

// add adds bytes.
func (all *spans) add(s span) {
	i := all.from(s.at)
	k := i
	for ; k < len(*all) && (*all)[k].at <= s.end; k++ {
		s.at, s.end = min(s.at, (*all)[k].at), max(s.end, (*all)[k].end)
	}
	*all = slices.Replace(*all, i, k, s)
}

// cut takes bytes out.
func (all *spans) cut(s span) {
	var rest spans
	for _, old := range *all {
		if old.at < min(old.end, s.at) {
			rest = append(rest, span{old.at, min(old.end, s.at)})
		}
		if max(old.at, s.end) < old.end {
			rest = append(rest, span{max(old.at, s.end), old.end})
		}
	}
	*all = rest
}
