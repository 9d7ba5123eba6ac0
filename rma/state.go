package rma

import (
	"maps"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/progress"
)

// What a rank tells of its windows if a job hangs. The ranks are those of the job.

// State fills in what an operation waits for. For the owner.
func (e *Engine) State(r *progress.Request, w *diagnose.Wait) {
	o := e.ops[r.Found]
	w.Kind, w.Comm, w.Peer = diagnose.Flush, o.w.id, diagnose.AnyRank
	w.What, w.State = o.tell()
	if o.t != nil {
		w.Peer = o.w.world(o.t.rank)
	}
	switch {
	case r.Kind != kindAll:
	case o.what == "lock":
		o.w.lockState(o, w)
	default:
		for i := range o.w.targets {
			if o.w.targets[i].flushes.of(o) {
				w.Peer = o.w.world(i)
				break
			}
		}
	}
}

// State fills in which signals are awaited. For the owner.
func (x *signalWait) State(w *diagnose.Wait) {
	w.Kind, w.Comm = diagnose.Start, x.w.id
	if x.s.kind == signalEnd {
		w.Kind = diagnose.Close
	}
	i := x.Describe(nil, true)
	w.What, w.State = i.What, i.State
	for _, r := range x.ranks[min(x.next, len(x.ranks)):] {
		if !x.there(r) {
			w.Needs = append(w.Needs, x.w.world(r))
		}
	}
	slices.Sort(w.Needs)
}

// of reports whether one of the flushes belongs to the wait o.
func (q *opens) of(o *action) bool {
	for f := q.first; f != nil; f = f.behind {
		if f.parent == o {
			return true
		}
	}
	return false
}

// lockState tells which word a lock waits for.
func (w *Win) lockState(o *action, s *diagnose.Wait) {
	s.Kind, s.Target = diagnose.Lock, diagnose.AnyRank
	for _, c := range w.pending {
		if c.waiter == o {
			s.Target, s.Global, s.Claim = w.world(c.op.at.rank), c.op.at.global, c.op.claim.String()
			if c.op.stage == lockParked { // another operation of this rank goes first
				s.Target = diagnose.AnyRank
			}
		}
	}
}

// EachWindow visits this rank's side of each window. For the owner.
func (e *Engine) EachWindow(f func(diagnose.Window)) {
	for _, id := range slices.Sorted(maps.Keys(e.wins)) {
		w := e.wins[id]
		x := diagnose.Window{ID: id, Epoch: strings.ReplaceAll(w.epochs.load().words(), " on another goroutine", "")}
		if w.port.blocks[w.rank] != nil {
			x.Lock = w.wordState(false)
			if w.rank == 0 {
				global := w.wordState(true)
				x.All = &global
			}
		}
		f(x)
	}
}

// wordState is a lock word of this rank.
func (w *Win) wordState(global bool) (s diagnose.Word) {
	q, owned := w.queue(global)
	for rank := range w.targets {
		if c := q.holds(owned, rank); c != lockNone {
			s.Held = append(s.Held, diagnose.Claim{Rank: w.world(rank), Claim: c.String()})
		}
	}
	for _, r := range q.waiting {
		s.Waiting = append(s.Waiting, diagnose.Claim{Rank: w.world(r.origin), Claim: r.claim.String()})
	}
	return s
}
