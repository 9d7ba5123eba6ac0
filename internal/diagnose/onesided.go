package diagnose

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// word is the state of the lock that w needs as its owner tells it, or nil.
func (j *Job) word(w *Wait) *Word {
	owner := j.rank(w.Target)
	if owner == nil {
		return nil
	}
	i := slices.IndexFunc(owner.Windows, func(x Window) bool { return x.ID == w.Comm })
	switch {
	case i < 0:
		return nil
	case w.Global:
		return owner.Windows[i].All
	}
	return &owner.Windows[i].Lock
}

// inTheWay lists the ranks whose claims a lock waits for: those that hold it, and those
// that wait before it. A lock that the rank holds by now is about to be granted.
func (j *Job) inTheWay(rank int, w *Wait) (ranks []int) {
	word := j.word(w)
	its := func(c Claim) bool { return c.Rank == rank }
	if word == nil || slices.ContainsFunc(word.Held, its) {
		return nil
	}
	at := slices.IndexFunc(word.Waiting, its)
	for _, c := range append(slices.Clone(word.Held), word.Waiting[:max(at, 0)]...) {
		if conflicts(c.Claim, w.Claim) && !slices.Contains(ranks, c.Rank) {
			ranks = append(ranks, c.Rank)
		}
	}
	return ranks
}

// needs lists the ranks that an operation of a rank waits for.
func (j *Job) needs(rank int, w *Wait) []int {
	if w.Kind == Lock {
		return j.inTheWay(rank, w)
	}
	return w.Needs
}

// locks says who holds the locks that others wait for.
func (j *Job) locks(say func(string, ...any)) {
	type lock struct {
		comm   uint32
		target int
		global bool
		claim  string
	}
	waiting := map[lock][]int{}
	of := map[lock]*Wait{}
	j.each(func(r *Rank, w *Wait) {
		if w.Kind == Lock && w.Target != AnyRank {
			l := lock{w.Comm, w.Target, w.Global, w.Claim}
			waiting[l], of[l] = append(waiting[l], r.Rank), w
		}
	})
	order := slices.SortedFunc(maps.Keys(waiting), func(a, b lock) int {
		return cmp.Or(cmp.Compare(a.comm, b.comm), cmp.Compare(a.target, b.target), cmp.Compare(a.claim, b.claim))
	})
	for _, l := range order {
		ranks := waiting[l]
		what := fmt.Sprintf("the lock of rank %d in %s", l.target, j.comm(l.comm))
		if l.global {
			what = fmt.Sprintf("all locks of %s", j.comm(l.comm))
			if l.claim == "side" {
				what = fmt.Sprintf("an exclusive lock in %s", j.comm(l.comm))
			}
		}
		begin := fmt.Sprintf("%s %s for %s", Ranks(ranks), plural(ranks, "waits", "wait"), what)
		word := j.word(of[l])
		if word == nil {
			say("%s, whose holder only rank %d knows, which has not told", begin, l.target)
			continue
		}
		holders := map[string][]int{}
		for _, c := range word.Held {
			if conflicts(c.Claim, l.claim) && !slices.Contains(ranks, c.Rank) {
				holders[c.Claim] = append(holders[c.Claim], c.Rank)
			}
		}
		for _, claim := range slices.Sorted(maps.Keys(holders)) {
			h := holders[claim]
			say("%s, which %s %s: %s", begin, Ranks(h), held(h, claim, l.global), j.doingAll(h))
		}
		if len(holders) == 0 {
			say("%s, which nobody holds any more: it is about to be granted", begin)
		}
	}
}

// held says how ranks hold a lock.
func held(ranks []int, claim string, global bool) string {
	hold := plural(ranks, "holds", "hold")
	switch {
	case claim == "side":
		return plural(ranks, "keeps from being granted, as it holds an exclusive lock", "keep from being granted, as they hold exclusive locks")
	case global:
		return hold + " by LockAll"
	case claim == "exclusive":
		return hold + " exclusively"
	}
	return hold + " shared"
}

// epochs says which Posts and Completes are missing.
func (j *Job) epochs(say func(string, ...any)) {
	j.each(func(r *Rank, w *Wait) {
		call := "Post"
		switch w.Kind {
		case Start:
		case Close:
			call = "Complete"
		default:
			return
		}
		if len(w.Needs) > 0 {
			say("rank %d waits in %s for the %s of %s: %s", r.Rank, j.Phrase(w), call, Ranks(w.Needs), j.doingAll(w.Needs))
		}
	})
}

// flushes says which targets do not serve one-sided operations.
func (j *Job) flushes(say func(string, ...any)) {
	j.each(func(r *Rank, w *Wait) {
		t := j.rank(w.Peer)
		if w.Kind == Flush && w.Goroutine > 0 && w.Peer != r.Rank && t != nil && !t.Threaded && t.longest() == nil {
			say("rank %d waits in %s for rank %d, which has no progress thread and is in no call: packets wait there for its next call", r.Rank, j.Phrase(w), w.Peer)
		}
	})
}

// partitions says which partitions are not ready, and which rounds have not begun.
func (j *Job) partitions(say func(string, ...any)) {
	sends := map[[3]int]bool{} // by sender, receiver and tag
	j.each(func(r *Rank, w *Wait) {
		if w.Kind != PartitionSend {
			return
		}
		sends[[3]int{r.Rank, w.Peer, w.Tag}] = true
		if len(w.Missing) == 0 {
			return
		}
		waits := ""
		if p := j.rank(w.Peer); p != nil && slices.ContainsFunc(p.Waits, func(x Wait) bool {
			return x.Kind == PartitionRecv && x.Peer == r.Rank && x.Tag == w.Tag && x.Goroutine > 0
		}) {
			waits = fmt.Sprintf(", and rank %d waits for them", w.Peer)
		}
		one := len(w.Missing) == 1 && w.Missing[0][0] == w.Missing[0][1]
		noun, verb := "partitions", "are"
		if one {
			noun, verb = "partition", "is"
		}
		say("%s %s of the %d of rank %d's partitioned send to rank %d, %s, %s, %s not ready%s%s", noun, runs(w.Missing), w.Partitions,
			r.Rank, w.Peer, tagWords(w.Tag), j.comm(w.Comm), verb, waits, since(w))
	})
	j.each(func(r *Rank, w *Wait) {
		if w.Kind == PartitionRecv && w.Goroutine > 0 && j.rank(w.Peer) != nil && !sends[[3]int{w.Peer, r.Rank, w.Tag}] {
			say("rank %d waits in %s, and rank %d has not started such a send: %s", r.Rank, j.Phrase(w), w.Peer, j.Doing(w.Peer))
		}
	})
}
