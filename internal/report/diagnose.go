package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/internal/pt2pt"
)

// diagnose says in words what keeps a rank waiting. It uses the operations and
// messages here, the replies of the ranks they need, and the ring of ranks that
// wait for one another, if there is one.
func diagnose(rank int, pending []pt2pt.Pending, told []pt2pt.Told, ring pt2pt.Ring) (words []string) {
	say := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		if !slices.Contains(words, s) && len(words) < most {
			words = append(words, s)
		}
	}
	for _, p := range pending {
		if p.What != pt2pt.Receive && p.What != pt2pt.Probing || p.State != unmatched {
			continue
		}
		if u, ok := nearMiss(p, pending); ok {
			say("the %s finds no message, but a message from rank %d with %s is here: is this the receive, or the send, that was meant?",
				phrase(p), u.Peer, difference(p, u))
		}
	}
	for _, p := range pending {
		if !p.Blocked {
			continue
		}
		for _, t := range told {
			if t.From == p.Peer {
				say("%s", answer(rank, t))
			}
		}
	}
	if len(ring.Ranks) > 0 {
		say("%s", deadlock(ring))
	}
	return words
}

// deadlock names the ranks of a ring in which each waits for the next.
func deadlock(ring pt2pt.Ring) string {
	sends, receives := true, true
	var each, names []string
	for i, w := range ring.Waits {
		sends, receives = sends && w.What == pt2pt.Send, receives && w.What != pt2pt.Send && w.What != pt2pt.Collective
		names = append(names, fmt.Sprint(ring.Ranks[i]))
		each = append(each, fmt.Sprintf("rank %d: %s", ring.Ranks[i], phrase(asPending(w))))
	}
	last := len(names) - 1
	ranks, what := strings.Join(names[:last], ", ")+" and "+names[last], strings.Join(each, "; ")
	other, none, all := "one another", "none of them", "all"
	if last == 1 {
		other, none, all = "each other", "neither", "both"
	}
	switch {
	case receives:
		return fmt.Sprintf("ranks %s wait to receive from %s, and %s sends: deadlock (%s)", ranks, other, none, what)
	case sends:
		return fmt.Sprintf("ranks %s wait for %s's receive, %s are blocked in a send: deadlock; use Sendrecv, or Isend on one side (%s)", ranks, other, all, what)
	}
	return fmt.Sprintf("ranks %s wait for %s: deadlock (%s)", ranks, other, what)
}

func asPending(w pt2pt.Wait) pt2pt.Pending {
	return pt2pt.Pending{What: w.What, Peer: w.Peer, Tag: w.Tag, Context: w.Context, Bytes: w.Bytes}
}

// lasting keeps the entries of before that are unchanged now. A rank's reply
// arrives after the messages it has sent, as the question arrived after ours: an
// operation that has outlasted both was not about to complete.
func lasting(before, now []pt2pt.Pending) []pt2pt.Pending {
	type key struct {
		what    pt2pt.What
		op      uint64
		state   string
		blocked bool
	}
	of := func(p pt2pt.Pending) key { return key{p.What, p.Op, p.State, p.Blocked} }
	still := map[key]bool{}
	for _, p := range now {
		still[of(p)] = true
	}
	return slices.DeleteFunc(slices.Clone(before), func(p pt2pt.Pending) bool { return !still[of(p)] })
}

// unmatched is the state of a receive or a probe without a message.
const unmatched = "no message has matched"

// nearMiss finds an unexpected message that the receive p would take if its
// source, its tag or its context were another.
func nearMiss(p pt2pt.Pending, pending []pt2pt.Pending) (pt2pt.Pending, bool) {
	best, least := pt2pt.Pending{}, 2
	for _, u := range pending {
		if u.What != pt2pt.Unexpected {
			continue
		}
		off := 0
		if p.Peer != pt2pt.AnySource && p.Peer != u.Peer {
			off++
		}
		if p.Tag != pt2pt.AnyTag && p.Tag != u.Tag {
			off++
		}
		if p.Context != u.Context {
			off++
		}
		if off < least {
			best, least = u, off
		}
	}
	return best, least == 1
}

// difference names what keeps the message u from the receive p.
func difference(p, u pt2pt.Pending) string {
	switch {
	case p.Context != u.Context:
		return fmt.Sprintf("the same tag on another communicator (%s)", contextName(u.Context))
	case p.Tag != pt2pt.AnyTag && p.Tag != u.Tag:
		return fmt.Sprintf("tag %d (%d bytes)", u.Tag, u.Bytes)
	}
	return "the same tag"
}

// answer puts the reply of rank t.From, which an operation of this rank needs,
// into words: the operation there that needs this rank, if there is one.
func answer(rank int, t pt2pt.Told) string {
	if len(t.Waits) == 0 {
		return fmt.Sprintf("rank %d is not blocked in any operation: it computes, or waits outside of the library", t.From)
	}
	for _, w := range t.Waits {
		if w.Peer == rank {
			return fmt.Sprintf("rank %d waits for this rank: %s", t.From, phrase(asPending(w)))
		}
	}
	return fmt.Sprintf("rank %d itself waits: %s", t.From, phrase(asPending(t.Waits[0])))
}
