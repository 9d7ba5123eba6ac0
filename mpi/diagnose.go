package mpi

import (
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/pt2pt"
)

// diagnose says in words what keeps a rank waiting, as far as it shows from
// what waits there and from what the ranks it waits for have told.
func diagnose(rank int, pending []pt2pt.Pending, told []pt2pt.Told) (words []string) {
	said := map[string]bool{}
	say := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		if !said[s] && len(words) < reportMost {
			said[s] = true
			words = append(words, s)
		}
	}
	for _, p := range pending {
		if p.What != pt2pt.Receive && p.What != pt2pt.Probing || p.State != unmatched {
			continue
		}
		if u, ok := nearly(p, pending); ok {
			say("the %s finds no message, but a message from rank %d with %s is here: %s",
				phrase(p), u.Peer, differs(p, u), "is this the receive, or the send, that was meant?")
		}
	}
	for _, p := range pending {
		if !p.Blocked {
			continue
		}
		for _, t := range told {
			if t.From == p.Peer {
				say("%s", between(rank, p, t, sends(pending, t.From)))
			}
		}
	}
	return words
}

// lasting is what waits now as it did before. What a rank tells of itself
// comes behind the messages it has sent, as the question did behind ours: an
// operation that has outlasted both is not one that was about to end.
func lasting(before, now []pt2pt.Pending) []pt2pt.Pending {
	type name struct {
		what    pt2pt.What
		op      uint64
		state   string
		blocked bool
	}
	named := func(p pt2pt.Pending) name { return name{p.What, p.Op, p.State, p.Blocked} }
	still := map[name]bool{}
	for _, p := range now {
		still[named(p)] = true
	}
	return slices.DeleteFunc(slices.Clone(before), func(p pt2pt.Pending) bool { return !still[named(p)] })
}

// sends reports whether a send to a rank is pending.
func sends(pending []pt2pt.Pending, to int) bool {
	return slices.ContainsFunc(pending, func(p pt2pt.Pending) bool {
		return p.Peer == to && (p.What == pt2pt.Send || p.What == pt2pt.SendReceive)
	})
}

// unmatched is the state of a receive or a probe without a message.
const unmatched = "no message has matched"

// nearly finds a message that a receive would take if one thing were different.
func nearly(p pt2pt.Pending, pending []pt2pt.Pending) (pt2pt.Pending, bool) {
	best, least := pt2pt.Pending{}, 2
	for _, u := range pending {
		if u.What != pt2pt.Unexpected {
			continue
		}
		off := 0
		if p.Peer != AnySource && p.Peer != u.Peer {
			off++
		}
		if int(p.Tag) != AnyTag && p.Tag != u.Tag {
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

// differs names what keeps a message from a receive.
func differs(p, u pt2pt.Pending) string {
	switch {
	case p.Context != u.Context:
		return fmt.Sprintf("the same tag on another communicator (%s)", contextName(u.Context))
	case int(p.Tag) != AnyTag && p.Tag != u.Tag:
		return fmt.Sprintf("tag %d (%d bytes)", u.Tag, u.Bytes)
	}
	return "the same tag"
}

// between tells how the operation p of this rank and what rank t.From says of
// itself go together; sending says that a send to that rank is pending here.
func between(rank int, p pt2pt.Pending, t pt2pt.Told, sending bool) string {
	mine := (p.What == pt2pt.Receive || p.What == pt2pt.Probing) && p.State == unmatched && !sending
	theirs := t.What == pt2pt.Receive || t.What == pt2pt.Probing
	other := pt2pt.Pending{What: t.What, Peer: t.Peer, Tag: t.Tag, Context: t.Context, Bytes: t.Bytes}
	switch {
	case t.What == 0:
		return fmt.Sprintf("rank %d is not blocked in any operation: it computes, or waits outside of the library", t.From)
	case t.Peer != rank:
		return fmt.Sprintf("rank %d itself waits: %s", t.From, phrase(other))
	case mine && theirs:
		return fmt.Sprintf("ranks %d and %d wait to receive from each other, and neither sends: deadlock (here %s, there %s)",
			rank, t.From, phrase(p), phrase(other))
	case !mine && p.What == pt2pt.Send && t.What == pt2pt.Send:
		return fmt.Sprintf("ranks %d and %d wait for each other's receive, both are blocked in a send: deadlock; use Sendrecv, or Isend on one side (here %s, there %s)",
			rank, t.From, phrase(p), phrase(other))
	}
	return fmt.Sprintf("rank %d waits for this rank: %s", t.From, phrase(other))
}
