package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// What collective calls use: their messages go in the library's context of a
// communicator.

// StepSend starts a send in standard mode for the owner of the loop, whom hook
// tells of its end: at once or later, under ownership. The memory is the engine's until
// then. place is what reports say made the call.
func (e *Engine) StepSend(dest int, cid uint32, tag int32, d Data, place [3]uintptr, hook func(*progress.Request, error)) {
	e.step(kindSend, dest, cid, tag, d, place, hook)
}

// StepNow sends a short message for the owner of the loop if nothing is in the way: TrySend
// that does not poll, as a message that has just come may be what calls it.
func (e *Engine) StepNow(dest int, cid uint32, tag int32, b []byte) (sent bool) {
	p := &e.peers[dest]
	if len(b) > p.short || p.gate != 0 || dest == e.rank {
		return false
	}
	if c := e.loop.Conn(fabric.Peer(dest)); c.Down() != nil || c.Send(wire.Eager, wire.Imm(cid, tag), nil, b) != nil {
		return false
	}
	p.traffic.sent[pathEager].Add(uint64(len(b)))
	return true
}

// StepRecv starts a receive, as StepSend does a send. hook finds the length of
// the message in the request's Result.
func (e *Engine) StepRecv(source int, cid uint32, tag int32, d Data, place [3]uintptr, hook func(*progress.Request, error)) {
	e.step(kindRecv, source, cid, tag, d, place, hook)
}

// StepAwait is StepRecv for the owner of a loop that waits for nothing else. It spins for a
// while, and returns true if a message of n bytes has come meanwhile: then hook is not told.
func (e *Engine) StepAwait(source int, cid uint32, tag int32, b []byte, place *[3]uintptr, hook func(*progress.Request, error)) (n int, came bool) {
	if e.header == 0 && e.awaitable(source) && !e.awaited.timed() {
		if e.await(source, wire.Imm(cid, tag), b) {
			return e.awaited.n, true
		}
		if r := e.awaited.giveUp(); r != nil {
			r.Place = *place
			e.loop.StepOn(r, hook)
			return 0, false
		}
	}
	e.step(kindRecv, source, cid, tag, Data{Bytes: b}, *place, hook)
	return 0, false
}

func (e *Engine) step(kind uint8, peer int, cid uint32, tag int32, d Data, place [3]uintptr, hook func(*progress.Request, error)) {
	r := e.loop.New()
	fillData(r, expiry.Expiry{}, kind, peer, wire.Imm(cid, tag), &d)
	r.Place = place
	e.loop.Step(e, r, hook)
}

// Forbid ends what is under way in a library's context with err, as far as it can
// be withdrawn, and refuses what is started there from now on. Only the tags that
// spared reports are left alone. A second call leaves fewer alone; the first one's err
// stands. For the owner.
func (e *Engine) Forbid(cid uint32, spared func(tag int32) bool, err error) {
	if e.forbidden == nil {
		e.forbidden = map[uint32]ban{}
	}
	if old, again := e.forbidden[cid]; again {
		both := spared
		spared, err = func(tag int32) bool { return old.spared(tag) && both(tag) }, old.err
	} else {
		e.unlike++
	}
	e.forbidden[cid] = ban{spared, err}
	e.loop.Each(e, func(r *progress.Request) {
		if c, tag := wire.Match(r.Imm); c == cid && !spared(tag) && !r.Done() {
			e.Cancel(r, err)
		}
	})
}

// Allow forgets what Forbid said of a context: its communicator is over. For the
// owner.
func (e *Engine) Allow(cid uint32) {
	if _, ok := e.forbidden[cid]; !ok {
		return
	}
	e.unlike--
	if delete(e.forbidden, cid); len(e.forbidden) == 0 {
		e.forbidden = nil
	}
}

// Forbidden returns the error of the context's Forbid, or nil. For the owner.
func (e *Engine) Forbidden(cid uint32) error { return e.forbidden[cid].err }

// EachStuck visits the operations in the library's contexts that can't complete before
// their peer, a rank of the job, makes another call, as far as this rank knows. op names
// an operation among all of this rank. For the owner.
func (e *Engine) EachStuck(f func(peer int, cid uint32, tag int32, op uint64)) {
	e.loop.Each(e, func(r *progress.Request) {
		if cid, tag := wire.Match(r.Imm); wire.Library(cid) && !r.Done() && e.stuck(r) {
			f(int(r.Peer), cid, tag, uint64(r.Op()))
		}
	})
}

// EachUnexpected visits the messages in the library's contexts that no receive has
// matched. For the owner.
func (e *Engine) EachUnexpected(f func(peer int, cid uint32, tag int32)) {
	e.match.EachUnexpected(func(_ match.Entry, cid uint32, source, tag int32, _ uint32) bool {
		if wire.Library(cid) {
			f(int(source), cid, tag)
		}
		return true
	})
}

// ban is what Forbid says of a context.
type ban struct {
	spared func(tag int32) bool
	err    error
}

// forbids fails a request that is not to be started, and reports whether it is one.
// The halves of a pair are refused one by one.
func (e *Engine) forbids(r *progress.Request) bool {
	cid, tag := wire.Match(r.Imm)
	b, ok := e.forbidden[cid]
	switch {
	case !ok || b.spared(tag):
		return false
	case r.Kind == kindRecv, r.Kind == kindProbe, r.Kind == kindMprobe:
		e.failRecv(r, b.err)
	case r.Kind == kindSend:
		e.finishSend(r, b.err)
	default:
		return false
	}
	return true
}
