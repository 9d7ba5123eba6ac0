package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/timeline"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// tracer puts messages into the rank's timeline. Both ends of a message number it alike,
// by counting those from one rank to the other: packets of a pair of ranks stay in order.
// An engine without a timeline has none, and then neither short sends nor packets of
// messages check for it: the former go another way by their peer's gate, and the latter
// come through another sink (tracing). It belongs to the owner of the loop.
type tracer struct {
	log     *timeline.Log
	out, in []uint64 // messages to each rank so far, and from each
	coming  coming   // the message that is being delivered
	live    []course // of requests, by index
	kept    map[uint32]coming
	names   [pathKinds]timeline.Name
}

// coming is a message that has come.
type coming struct {
	imm  uint64
	seq  uint64 // 0: there is none
	at   int64
	from int32
}

// course is how far the message of a request is.
type course struct {
	coming       // of a receive; of a send seq, and at, which is when it has left
	moving int64 // since when its bytes move by themselves
	path   uint8 // of a receive
}

// trace begins to put messages into the loop's timeline, if it has one.
func (e *Engine) trace() {
	log := e.loop.Timeline()
	if log == nil {
		return
	}
	t := &tracer{log: log, out: make([]uint64, len(e.peers)), in: make([]uint64, len(e.peers)), kept: map[uint32]coming{}}
	for p := pathEager; p < pathKinds; p++ {
		t.names[p] = log.Name(pathNames[p])
	}
	e.tracer = t
	for i := range e.peers {
		e.peers[i].gate = traced
	}
	e.loop.Divert(tracing{e}, wire.Eager, wire.EagerFirst, wire.EagerSync, wire.EagerReady, wire.RTS)
}

// tracing is the engine to the packets that begin messages.
type tracing struct{ *Engine }

// Deliver takes the first packet of a message.
func (x tracing) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	t := x.tracer
	t.in[from]++
	t.coming = coming{imm, t.in[from], timeline.Now(), int32(from)}
	x.Engine.Deliver(from, kind, imm, hdr, body)
	t.coming.seq = 0
}

// sendTraced is sendNow where a timeline is recorded.
func (e *Engine) sendTraced(mode Mode, dest int, imm uint64, b []byte) bool {
	kind, t, p := kindNow[mode], e.tracer, &e.peers[dest]
	if len(b) > p.short || p.gate != traced || dest == e.rank || kind == 0 {
		return false
	}
	begin := timeline.Now()
	c := e.loop.Conn(fabric.Peer(dest))
	if c.Down() != nil || c.Send(kind, imm, nil, b) != nil {
		return false
	}
	end := timeline.Now() // all of it is one phase: it has left at once
	cid, tag := wire.Match(imm)
	t.out[dest]++
	t.log.Add(timeline.Span{Kind: timeline.Send, Begin: begin, End: end, Peer: int32(dest), Tag: tag, Context: cid,
		Bytes: uint64(len(b)), Seq: t.out[dest], Path: t.names[pathEager]})
	if p.traffic.sent[pathEager].Add(uint64(len(b)))%lookEvery == 0 {
		e.loop.Look()
	}
	return true
}

// of is the course of a request.
func (t *tracer) of(r *progress.Request) *course {
	for int(r.Index()) >= len(t.live) {
		t.live = append(t.live, make([]course, 64)...)
	}
	return &t.live[r.Index()]
}

// left notes that the message of a send, or its announcement, has left.
func (t *tracer) left(r *progress.Request) {
	t.out[r.Peer]++
	*t.of(r) = course{coming: coming{seq: t.out[r.Peer], at: timeline.Now()}}
}

// moves notes that the bytes of a request begin to move, or do so on another path.
func (t *tracer) moves(r *progress.Request, path uint8) {
	c := t.of(r)
	c.moving, c.path = timeline.Now(), path
}

// takes notes that a receive has its message: the one that is being delivered, unless it
// has had one already. What follows in the same delivery is about other messages.
func (t *tracer) takes(r *progress.Request, path uint8) {
	c := t.of(r)
	if c.path = path; c.seq == 0 {
		c.coming, t.coming.seq = t.coming, 0
	}
}

// keeps notes that the message that is being delivered waits for a receive.
func (t *tracer) keeps(arrival uint32) {
	if t.coming.seq > 0 {
		t.kept[arrival] = t.coming
		t.coming.seq = 0
	}
}

// gives notes that a receive takes a message that has waited.
func (t *tracer) gives(r *progress.Request, arrival uint32) {
	*t.of(r) = course{coming: t.kept[arrival], path: pathEager}
}

// self begins the delivery of a send to this rank itself.
func (t *tracer) self(r *progress.Request) {
	t.left(r)
	t.coming = coming{r.Imm, t.out[r.Peer], timeline.Now(), r.Peer}
}

// Record puts a message into the timeline, from its end of this rank.
func (e *Engine) Record(r *progress.Request, began int64, failed bool) bool {
	t := e.tracer
	c := t.of(r)
	imm, path := r.Imm, r.Path
	s := timeline.Span{Begin: began, End: timeline.Now(), Peer: max(r.Peer, -1), Failed: failed}
	switch r.Kind {
	case kindSend:
		s.Kind, s.Bytes = timeline.Send, r.Size()
	case kindRecv:
		if c.seq == 0 && r.Peer != ProcNull && (!failed || r.Result.Bytes > 0) { // a longer message than the buffer has failed it
			t.takes(r, pathEager)
		}
		s.Kind, s.Bytes, path = timeline.Recv, r.Result.Bytes, c.path
		if c.seq > 0 {
			imm, s.Peer = c.imm, c.from
		}
		if s.Peer == int32(e.rank) {
			path = pathSelf
		}
	default:
		return true
	}
	s.Context, s.Tag = wire.Match(imm)
	s.Seq, s.Announced, s.Moving, s.Path = c.seq, c.at, c.moving, t.names[path]
	*c = course{}
	if s.Seq > 0 || failed { // others have no message: to ProcNull, or of a copy that has a request of its own
		t.log.Add(s)
	}
	return true
}
