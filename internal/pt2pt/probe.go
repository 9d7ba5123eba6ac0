package pt2pt

import (
	"context"
	"encoding/binary"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// Message is a message that a matched probe has taken: no other receive or
// probe finds it any more (MPI-4.0 §3.8.2). The zero Message is null.
type Message struct {
	e   *Engine
	id  uint32
	gen uint32
}

// Probe blocks until a message that a receive would match is here, and returns
// its status (MPI-4.0 §3.8.1).
func (e *Engine) Probe(ctx context.Context, source int, cid uint32, tag int32) (progress.Result, error) {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	r := e.loop.Take(owner)
	fill(r, until, kindProbe, source, wire.Imm(cid, tag), nil)
	r.Mode = blocking
	frames.Callers(&r.Place)
	return e.run(r, owner)
}

// Iprobe is Probe that returns false instead of waiting. Local.
func (e *Engine) Iprobe(source int, cid uint32, tag int32) (res progress.Result, ok bool, err error) {
	if !e.loop.Enter() {
		return e.iprobeLater(source, cid, tag)
	}
	if res, ok, err = e.peek(source, cid, tag); !ok && err == nil {
		e.loop.PollOnce()
		res, ok, err = e.peek(source, cid, tag)
	}
	e.loop.Leave()
	if !ok {
		e.loop.Vain()
	}
	return res, ok, err
}

// iprobeLater is Iprobe where another goroutine owns the loop.
func (e *Engine) iprobeLater(source int, cid uint32, tag int32) (res progress.Result, ok bool, err error) {
	e.loop.Glance(func() bool {
		res, ok, err = e.peek(source, cid, tag)
		return ok || err != nil
	})
	return res, ok, err
}

// peek is the message that a probe finds now. err is why none can come. For the owner.
func (e *Engine) peek(source int, cid uint32, tag int32) (res progress.Result, ok bool, err error) {
	if id, found := e.match.PeekUnexpected(cid, int32(source), tag); found {
		return e.result(e.arrivals.at(id)), true, nil
	}
	return res, false, e.noSource(source, cid)
}

// noSource is sourceDown in terms of a context's communicator.
func (e *Engine) noSource(source int, cid uint32) error {
	if e.unlike == 0 {
		return e.sourceDown(source, cid, nil)
	}
	m := e.ranksOf(cid)
	return e.inRanks(cid, m, e.sourceDown(source, cid, m))
}

// Improbe is Iprobe that also takes the message. Local.
func (e *Engine) Improbe(source int, cid uint32, tag int32) (m Message, res progress.Result, ok bool, err error) {
	e.loop.Glance(func() bool {
		id, found := e.match.TakeUnexpected(cid, int32(source), tag)
		if ok = found; ok {
			m, res = e.take(id), e.result(e.arrivals.at(id))
		} else {
			err = e.noSource(source, cid)
		}
		return ok || err != nil
	})
	return m, res, ok, err
}

// Mprobe is Probe that also takes the message.
func (e *Engine) Mprobe(ctx context.Context, source int, cid uint32, tag int32) (Message, progress.Result, error) {
	until := expiry.Of(ctx)
	owner := e.loop.Enter()
	if owner {
		if id, ok := e.match.TakeUnexpected(cid, int32(source), tag); ok {
			m, res := e.take(id), e.result(e.arrivals.at(id))
			e.loop.Leave()
			return m, res, nil
		}
	}
	r := e.loop.Take(owner)
	var b [8]byte // the name of the message comes here
	fill(r, until, kindMprobe, source, wire.Imm(cid, tag), b[:0])
	r.Mode = blocking
	frames.Callers(&r.Place)
	res, err := e.run(r, owner)
	if err != nil {
		return Message{}, res, err
	}
	name := binary.NativeEndian.Uint64(b[:])
	return Message{e, uint32(name), uint32(name >> 32)}, res, nil
}

// take gives an arrival, out of the matching table already, to a matched probe.
func (e *Engine) take(id uint32) Message {
	a := e.arrivals.at(id)
	a.matched = true
	e.claim(a, 1)
	return Message{e, id, a.gen}
}

// Mrecv receives a message of Mprobe or Improbe into b and sets *m to null.
func (e *Engine) Mrecv(ctx context.Context, m *Message, b []byte) (progress.Result, error) {
	return e.MrecvData(ctx, m, &Data{Bytes: b})
}

// Imrecv starts Mrecv. Local.
func (e *Engine) Imrecv(ctx context.Context, m *Message, b []byte) progress.Handle {
	return e.ImrecvData(ctx, m, &Data{Bytes: b})
}

const noMessage = 1<<64 - 1

func (m Message) name() uint64 {
	if m.e == nil {
		return noMessage
	}
	return uint64(m.gen)<<32 | uint64(m.id)
}

// startMrecv gives a matched message to its receive.
func (e *Engine) startMrecv(r *progress.Request) {
	id, gen := uint32(r.Found), uint32(r.Found>>32)
	r.Kind = kindRecv
	if id >= e.arrivals.used || e.arrivals.at(id).gen != gen || !e.arrivals.at(id).matched {
		e.failRecv(r, ErrNoMessage)
		return
	}
	a := e.arrivals.at(id)
	r.Imm, r.Peer = a.imm, int32(a.from)
	if e.unlike > 0 {
		e.join(r, other)
	}
	e.takeArrival(r, id)
}

// startProbe reports a message that is here already, or waits for one.
func (e *Engine) startProbe(r *progress.Request) {
	cid, tag := wire.Match(r.Imm)
	id, ok := uint32(0), false
	if r.Kind == kindMprobe {
		id, ok = e.match.TakeUnexpected(cid, r.Peer, tag)
	} else {
		id, ok = e.match.PeekUnexpected(cid, r.Peer, tag)
	}
	if ok {
		e.probed(r, id)
		return
	}
	if err := e.nothingComes(r, cid); err != nil {
		e.failRecv(r, err)
		return
	}
	r.Step = stepProbing
	e.probes.Add(r)
}

// probed completes a probe with the message it has found.
func (e *Engine) probed(r *progress.Request, id uint32) {
	if r.Kind == kindMprobe {
		binary.NativeEndian.PutUint64(r.Buf[:8], e.take(id).name())
	}
	r.Result = e.result(e.arrivals.at(id))
	e.loop.Finish(r, nil)
}

// offer shows the waiting probes, in order, an arrival that is not in the
// matching table yet. It reports whether one has taken it.
func (e *Engine) offer(id uint32, a *arrival) bool {
	cid, tag := wire.Match(a.imm)
	for r := e.probes.First(); r != nil; {
		next := r.Link
		c, t := wire.Match(r.Imm)
		if c == cid && (t == match.AnyTag || t == tag) && (r.Peer == match.AnySource || r.Peer == int32(a.from)) {
			e.probes.Remove(r)
			taken := r.Kind == kindMprobe
			e.probed(r, id)
			if taken {
				return true
			}
		}
		r = next
	}
	return false
}
