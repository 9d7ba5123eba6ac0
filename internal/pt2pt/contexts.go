package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A communicator has two contexts: an even one, its id, for the program's
// messages, and the odd one behind it for the library's. Its life at this rank:
//
//	Reserve   proposed: no other creation may have the id
//	Open      live: its members may send
//	Close     freed by the program. Its messages still match what may receive them:
//	          receives and probes in flight, persistent receives, collective calls
//	deaf      nothing is left that may. Messages that no receive has taken, and
//	          those that come from now on, are dropped (freed.go). Sends in flight
//	          and messages that a matched probe has taken keep the id
//	freed     the id rests among the last 4,096 (quarantine): members may still
//	          send, so it means no other communicator
//
// Messages of ids that are not known here are kept: a member may send as soon as it
// has made the communicator. The context of all ranks, 0, is always live.
//
// A message or an operation in a live communicator of the job's rank numbers
// passes none of this: what is in flight is counted from Close on, and whether a
// message is to be dropped is looked at where no receive has matched it.

// Creation is the context of messages that make a communicator of a group without
// a communicator of all its members. It is no communicator's.
const Creation = ^uint32(1)

// quarantine is how many freed ids rest.
const quarantine = 4096

// phase is how far a communicator is.
type phase uint8

const (
	phaseReserved phase = iota
	phaseLive
	phaseClosing // freed, and what is in flight is not counted yet
	phaseClosed
	phaseDeaf
	phaseFreed
)

// communicator is what the engine knows of one.
type communicator struct {
	phase       phase
	own, remote *group.Map

	// What may still use it, from Close on: what can receive a message, collective
	// calls under way, and the rest. Collective calls are counted before, too.
	takers, holds, others int

	failed bool // see CallsFailed
}

// Kinds of counted requests.
const (
	taker uint8 = iota + 1
	other
)

// contexts are the communicators by id.
type contexts struct {
	known map[uint32]*communicator
	gone  communicator // stands for all those that rest
	rest  []uint32     // their ids: a ring, once it is full
	next  int          // the oldest of a full ring

	// See HandleEnds.
	closed, ended func(id uint32)
	refuses       func(from fabric.Peer, cid uint32)

	claimed int    // messages that a matched probe has taken
	dropped uint64 // messages
}

// Reserve keeps an id for a communicator that is being made. It returns false if
// the id is another's, or rests, or can't be one: 0, Creation, or odd. Of two
// creations with one id the first has it. For the owner.
func (e *Engine) Reserve(id uint32) bool {
	s := &e.contexts
	if id == 0 || id == Creation || wire.Library(id) || s.known[id] != nil {
		return false
	}
	if s.known == nil {
		s.known = map[uint32]*communicator{}
	}
	s.known[id] = &communicator{phase: phaseReserved}
	return true
}

// Unreserve gives up an id that the caller has reserved. For the owner.
func (e *Engine) Unreserve(id uint32) {
	if c := e.contexts.known[id]; c != nil && c.phase == phaseReserved {
		delete(e.contexts.known, id)
	}
}

// Reserved is the number of ids that are reserved. For the owner.
func (e *Engine) Reserved() (n int) {
	for _, c := range e.contexts.known {
		if c.phase == phaseReserved {
			n++
		}
	}
	return n
}

// Freed reports whether a context is one of a communicator that has been freed, and
// rests still or is about to. For the owner.
func (e *Engine) Freed(cid uint32) bool {
	c := e.communicatorOf(cid)
	return c != nil && c.phase > phaseLive
}

// Open makes a reserved id a communicator's. own are its ranks, nil for those of
// the job. remote is nil, or the remote group of an intercommunicator: then peers
// and sources are numbered by it, and own is not nil. Open returns false if the id
// is not reserved. For the owner.
func (e *Engine) Open(id uint32, own, remote *group.Map) bool {
	c := e.contexts.known[id]
	if c == nil || c.phase != phaseReserved {
		return false
	}
	c.phase, c.own, c.remote = phaseLive, own, remote
	if c.ranks() != nil {
		e.unlike++
	}
	return true
}

// Close frees a communicator (MPI-4.0 §7.4.3). What is in flight in it goes on, and
// persistent requests can be started: it ends behind the last of them. Messages
// that nothing can receive any more are dropped, see freed.go. For the owner.
func (e *Engine) Close(id uint32) {
	c := e.contexts.known[id]
	if c == nil || c.phase != phaseLive {
		return
	}
	c.phase = phaseClosing
	e.loop.Behind(func() { // calls that have returned have queued their operations
		e.countAll(id, c)
		if c.phase = phaseClosed; c.ranks() == nil {
			e.unlike++
		}
		if e.contexts.closed != nil {
			e.contexts.closed(id)
		}
		e.settle(id)
	})
}

// HandleEnds registers what other protocols do about a communicator's end: closed is
// called behind Close, when no operation can be begun in it any more, and ended when
// it has been freed and nothing of it is in flight. refuses is called before a sender in a
// library's context is told that its message is refused. All are called as the owner.
// HandleEnds is called before Go.
func (e *Engine) HandleEnds(closed, ended func(id uint32), refuses func(from fabric.Peer, cid uint32)) {
	e.contexts.closed, e.contexts.ended, e.contexts.refuses = closed, ended, refuses
}

// Hold keeps a communicator for a collective call, until Release: it may receive in
// its context. It returns false if the communicator has been freed and does not
// hear any more. For the owner.
func (e *Engine) Hold(id uint32) bool {
	if id == 0 {
		return true
	}
	c := e.contexts.known[id]
	if c == nil || c.phase == phaseReserved || c.phase >= phaseDeaf {
		return false
	}
	c.holds++
	return true
}

// CallsFailed says that collective calls of a communicator have failed: what other ranks
// have sent for them is dropped without a word once the communicator has been freed. For the
// owner.
func (e *Engine) CallsFailed(id uint32) {
	if c := e.contexts.known[id]; c != nil {
		c.failed = true
	}
}

// Release undoes Hold. For the owner.
func (e *Engine) Release(id uint32) {
	if c := e.contexts.known[id]; c != nil && c.holds > 0 {
		c.holds--
		e.reconsiderEnd(id, c)
	}
}

// ranks is how the communicator numbers peers: nil as in the job.
func (c *communicator) ranks() *group.Map {
	if c.remote != nil {
		return c.remote
	}
	return c.own
}

func (e *Engine) communicatorOf(cid uint32) *communicator { return e.contexts.known[wire.User(cid)] }

// deafTo reports whether a message, of this context and tag, is to be dropped.
func (e *Engine) deafTo(imm uint64) bool {
	cid := uint32(imm >> 32)
	if cid <= 1 {
		return false // of all ranks
	}
	c := e.communicatorOf(cid)
	return c != nil && c.phase >= phaseDeaf
}

// join is what Start has to do for operations in communicators that are not simply
// live and numbered as the job. as is the kind that the request counts as. It
// returns false if the request has failed: nothing can come any more.
func (e *Engine) join(r *progress.Request, as uint8) bool {
	c := e.communicatorOf(cidOf(r))
	if c == nil {
		return true
	}
	r.SetRanks(c.ranks())
	if c.phase == phaseDeaf && as == taker {
		e.failRecv(r, ErrFreed)
		return false
	}
	e.count(c, r, as)
	return true
}

// kindOf is what a request counts as that begins.
func kindOf(r *progress.Request) uint8 {
	switch r.Kind {
	case kindRecv, kindProbe, kindMprobe:
		return taker
	}
	return other
}

// count counts a request, once the communicator counts what is in flight.
func (e *Engine) count(c *communicator, r *progress.Request, as uint8) {
	if c.phase < phaseClosing || c.phase == phaseFreed || r.Counted() {
		return
	}
	r.Count(as)
	if as == taker {
		c.takers++
	} else {
		c.others++
	}
}

// uncount is called when a counted request is freed.
func (e *Engine) uncount(r *progress.Request, as uint8) {
	id := wire.User(cidOf(r))
	c := e.contexts.known[id]
	if as == taker {
		c.takers--
	} else {
		c.others--
	}
	e.reconsiderEnd(id, c)
}

// countAll counts what uses a communicator that has just been closed.
func (e *Engine) countAll(id uint32, c *communicator) {
	e.loop.EachKept(func(r *progress.Request) {
		if !r.Of(e) && !r.Persistent() || wire.User(cidOf(r)) != id {
			return // Imm of other sinks' requests may mean something else
		}
		as := other
		if r.Of(e) && kindOf(r) == taker && (r.Persistent() || r.Step == stepPosted || r.Step == stepProbing) {
			as = taker
		}
		e.count(c, r, as)
	})
	if e.contexts.claimed == 0 {
		return
	}
	for i := range e.arrivals.used {
		if a := e.arrivals.at(i); a.matched && wire.User(uint32(a.imm>>32)) == id {
			c.others++
		}
	}
}

// claim counts a message that a matched probe has taken, by 1, and that has been
// received, by -1.
func (e *Engine) claim(a *arrival, by int) {
	e.contexts.claimed += by
	if e.unlike == 0 {
		return
	}
	id := wire.User(uint32(a.imm >> 32))
	if c := e.contexts.known[id]; c != nil && (c.phase == phaseClosed || c.phase == phaseDeaf) {
		c.others += by
		e.reconsiderEnd(id, c)
	}
}

// due reports whether the communicator goes on to its next phase.
func (c *communicator) due() bool {
	return c.phase == phaseClosed && c.takers+c.holds == 0 || c.phase == phaseDeaf && c.takers+c.holds+c.others == 0
}

// reconsiderEnd has a communicator go on if it is due. The caller may be about to
// free a request, so others are completed later.
func (e *Engine) reconsiderEnd(id uint32, c *communicator) {
	if c.due() {
		e.loop.Later(func() { e.settle(id) })
	}
}

// settle lets a communicator go on as far as it is due.
func (e *Engine) settle(id uint32) {
	for c := e.contexts.known[id]; c != nil && c.due() && !e.loop.Over(); c = e.contexts.known[id] {
		if c.phase == phaseClosed {
			c.phase = phaseDeaf
			e.shut++
			e.dropLeftovers(id)
			continue
		}
		e.unlike--
		delete(e.attached, id)
		if e.contexts.retire(id) {
			e.shut--
		}
		if e.contexts.ended != nil {
			e.contexts.ended(id)
		}
	}
}

// retire lets the id of a communicator that has ended rest, and reports whether
// another one has rested long enough.
func (s *contexts) retire(id uint32) bool {
	s.gone.phase = phaseFreed
	s.known[id] = &s.gone
	if len(s.rest) < quarantine {
		s.rest = append(s.rest, id)
		return false
	}
	delete(s.known, s.rest[s.next])
	s.rest[s.next] = id
	s.next = (s.next + 1) % quarantine
	return true
}
