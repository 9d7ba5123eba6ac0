package pt2pt

import (
	"context"

	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// Message is a message that a matched probe has taken: no other receive or
// probe finds it any more (MPI-4.0 §3.8.2). The zero Message is null.
type Message struct {
	e   *Engine
	id  uint32
	gen uint32
}

// Null reports whether m holds no message.
func (m Message) Null() bool { return m.e == nil }

// Probe blocks until a message that a receive would match is here, and tells of
// it (MPI-4.0 §3.8.1).
func (e *Engine) Probe(ctx context.Context, source int, cid uint32, tag int32) (progress.Result, error) {
	r := fill(e.loop.NewShared(), ctx, kindProbe, source, cid, tag, nil)
	callers(&r.Place)
	return e.loop.Do(e, r)
}

// Iprobe is Probe that answers false instead of waiting. It is local.
func (e *Engine) Iprobe(source int, cid uint32, tag int32) (res progress.Result, ok bool, err error) {
	e.loop.Glance(func() bool {
		id, found := e.match.PeekUnexpected(cid, int32(source), tag)
		if ok = found; ok {
			res = e.arrivals.at(id).result()
		} else {
			err = e.sourceDown(source)
		}
		return ok || err != nil
	})
	return res, ok, err
}

// Improbe is Iprobe that also takes the message. It is local.
func (e *Engine) Improbe(source int, cid uint32, tag int32) (m Message, res progress.Result, ok bool, err error) {
	e.loop.Glance(func() bool {
		id, found := e.match.TakeUnexpected(cid, int32(source), tag)
		if ok = found; ok {
			a := e.arrivals.at(id)
			a.matched = true
			m, res = Message{e, id, a.gen}, a.result()
		} else {
			err = e.sourceDown(source)
		}
		return ok || err != nil
	})
	return m, res, ok, err
}

// Mprobe blocks until Improbe finds a message.
func (e *Engine) Mprobe(ctx context.Context, source int, cid uint32, tag int32) (Message, progress.Result, error) {
	for {
		m, res, ok, err := e.Improbe(source, cid, tag)
		if ok || err != nil {
			return m, res, err
		}
		// Another goroutine may take the message first.
		if _, err := e.Probe(ctx, source, cid, tag); err != nil {
			return Message{}, progress.Result{Source: match.AnySource, Tag: match.AnyTag}, err
		}
	}
}

// Mrecv receives a message of Mprobe or Improbe into b and sets *m to null.
func (e *Engine) Mrecv(ctx context.Context, m *Message, b []byte) (progress.Result, error) {
	r := fill(e.loop.NewShared(), ctx, kindMrecv, e.rank, 0, 0, b)
	callers(&r.Place)
	r.Entry = m.name()
	*m = Message{}
	return e.loop.Do(e, r)
}

// Imrecv starts Mrecv. It is local.
func (e *Engine) Imrecv(ctx context.Context, m *Message, b []byte) progress.Handle {
	r := fill(e.loop.NewShared(), ctx, kindMrecv, e.rank, 0, 0, b)
	callers(&r.Place)
	r.Entry = m.name()
	*m = Message{}
	return e.submit(r)
}

// Of reports whether the message was matched by this engine.
func (m Message) Of(e *Engine) bool { return m.e == e }

const noMessage = 1<<64 - 1

func (m Message) name() uint64 {
	if m.e == nil {
		return noMessage
	}
	return uint64(m.gen)<<32 | uint64(m.id)
}

// startMrecv gives a matched message to its receive.
func (e *Engine) startMrecv(r *progress.Request) {
	id, gen := uint32(r.Entry), uint32(r.Entry>>32)
	r.Kind = kindRecv
	if id >= e.arrivals.used || e.arrivals.at(id).gen != gen || !e.arrivals.at(id).matched {
		e.failRecv(r, ErrNoMessage)
		return
	}
	a := e.arrivals.at(id)
	r.Imm, r.Peer = a.imm, int32(a.from)
	e.takeArrival(r, id)
}

// startProbe tells of a message that is here already, or waits for one.
func (e *Engine) startProbe(r *progress.Request) {
	cid, tag := wire.Match(r.Imm)
	if id, ok := e.match.PeekUnexpected(cid, r.Peer, tag); ok {
		r.Result = e.arrivals.at(id).result()
		e.loop.Finish(r, nil)
		return
	}
	if err := e.sourceDown(int(r.Peer)); err != nil {
		e.failRecv(r, err)
		return
	}
	r.Step = stepProbing
	e.probes.add(r)
}

// offer tells the probes that wait of an arrival.
func (e *Engine) offer(a *arrival) {
	cid, tag := wire.Match(a.imm)
	for r := e.probes.head; r != nil; {
		next := r.Link
		c, t := wire.Match(r.Imm)
		if c == cid && (t == match.AnyTag || t == tag) && (r.Peer == match.AnySource || r.Peer == int32(a.from)) {
			e.probes.remove(r)
			r.Result = a.result()
			e.loop.Finish(r, nil)
		}
		r = next
	}
}

func (a *arrival) result() progress.Result {
	_, tag := wire.Match(a.imm)
	return progress.Result{Source: int32(a.from), Tag: tag, Bytes: a.total}
}
