package comm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/ulfm"
	"github.com/weft-mpi/weft/internal/wire"
)

// How the ranks of a communicator go on without those that have failed: package ulfm has
// the protocols, which messages and news of deaths carry on under ownership, whatever the
// program does meanwhile. A rank that has left counts as failed.
//
// A communicator has failures from the first call, or the first message, that is about
// them. They stay when it is freed, those of the last restingFailures freed ones: a rank may
// ask later which Value an agreement had, or be told of a revocation by this one alone. Of the agreements of a communicator a rank
// keeps the last one and the one before: who takes part in one has the Values of all
// earlier ones, and nobody ends one before all living ranks take part in it.

// failures is what a rank knows and does about the failed ranks of a communicator. Ranks
// are numbered in all. It belongs to the owner of the loop.
type failures struct {
	in  *Instance
	c   *Comm
	all *group.Map // both groups of an intercommunicator; nil: as in the job
	own int        // this rank

	order      []int    // ranks that have failed, in the order of the news
	known      ulfm.Set // the same
	acked      int      // how many of order the program has acknowledged
	agreed     ulfm.Set // those that have failed as the last agreement says
	revocation *ulfm.Revocation

	number       uint32 // of the last agreement that this rank has begun; 0: none
	current      *ulfm.Agreement
	before, next *ulfm.Agreement // those of number-1 and number+1, or nil
	early        []agreement     // messages for number+1, until the last agreement is over
	calls        []*agreeing     // under way, in their order: the first one has begun
	body         wire.AgreeSets  // of the message being sent
}

// agreement is a message of one.
type agreement struct {
	from int
	ulfm.Message
}

// sizeOfAll is the number of ranks of the communicator, of both groups of an
// intercommunicator.
func (c *Comm) sizeOfAll() int { return c.Size + max(c.Remote.Len(), 0) }

// failuresOf returns a communicator's failures. For the owner.
func (in *Instance) failuresOf(c *Comm) *failures {
	f := in.failed[c.ID]
	if f != nil && f.c == c {
		return f
	}
	f = &failures{in: in, c: c, all: c.Ranks, own: c.Rank}
	if c.Remote != nil {
		a, b := canonical(c.Ranks, c.Remote)
		f.all = a.Union(b)
		f.own = f.all.Rank(in.World.Rank)
	}
	f.revocation = ulfm.NewRevocation(f.own, c.sizeOfAll(), func(to int) {
		if !in.dying {
			in.Loop.Conn(f.peer(to)).Post(wire.Revoke, uint64(c.ID), nil)
		}
	})
	for _, p := range in.fallen {
		f.down(p)
	}
	in.failed[c.ID] = f
	return f
}

// peer is the rank in the job.
func (f *failures) peer(rank int) fabric.Peer {
	if f.all == nil {
		return fabric.Peer(rank)
	}
	return fabric.Peer(f.all.World(rank))
}

// rankOf is the rank in all of one in the job, or -1.
func (f *failures) rankOf(p fabric.Peer) int {
	if f.all == nil {
		return int(p)
	}
	return f.all.Rank(int(p))
}

// down takes the news that a rank of the job has failed.
func (f *failures) down(p fabric.Peer) {
	rank := f.rankOf(p)
	if rank < 0 {
		return
	}
	f.order, f.known = append(f.order, rank), f.known.With(rank)
	f.revocation.Down(rank)
	for _, a := range [...]*ulfm.Agreement{f.before, f.current, f.next} {
		if a != nil {
			a.Down(rank)
		}
	}
	f.goOn()
}

// ackedSet is the set of acknowledged ranks.
func (f *failures) ackedSet() (s ulfm.Set) {
	for _, r := range f.order[:f.acked] {
		s = s.With(r)
	}
	return s
}

// newAgreement is the agreement of a number, which this rank has not begun.
func (f *failures) newAgreement(number uint32) *ulfm.Agreement {
	a := ulfm.NewAgreement(f.own, ulfm.All(f.c.sizeOfAll()).Without(f.agreed), func(to int, m ulfm.Message) { f.send(to, number, m) })
	for _, r := range f.order {
		a.Down(r)
	}
	return a
}

func (f *failures) send(to int, number uint32, m ulfm.Message) {
	if f.in.dying {
		return
	}
	words := m.Value.Failed.Words()
	f.body = f.body[:0]
	for i := range words {
		f.body = f.body.AppendWord(m.Value.Failed.Word(i))
	}
	for i := range words {
		f.body = f.body.AppendWord(m.Value.Acked.Word(i))
	}
	var hdr [wire.AgreeSize]byte
	f.in.Loop.Conn(f.peer(to)).PostBody(wire.Agree, uint64(f.c.ID), wire.MakeAgree(hdr[:], number, uint8(m.Says), m.Round, m.Value.Flags), f.body)
}

// settled reports whether no agreement is under way here: the next one's members are known.
func (f *failures) settled() bool { return f.current == nil || f.current.Over() }

// receive takes a message for the agreement of a number. It returns false for one that
// nobody may send yet.
func (f *failures) receive(number uint32, m agreement) bool {
	switch ahead := int32(number - f.number); {
	case ahead < -1: // its Value is everywhere
	case ahead == -1:
		if f.before != nil {
			f.before.Receive(m.from, m.Message)
		}
	case ahead == 0 && f.current != nil:
		f.current.Receive(m.from, m.Message)
		f.goOn()
	case ahead != 1:
		return false
	case !f.settled():
		if len(f.early) >= 2*wire.AgreeRounds*f.c.sizeOfAll() {
			return false
		}
		f.early = append(f.early, m)
	default:
		if f.next == nil {
			f.next = f.newAgreement(number)
		}
		f.next.Receive(m.from, m.Message)
	}
	return true
}

// begin begins the next agreement with what this rank brings.
func (f *failures) begin(flags uint64) {
	if f.next == nil {
		f.next = f.newAgreement(f.number + 1)
	}
	f.before, f.current, f.next = f.current, f.next, nil
	f.number++
	f.current.Start(ulfm.Value{Flags: flags, Failed: f.agreed, Acked: f.ackedSet()})
	f.goOn()
}

// goOn lets the calls go on that the end of an agreement concerns.
func (f *failures) goOn() {
	if f.current == nil || !f.current.Over() || len(f.calls) == 0 || !f.calls[0].waits {
		return
	}
	call, v := f.calls[0], f.current.Value()
	call.waits = false
	f.agreed = v.Failed
	early := f.early
	f.early = nil
	for _, m := range early {
		f.receive(f.number+1, m)
	}
	call.decided(v)
}

// FailedError is the error of an agreement if ranks have failed that not all have
// acknowledged.
type FailedError struct {
	Ranks  []int // in the job
	here   []int // in the communicator
	remote []int // in its remote group
}

func (e *FailedError) Error() string {
	of := ""
	if len(e.remote) > 0 {
		of = fmt.Sprintf(" and %v of the remote group", e.remote)
	}
	return fmt.Sprintf("ranks %v%s have failed, and not all ranks have acknowledged that: call AckFailed, or Shrink", e.here, of)
}

// failedError is the error about ranks of the job.
func (c *Comm) failedError(worlds []int) *FailedError {
	e := &FailedError{Ranks: worlds}
	for _, w := range worlds {
		if r, remote := c.numbered(w); remote {
			e.remote = append(e.remote, r)
		} else {
			e.here = append(e.here, r)
		}
	}
	return e
}

// worldsOf are the ranks in the job of a set.
func (f *failures) worldsOf(s ulfm.Set) (all []int) {
	for r := range s.Ranks() {
		all = append(all, int(f.peer(r)))
	}
	return all
}

// Failed returns the ranks of the communicator that have failed as far as this rank
// knows, as ranks of the job, in the order of the news, and how many of them, the first
// ones, it has acknowledged. Local.
func (c *Comm) Failed() (ranks []int, acked int) {
	c.in.Loop.Exclusive(func() {
		f := c.in.failuresOf(c)
		for _, r := range f.order {
			ranks = append(ranks, int(f.peer(r)))
		}
		acked = f.acked
	})
	return ranks, acked
}

// AckFailed acknowledges the first n of Failed, and returns how many are. Local.
func (c *Comm) AckFailed(n int) (acked int) {
	c.in.Loop.Exclusive(func() {
		f := c.in.failuresOf(c)
		f.acked = max(f.acked, min(n, len(f.order)))
		if acked = f.acked; acked == len(f.order) {
			c.P2P.Unpend(c.ID)
		}
	})
	return acked
}

// failing is the sink of the packets. Its PeerDown comes after that of the point-to-point
// engine, which fails what only the dead could have ended.
type failing struct{ aborts }

func (s failing) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	id := uint32(imm)
	switch {
	case imm >= 1<<32 || wire.Library(id):
	case kind == wire.Revoke && len(hdr)+len(body) == 0:
		if s.take(from, id, early{revoke: true}) {
			return
		}
	case kind == wire.Agree && wire.AgreeHeader(hdr).Valid(body):
		h, sets := wire.AgreeHeader(hdr), wire.AgreeSets(body)
		m := ulfm.Message{Says: ulfm.Says(h.Says()), Round: h.Round()}
		failed, acked := make([]uint64, sets.Words()), make([]uint64, sets.Words())
		for i := range failed {
			failed[i], acked[i] = sets.Failed(i), sets.Acked(i)
		}
		m.Value = ulfm.Value{Flags: h.Flags(), Failed: ulfm.OfWords(failed), Acked: ulfm.OfWords(acked)}
		if s.take(from, id, early{number: h.Number(), m: m}) {
			return
		}
	}
	s.in.Loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
		Err: fmt.Errorf("%w: it sent a message about failed ranks that is none", fabric.ErrPeerDown)})
}

// early is a message of a communicator that this rank has not made yet, or is about to
// take.
type early struct {
	from   fabric.Peer
	revoke bool
	number uint32
	m      ulfm.Message
}

// take takes a message, and reports whether it may be.
func (s failing) take(from fabric.Peer, id uint32, e early) bool {
	in := s.in
	f := in.failed[id]
	if f == nil {
		c := in.member(id | 1)
		switch {
		case c != nil && c.ID == id:
			f = in.failuresOf(c)
		case in.P2P.Freed(id):
			if f = in.restingOf(id); f == nil || !e.revoke {
				return true // it has had no part in an agreement, so nobody waits for it
			}
		case in.earlyFailing >= maxEarly:
			return false
		default:
			in.earlyFailing++
			e.from = from
			in.earlyFailures[id] = append(in.earlyFailures[id], e)
			return true
		}
	}
	return f.take(from, e)
}

// take takes a message from a rank of the job, and reports whether it may be.
func (f *failures) take(from fabric.Peer, e early) bool {
	rank := f.rankOf(from)
	switch {
	case rank < 0, !e.m.Value.Failed.Without(ulfm.All(f.c.sizeOfAll())).Empty():
		return false
	case e.revoke:
		if f.revocation.Revoke() {
			f.c.revoked()
		}
		return true
	}
	f.learn(from, e.m.Value.Failed)
	return f.receive(e.number, agreement{rank, e.m})
}

// learn takes the news that comes with another rank's message. No launcher tells of a rank
// that has left its World while its process goes on, and only those that are connected to
// it hear of that from the fabric.
func (f *failures) learn(from fabric.Peer, failed ulfm.Set) {
	for rank := range failed.Without(f.known).Ranks() {
		if rank == f.own {
			continue // the link between the two is down
		}
		p := f.peer(rank)
		f.in.Loop.Lost(p, &fabric.Error{Op: "talk", Peer: p, HasPeer: true,
			Err: fmt.Errorf("%w: another rank says that it has failed", fabric.ErrPeerDown)})
	}
}

func (s failing) PeerDown(p fabric.Peer, err error) {
	if !errors.Is(err, fabric.ErrPeerLeft) {
		s.in.pend(p, err)
	}
	if slices.Contains(s.in.fallen, p) {
		return // it had left, and the launcher says that it has died
	}
	s.in.fallen = append(s.in.fallen, p)
	all := slices.SortedFunc(maps.Values(s.in.failed), func(a, b *failures) int { return cmp.Compare(a.c.ID, b.c.ID) }) // the same in each run of a simulation
	for _, f := range all {
		f.down(p)
	}
}
