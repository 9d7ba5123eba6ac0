package diagnose

import "fmt"

// messages says which receives and sends have not found each other, and why.
func (j *Job) messages(say func(string, ...any), g *graph) {
	missed := map[[2]int]bool{} // sender and receiver that a sentence names
	j.each(func(r *Rank, w *Wait) {
		if w.Kind != Receive && w.Kind != Probe || !w.Unmatched {
			return
		}
		m, why := j.nearMiss(r, w)
		if m == nil {
			return
		}
		missed[[2]int{m.From, r.Rank}] = true
		say("rank %d is in %s, and a message from rank %d with tag %d in %s (%d bytes) is there, which nobody receives: %s",
			r.Rank, j.Phrase(w), m.From, m.Tag, j.comm(m.Comm), m.Bytes, why)
	})
	j.each(func(r *Rank, w *Wait) {
		_, knotted := g.knot[r.Rank]
		if !w.Unmatched || w.Goroutine == 0 || knotted && w.Peer == AnyRank || g.together(r.Rank, w.Peer) {
			return // a deadlock says it
		}
		switch {
		case w.Peer == r.Rank:
			say("rank %d is in %s, so to itself, and no other goroutine of it makes the call that this one needs%s", r.Rank, j.Phrase(w), since(w))
		case w.Kind == Send && !missed[[2]int{r.Rank, w.Peer}]:
			say("rank %d waits in %s, for which rank %d has no receive: %s", r.Rank, j.Phrase(w), w.Peer, j.Doing(w.Peer))
		case w.Kind != Receive && w.Kind != Probe, w.Peer != AnyRank && missed[[2]int{w.Peer, r.Rank}]:
		case w.Peer == AnyRank:
			if m, _ := j.nearMiss(r, w); m == nil {
				say("rank %d waits in %s, and no such message is there or announced%s", r.Rank, j.Phrase(w), since(w))
			}
		default:
			say("rank %d waits in %s, and rank %d has sent no such message: %s", r.Rank, j.Phrase(w), w.Peer, j.Doing(w.Peer))
		}
	})
}

// nearMiss finds a message at a rank that the receive w would take if its source, its tag
// or its communicator were another, and says which of them.
func (j *Job) nearMiss(r *Rank, w *Wait) (found *Message, why string) {
	for i := range r.Arrived {
		m := &r.Arrived[i]
		source, tag, comm := w.Peer != AnyRank && w.Peer != m.From, w.Tag != AnyTag && w.Tag != m.Tag, w.Comm != m.Comm
		switch {
		case tag && !source && !comm:
			return m, fmt.Sprintf("the tags differ, %d and %d", w.Tag, m.Tag)
		case found != nil:
		case comm && !source && !tag:
			found, why = m, "the communicators differ"
		case source && !tag && !comm:
			found, why = m, fmt.Sprintf("the sources differ, rank %d and rank %d", w.Peer, m.From)
		}
	}
	return found, why
}
