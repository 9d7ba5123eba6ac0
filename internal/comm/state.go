package comm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/partitioned"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/rma"
)

// A rank's state, for reports of a whole job (package diagnose). It is collected under
// ownership, so it is that of one moment.

// Bounds of what a State has.
const (
	mostWaits   = 1000 // as of all else
	mostArrived = 200
	mostRecent  = 8 // calls of each communicator
)

// State returns what waits at this rank. It waits for the owner of the loop.
func (in *Instance) State() diagnose.Rank { return in.stateOf(nil) }

// Settled is State after this rank has heard from the ranks that its operations need, so
// that what these had sent before is here: operations need them only if nothing is under
// way that ends the wait. It waits for their replies, too, for a second at most.
func (in *Instance) Settled() diagnose.Rank {
	var needs []int
	for _, w := range in.State().Waits {
		needs = append(needs, w.Needs...)
	}
	slices.Sort(needs)
	needs = slices.Compact(needs)
	return in.stateOf(in.questions.ask(needs[:min(len(needs), mostHeard)], wire.AskReply, hearTime))
}

// Bounds of Settled: of the ranks that are asked, which may first have to be connected to,
// and of the time that it takes.
const (
	mostHeard = 128
	hearTime  = time.Second
)

func (in *Instance) stateOf(heard map[fabric.Peer]*reply) diagnose.Rank {
	in.Loop.CatchUp()
	s := in.newState(heard)
	in.Loop.Exclusive(s.collect)
	return s.finish(mostWaits)
}

func (in *Instance) newState(heard map[fabric.Peer]*reply) *state {
	return &state{in: in, heard: heard, all: map[uint32]*Comm{}, parts: map[hangCall][]int{}, who: map[any]int{}, blocked: map[*progress.Request]int{}}
}

// state is a State under way.
type state struct {
	diagnose.Rank
	in      *Instance
	heard   map[fabric.Peer]*reply // from the ranks that were asked before; nil: none were
	all     map[uint32]*Comm       // by id
	callers [][3]uintptr           // of Waits
	who     map[any]int            // goroutines by their waiters
	blocked map[*progress.Request]int
	parts   map[hangCall][]int // ranks that messages of nonblocking collective calls need
}

// hangCall is a collective call of a communicator.
type hangCall struct{ id, number uint32 }

func (s *state) collect() {
	in := s.in
	s.Rank.Rank, s.Threaded, s.Callbacks = in.World.Rank, in.Loop.Threaded(), in.Loop.Detachments()
	if in.Loop.Over() {
		return // the memory of windows may be gone
	}
	in.mu.Lock()
	for c := range in.live {
		s.all[c.ID] = c
	}
	maps.Copy(s.all, in.running)
	in.mu.Unlock()
	s.all[in.World.ID] = in.World // also when it is over: its last barrier may be under way
	in.Loop.Blocked(func(r *progress.Request, who any, need int) {
		n := s.who[who]
		if n == 0 {
			s.Goroutines = append(s.Goroutines, diagnose.Goroutine{Need: need})
			n = len(s.Goroutines)
			s.who[who] = n
		}
		s.blocked[r] = n
	})
	var schedules []*progress.Request
	in.Loop.EachOfAll(func(r *progress.Request) {
		if _, is := r.Sink().(*schedule); is {
			schedules = append(schedules, r)
			return
		}
		if r.Of(in.P2P) && in.P2P.Halves(r, func(half *progress.Request) { s.message(half, r) }) {
			return
		}
		switch {
		case !r.Of(in.P2P):
			s.other(r)
		case r.Pair == nil: // else it is one of the parts
			s.message(r, r)
		}
	})
	for _, r := range schedules {
		s.schedule(r)
	}
	in.P2P.EachArrived(func(from int, cid uint32, tag int32, bytes uint64) bool {
		if !wire.Library(cid) {
			s.Arrived = append(s.Arrived, diagnose.Message{From: from, Tag: int(tag), Comm: cid, Bytes: bytes})
		}
		return len(s.Arrived) < mostArrived
	})
	windows := map[uint32]bool{}
	in.Wins.EachWindow(func(w diagnose.Window) {
		windows[w.ID] = true
		s.Windows = append(s.Windows, w)
	})
	for _, c := range s.all {
		s.Comms = append(s.Comms, c.state(windows[c.ID]))
	}
}

// finish names what there is and sorts it: operations that goroutines are blocked in come
// first, the oldest first. What is more than most is cut off.
func (s *state) finish(most int) diagnose.Rank {
	for i := range s.Waits {
		s.Waits[i].Place = diagnose.Place(s.callers[i])
	}
	slices.SortStableFunc(s.Waits, func(a, b diagnose.Wait) int {
		if (a.Goroutine > 0) != (b.Goroutine > 0) {
			return cmp.Compare(b.Goroutine, a.Goroutine)
		}
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Op, b.Op))
	})
	slices.SortFunc(s.Comms, func(a, b diagnose.Comm) int { return cmp.Compare(a.ID, b.ID) })
	s.Cut(most)
	if named := s.in.named; named != nil {
		for i := range s.Comms {
			s.Comms[i].Name = named(s.Comms[i].ID)
		}
	}
	return s.Rank
}

// add adds an operation. It needs other ranks only if these have been heard, where they
// were asked.
func (s *state) add(r, its *progress.Request, w diagnose.Wait) {
	w.Op, w.Seconds = uint64(r.Op()), int(coarseclock.Since(its.Began)/time.Second)
	if slices.ContainsFunc(w.Needs, func(n int) bool { return n != s.in.World.Rank && !s.still(n, 0) }) {
		w.Needs = nil
	}
	s.Waits = append(s.Waits, w)
	s.callers = append(s.callers, its.Place)
}

// still reports whether a rank has replied, where it was asked, and has none of that under
// way to this one, or from it.
func (s *state) still(rank int, under wire.Told) bool {
	t := s.heard[fabric.Peer(rank)]
	return s.heard == nil || t != nil && t.why == "" && t.said&under == 0
}

// message adds an operation of pt2pt. its is the request that the program has: r, or the
// pair of which r is a half.
func (s *state) message(r, its *progress.Request) {
	p2p := s.in.P2P
	p := p2p.Look(r)
	unmatched, others := p2p.Need(r)
	w := diagnose.Wait{State: p.State, Comm: p.Context, Peer: p.Peer, Tag: int(p.Tag), Bytes: p.Bytes, Goroutine: s.blocked[its], Unmatched: unmatched}
	if its != r {
		w.Group = uint64(its.Op())
	}
	ends := wire.Sending // what would end the wait
	if p.What == pt2pt.Send {
		ends = wire.Receiving
	}
	if others && p.Peer >= 0 && s.still(p.Peer, ends) {
		w.Needs = []int{p.Peer}
	}
	if wire.Library(p.Context) {
		s.library(r, its, w, p.Tag)
		return
	}
	switch p.What {
	case pt2pt.Send:
		w.Kind = diagnose.Send
	case pt2pt.Receive:
		w.Kind = diagnose.Receive
	case pt2pt.Probing:
		w.Kind = diagnose.Probe
	default:
		w.Kind, w.What = diagnose.Other, p.What.String()
	}
	if others && p.Peer == diagnose.AnyRank {
		w.Any, w.Needs = true, s.sources(p.Context)
		if slices.ContainsFunc(w.Needs, func(n int) bool { return !s.still(n, ends) }) {
			w.Needs = nil
		}
	}
	s.add(r, its, w)
}

// sources lists the ranks that may send in a communicator and are alive.
func (s *state) sources(id uint32) (ranks []int) {
	c := s.all[id]
	if c == nil {
		return nil
	}
	for _, r := range worlds(cmp.Or(c.Remote, c.Ranks), c.Size) {
		if r != s.in.World.Rank && !s.in.P2P.Away(r) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// worlds lists the ranks of a group of the job: the first n, if m is nil.
func worlds(m *group.Map, n int) []int {
	if m != nil {
		n = m.Len()
	}
	ranks := make([]int, n)
	for i := range ranks {
		if ranks[i] = i; m != nil {
			ranks[i] = m.World(i)
		}
	}
	return ranks
}

// library adds a message of a collective call. One that no goroutine is blocked in belongs
// to a nonblocking call, which has it among its needs.
func (s *state) library(r, its *progress.Request, w diagnose.Wait, tag int32) {
	w.Comm, w.Kind, w.Unmatched = wire.User(w.Comm), diagnose.Collective, false
	c := s.all[w.Comm]
	switch {
	case c == nil:
		w.Kind, w.What = diagnose.Other, "message of the library"
	case numbered(tag):
		w.Number = c.numberOf(tag)
		w.Call = c.callText(w.Number, callOf(tag))
	case tag == lastTag:
		w.Number, w.Call = c.seq.Load()+1, coll.Finalize.String()
	default: // the flags of a barrier are prepared
		w.Number = c.seq.Load()
		w.Call = c.callText(w.Number, coll.Barrier)
	}
	if w.Goroutine > 0 {
		s.add(r, its, w)
		return
	}
	call := hangCall{w.Comm, w.Number}
	s.parts[call] = append(s.parts[call], w.Needs...)
}

// callText is the signature of a collective call, or its name.
func (c *Comm) callText(number uint32, call coll.Call) string {
	if is, ok := c.history.of(number); ok {
		return is.text(c.in.comparisons.operator)
	}
	if call == noCall {
		return "comparison of calls"
	}
	return call.String()
}

// schedule adds a nonblocking collective call.
func (s *state) schedule(r *progress.Request) {
	x := r.Sink().(*schedule)
	w := diagnose.Wait{Kind: diagnose.Collective, Peer: diagnose.AnyRank, Tag: diagnose.AnyTag, Goroutine: s.blocked[r]}
	i := x.Describe(r, true)
	w.What, w.State = i.What, i.State
	c, ok := x.m.(*Comm)
	if u, is := x.m.(union); is {
		c, ok = u.Comm, true
	}
	if !ok {
		w.Kind = diagnose.Other // a meeting
		s.add(r, r, w)
		return
	}
	w.Comm, w.Number = c.ID, x.seq
	if w.Call = c.callText(x.seq, x.call); x.is.what == 0 {
		w.Call = w.What
	}
	w.Needs = s.parts[hangCall{c.ID, x.seq}]
	slices.Sort(w.Needs)
	w.Needs = slices.Compact(w.Needs)
	s.add(r, r, w)
}

// other adds an operation of another protocol.
func (s *state) other(r *progress.Request) {
	w := diagnose.Wait{Kind: diagnose.Other, Peer: diagnose.AnyRank, Tag: diagnose.AnyTag, Goroutine: s.blocked[r]}
	switch sink := r.Sink().(type) {
	case *partitioned.Engine:
		sink.State(r, &w)
	case *rma.Engine:
		sink.State(r, &w)
	default:
		i := r.Describe(true)
		if i.Needs {
			if c := s.all[wire.User(i.Context)]; c != nil {
				w.Kind, w.Comm, w.Number, w.State = diagnose.Collective, c.ID, c.barrier.flags.call, fmt.Sprintf("waits for rank %d", i.Caller)
				w.Call, w.Needs = c.callText(w.Number, coll.Barrier), []int{int(i.Caller)}
			}
			break
		}
		if told, is := i.Condition.(interface{ State(*diagnose.Wait) }); is {
			told.State(&w)
			break
		}
		w.What, w.State = i.What, i.State
	}
	if w.Goroutine == 0 && w.Kind == diagnose.Other && w.What == "" {
		return // the library's own
	}
	s.add(r, r, w)
}

// state is this rank's side of a communicator.
func (c *Comm) state(window bool) diagnose.Comm {
	x := diagnose.Comm{ID: c.ID, Window: window, Calls: c.seq.Load()}
	if c.Ranks != nil {
		x.Members = worlds(c.Ranks, 0)
	}
	if c.Remote != nil {
		x.Remote = worlds(c.Remote, 0)
	}
	for n := max(x.Calls, mostRecent) - mostRecent + 1; n <= x.Calls; n++ {
		if is, ok := c.history.of(n); ok {
			x.Recent = append(x.Recent, diagnose.Call{Number: n, Text: is.text(c.in.comparisons.operator)})
		}
	}
	return x
}

// Lateness is how long the owner of the loop has not let the once-a-second look in, 0 if it
// does not wait. For anyone. Local.
func (in *Instance) Lateness() time.Duration {
	if t := in.looking.Load(); t != 0 { // pairs with the stores in look
		return time.Since(time.Unix(0, t))
	}
	return 0
}
