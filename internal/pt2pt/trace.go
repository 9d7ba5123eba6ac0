package pt2pt

import (
	"slices"
	"time"
)

// Ring is a cycle of ranks: each waits in an operation that needs the next, the
// last one in one that needs the first, and none can go on otherwise.
type Ring struct {
	Ranks []int
	Waits []Wait // of each
}

// maxTraced bounds the ranks that Trace asks.
const maxTraced = 64

// Trace asks the ranks that this one is blocked by what they wait for, then the
// ranks those wait for, and so on. It returns the replies that came in time, and
// a ring that this rank is in or waits for, if there is one. Each rank is asked
// twice at most.
//
// A reported ring is real. Let all first replies be in at the time T. The second
// replies come later and name the same operations, so all these ranks were
// blocked at T. Each rank Y was still blocked when it had heard from the rank Z
// it needs that nothing of Z is under way to it. Anything Z sent before T had
// reached Y by then, and had not completed Y's operation. So the first of these
// ranks to go on after T would have to be one whose Z made a call after T and
// before that, which Z, blocked, can't. A goroutine of Z that is blocked
// elsewhere, or computes, could. The former counts here; of the latter nothing
// is known.
func (e *Engine) Trace(within time.Duration) (told []Told, ring Ring) {
	until := time.Now().Add(within)
	first := map[int]Told{}
	e.loop.Exclusive(func() { first[e.rank] = e.waits(-1) })
	ask := peersOf(first[e.rank], first)
	for len(ask) > 0 && len(first) < maxTraced && time.Now().Before(until) {
		answers := e.ask(ask[:min(len(ask), maxTraced)], false, until)
		told = append(told, answers...)
		for _, t := range answers {
			first[t.From] = t
		}
		ask = nil
		for _, t := range answers {
			for _, p := range peersOf(t, first) {
				if !slices.Contains(ask, p) {
					ask = append(ask, p)
				}
			}
		}
	}
	stuck := allStuck(first)
	if len(stuck) == 0 {
		return told, ring
	}
	second := map[int]Told{}
	var ranks []int
	for r := range stuck {
		if r != e.rank {
			ranks = append(ranks, r)
		}
	}
	slices.Sort(ranks)
	for _, t := range e.ask(ranks, true, until) {
		second[t.From] = t
	}
	mine := stuck[e.rank]
	needed := e.ask(mine.needs(), false, until)
	e.loop.Exclusive(func() { mine = e.waits(-1) })
	mine.confirm(needed)
	second[e.rank] = mine
	for r, t := range second {
		t.Waits = slices.Clone(t.Waits)
		for i, w := range t.Waits {
			t.Waits[i].Stuck = w.Stuck && slices.ContainsFunc(first[r].Waits, func(o Wait) bool { return o.Op == w.Op && o.Stuck })
		}
		second[r] = t
	}
	return told, findRing(allStuck(second), e.rank)
}

// peersOf lists the ranks that the replies so far need and that have not
// replied.
func peersOf(t Told, have map[int]Told) (ranks []int) {
	for _, w := range t.Waits {
		if _, known := have[w.Peer]; !known && w.Peer >= 0 && !slices.Contains(ranks, w.Peer) {
			ranks = append(ranks, w.Peer)
		}
	}
	return ranks
}

// allStuck returns the ranks none of whose blocked goroutines can go on before
// another of these ranks does: the greatest such set.
func allStuck(all map[int]Told) map[int]Told {
	stuck := map[int]Told{}
	for r, t := range all {
		if len(t.Waits) > 0 && !t.Untold {
			stuck[r] = t
		}
	}
	for changed := true; changed; {
		changed = false
		for r, t := range stuck {
			if !t.allStuckOn(stuck) {
				delete(stuck, r)
				changed = true
			}
		}
	}
	return stuck
}

// allStuckOn reports whether each goroutine of the rank is blocked in an
// operation that can't complete before one of those ranks makes a call.
func (t Told) allStuckOn(ranks map[int]Told) bool {
	can := map[uint8]bool{} // go on
	for _, w := range t.Waits {
		if _, known := can[w.Who]; !known {
			can[w.Who] = true
		}
		if w.holds(ranks) {
			can[w.Who] = false
		}
	}
	for _, c := range can {
		if c {
			return false
		}
	}
	return true
}

// holds reports whether the operation blocks its goroutine until one of those
// ranks makes a call.
func (w Wait) holds(ranks map[int]Told) bool {
	_, in := ranks[w.Peer]
	return in && w.Stuck && !w.Either
}

// findRing follows stuck ranks from one to the next until a rank repeats. It
// begins at a given rank if that is stuck.
func findRing(stuck map[int]Told, from int) (ring Ring) {
	if _, ok := stuck[from]; !ok {
		for from = range stuck {
			break
		}
	}
	for len(stuck) > 0 {
		if i := slices.Index(ring.Ranks, from); i >= 0 {
			ring.Ranks, ring.Waits = ring.Ranks[i:], ring.Waits[i:]
			break
		}
		waits := stuck[from].Waits
		w := waits[slices.IndexFunc(waits, func(w Wait) bool { return w.holds(stuck) })]
		ring.Ranks, ring.Waits = append(ring.Ranks, from), append(ring.Waits, w)
		from = w.Peer
	}
	if len(ring.Ranks) > 0 { // so that every rank reports the same ring
		i := slices.Index(ring.Ranks, slices.Min(ring.Ranks))
		ring.Ranks = append(slices.Clone(ring.Ranks[i:]), ring.Ranks[:i]...)
		ring.Waits = append(slices.Clone(ring.Waits[i:]), ring.Waits[:i]...)
	}
	return ring
}
