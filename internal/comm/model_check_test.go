package comm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// check checks the end of a member's part in a call. Whether it was allowed to fail
// is looked at in the end.
func (op *modelOp) check() {
	w, r, k := op.r.w, op.r, op.call
	fail := func(err error) {
		if err != nil {
			w.fail("rank %d, %v: %w", r.id, k, err)
		}
	}
	switch {
	case op.err == nil:
	case op.expected():
		w.failures++
	default:
		op.allowed()
	}
	if k.data != nil {
		fail(op.buf.check(op.err != nil))
		others := k.ops
		switch n := k.data.first; {
		case n == 0:
		case op.member < n:
			others = k.ops[n:]
		default:
			others = k.ops[:n]
		}
		if op.err == nil && k.data.call == coll.Barrier && slices.Contains(others, nil) {
			fail(errors.New("a rank leaves the barrier, and not all have come"))
		}
		return
	}
	want := op.want()
	switch {
	case (op.err != nil) != (op.told == 1), op.told > 1:
		fail(fmt.Errorf("it ends with %v, and %d calls that say so", op.err, op.told))
	case op.err != nil && op.made != nil:
		fail(errors.New("it fails and gives a communicator"))
	case op.err == nil && k.expected(op.member) != nil:
		fail(fmt.Errorf("it gives %v, want %v", op.made, k.expected(op.member)))
	case op.err == nil && (want == nil) != (op.made == nil):
		fail(fmt.Errorf("it gives %v, want one: %t", op.made, want != nil))
	}
	if op.made != nil {
		fail(op.joins(want))
	}
}

func (op *modelOp) want() *modelComm { return op.call.child[op.member] }

// joins checks a communicator that the rank has got.
func (op *modelOp) joins(c *modelComm) error {
	r, d := op.r, op.made
	if c.number == 0 {
		c.number = d.ID
	}
	own, peers := c.sides(r.id)
	if at := slices.Index(own, r.id); d.Rank != at || d.Size != len(own) || d.Peers() != len(peers) || (d.Remote != nil) != (c.first > 0) || d.ID != c.number || d.ID%2 != 0 || d.ID <= selfID || d.Over() {
		return fmt.Errorf("it is rank %d of %d in context %d, over %t, want %d of %v in %d", d.Rank, d.Size, d.ID, d.Over(), at, own, c.number)
	}
	for i, world := range own {
		if d.world(i) != world || d.rankOf(world) != i {
			return fmt.Errorf("its rank %d is rank %d of the job, want %v", i, d.world(i), own)
		}
	}
	for i, world := range peers {
		if c.first > 0 && d.Remote.World(i) != world {
			return fmt.Errorf("its remote rank %d is rank %d of the job, want %v", i, d.Remote.World(i), peers)
		}
	}
	for _, other := range r.w.prog.comms {
		if p := other.places[r.id]; p != nil && p.c != nil && !other.meets && p.c.ID == d.ID {
			return fmt.Errorf("it has the context %d, which is that of communicator %d too", d.ID, other.id)
		}
	}
	c.places[r.id].c = d
	return nil
}

// expected reports whether the error is the one with which the creation has to fail.
func (op *modelOp) expected() bool {
	if op.call.data != nil {
		return false
	}
	if op.unmet() {
		return true
	}
	switch want := op.call.expected(op.member).(type) {
	case nil:
		return false
	case *CreationError:
		var got *CreationError
		return errors.As(op.err, &got) && *got == *want
	case *errModel:
		return op.err == want
	case *GroupsError:
		return errors.As(op.err, new(*GroupsError))
	default:
		return errors.As(op.err, new(*OutsiderError))
	}
}

// allowed checks the kind of an error that no program would want.
func (op *modelOp) allowed() {
	w, err := op.r.w, op.err
	switch {
	case errors.As(err, new(*cause.CallError)), errors.As(err, new(*cause.BrokenError)), errors.As(err, new(*SpentError)):
	case errors.Is(err, pt2pt.ErrFreed): // the receiver's call has failed, and it has freed the communicator
	case errors.Is(err, context.Canceled) && op.cancelled:
		w.cancelled++
	case w.torn && (errors.Is(err, mem.ErrSim) || errors.Is(err, pt2pt.ErrNotFetched) || errors.Is(err, pt2pt.ErrNotWritten)):
	case errors.Is(err, fabric.ErrPeerDown) && w.without(op.call.comm):
	default:
		w.fail("rank %d, %v: %w", op.r.id, op.call, err)
	}
}

// unmet reports whether a Connect has failed because the other group has lost a rank,
// as its leader here has seen, or has told its own. That breaks nothing.
func (op *modelOp) unmet() bool {
	x, w := op.call.connect, op.r.w
	if x == nil || w.lost(op.call.comm) || !errors.Is(op.err, fabric.ErrPeerDown) && !errors.As(op.err, new(*CreationError)) {
		return false
	}
	return w.without(x.calls[0].comm) || w.without(x.calls[1].comm)
}

// without reports whether a rank of a communicator has died, or left, in order or not.
func (w *modelWorld) without(c *modelComm) bool {
	return slices.ContainsFunc(c.worlds, func(i int) bool { return w.ranks[i].dead || w.ranks[i].left })
}

// own reports whether the failure began here.
func (op *modelOp) own() bool {
	return op.err != nil && !op.expected() && !errors.As(op.err, new(*cause.CallError)) && !errors.As(op.err, new(*SpentError)) && !errors.As(op.err, new(*cause.BrokenError)) &&
		!errors.Is(op.err, fabric.ErrPeerDown) && !errors.Is(op.err, pt2pt.ErrFreed)
}

// rest lets everything happen that can. The ranks go on with their programs.
func (w *modelWorld) rest() {
	w.net.Calm()
	w.note("rest")
	for round, quiet := 0, 0; quiet < 3; round++ {
		if round == 10_000 {
			w.fail("the job does not come to rest")
		}
		before := w.changes
		for w.net.Step() {
		}
		for _, r := range w.living() {
			r.in.Loop.Glance(func() bool { return false })
			for _, op := range slices.Clone(r.ops) {
				op.test()
			}
			for _, c := range r.startable() {
				w.changes++
				r.start(c)
			}
			r.testReqs()
		}
		if quiet++; w.changes != before {
			quiet = 0
		}
	}
	if !w.net.Quiet() {
		w.fail("at rest: the network is not")
	}
}

// lost reports whether a member is dead, or has left amid its calls.
func (w *modelWorld) lost(c *modelComm) bool {
	return slices.ContainsFunc(c.worlds, func(i int) bool { return w.ranks[i].dead || w.ranks[i].quit })
}

// brokenFrom is the first call of a communicator that may fail at its members, or
// intact.
func (w *modelWorld) brokenFrom(c *modelComm) int {
	if w.lost(c) {
		return 0
	}
	if k := c.maker; k != nil {
		for i, child := range k.child { // not all have got it
			if child == c && (k.ops[i] == nil || k.ops[i].err != nil) {
				return 0
			}
		}
	}
	for i, k := range c.calls {
		for _, op := range k.ops {
			switch {
			case op == nil || !op.own():
			case c.meets: // one key for all
				return 0
			default:
				return i
			}
		}
	}
	return intact
}

const intact = 1 << 30

// end brings the job to its end, and checks what is left.
func (w *modelWorld) end() {
	w.rest()
	for _, r := range w.living() {
		for _, op := range r.ops {
			w.fail("rank %d waits for ever in %v", r.id, op.call)
		}
	}
	for _, c := range w.prog.comms {
		from := w.brokenFrom(c)
		for i, k := range c.calls {
			for _, op := range k.ops {
				if op != nil && i < from && op.err != nil && !op.expected() && !op.r.dead {
					w.fail("rank %d, %v: it has failed, and nothing is broken: %w", op.r.id, k, op.err)
				}
			}
		}
		if from != intact {
			w.brokenComms++
		}
		if made, not := w.madeBy(c); made && not {
			w.halfMade++
		}
	}
	w.probe()
	for _, r := range w.living() {
		for i := range w.prog.comms {
			r.free(i)
		}
	}
	w.rest()
	for _, r := range w.living() {
		r.giveUp()
	}
	w.rest()
	w.checkMessages()
	for _, r := range w.living() {
		r.leftovers()
	}
}

// madeBy reports whether living members have made a communicator, and have not.
func (w *modelWorld) madeBy(c *modelComm) (made, not bool) {
	for _, i := range c.worlds {
		if r := w.ranks[i]; !r.dead && !r.left {
			made, not = made || c.places[i].c != nil, not || c.places[i].c == nil
		}
	}
	return made, not
}

// probe has the members of each communicator make one more call: it fails at all
// where one has failed, or a member is dead, and succeeds elsewhere.
func (w *modelWorld) probe() {
	w.cancels = false
	for _, c := range w.prog.comms {
		n, failed := len(c.calls), w.brokenFrom(c) != intact
		if c.meets || slices.ContainsFunc(c.worlds, func(i int) bool { return w.ranks[i].left || c.places[i].freed }) {
			continue
		}
		k := &modelCall{comm: c, index: n, data: &modelData{call: coll.Barrier, size: len(c.worlds), elem: 1, first: c.first}, ops: make([]*modelOp, len(c.worlds))}
		c.calls = append(c.calls, k)
		w.rest()
		for i, op := range k.ops {
			switch r := w.ranks[c.worlds[i]]; {
			case r.dead || c.places[r.id].c == nil:
			case op == nil || !op.ended:
				w.fail("rank %d waits for ever in one more call on communicator %d", r.id, c.id)
			case (op.err != nil) != failed:
				w.fail("rank %d, one more call on communicator %d, that has failed %t: %w", r.id, c.id, failed, cmp.Or(op.err, errors.New("no error")))
			}
		}
	}
}

// leftovers checks that nothing is left at a rank.
func (r *modelRank) leftovers() {
	w, in := r.w, r.in
	left := func(what string, n int) {
		if n != 0 {
			w.fail("rank %d has left %d %s", r.id, n, what)
		}
	}
	s := in.Loop.Snapshot()
	for _, name := range []string{"weft_posted_receives", "weft_peers_held", "weft_rendezvous"} {
		left(name, int(s.Value(name)))
	}
	pending := in.P2P.Pending()
	in.Loop.Exclusive(func() {
		for _, p := range pending {
			if p.What == pt2pt.Unexpected && p.Context == 1 && w.brokenFrom(w.prog.comms[0]) != intact {
				continue // of calls on the world that have failed
			}
			w.note("%+v", p)
			left("operations or messages", 1)
		}
		requests := 0
		in.Loop.EachOfAll(func(*progress.Request) { requests++ })
		left("requests", requests)
		left("reserved ids", in.P2P.Reserved())
		left("communicators with calls under way", len(in.running))
		if w.brokenComms == 0 {
			left("early aborts", len(in.early))
		}
		left("communicators", len(in.live)-2)
		left("letters", len(in.letters.boxes)+len(in.letters.kept)+len(in.letters.links))
		left("regions", w.net.Regions(r.id))
		for _, o := range w.living() {
			if o != r && in.Loop.Conn(fabric.Peer(o.id)).Busy() {
				left("backlogs", 1)
			}
		}
		for _, c := range w.prog.comms {
			p := c.places[r.id]
			if p == nil || p.c == nil || c.maker == nil {
				continue
			}
			if _, kept := in.early[p.c.ID]; kept {
				left("news of a communicator that is made", 1)
			}
			if in.P2P.Hold(p.c.ID) || !in.P2P.Freed(p.c.ID) || in.P2P.Forbidden(p.c.Library()) != nil || p.c.calls != 0 {
				left("uses of a freed communicator", 1)
			}
		}
	})
}
