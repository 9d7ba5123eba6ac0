package pt2pt

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/testkit/oracle"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// The operations of a rank, as the driver and the scripts call them. Each tells
// the oracle first.

var background = context.Background()

// context returns a context that can be cancelled, or one that can't.
func (w *simWorld) context(cancellable bool) (context.Context, context.CancelFunc) {
	if cancellable {
		return context.WithCancel(background)
	}
	return background, nil
}

// isend starts a send.
func (r *simRank) isend(mode Mode, dest int, cid uint32, tag int32, n int, cancellable bool) *simReq {
	w := r.w
	ctx, cancel := w.context(cancellable)
	q := w.request(r, false, payload(len(w.reqs), n), cancel)
	q.mode = mode
	w.tell(oracle.Event{Kind: oracle.Send, Rank: r.id, Peer: dest, Context: cid, Tag: tag, Req: q.id, Mode: oracle.Mode(mode), Data: q.buf})
	r.open = append(r.open, q)
	if d := q.data(w.drawShape()); d != nil {
		q.h = r.IsendData(ctx, mode, dest, cid, tag, d)
	} else {
		q.h = r.Isend(ctx, mode, dest, cid, tag, q.buf)
	}
	q.sent()
	return q
}

// sent looks at a send just started: some have to be over.
func (q *simReq) sent() {
	if q.h.Instant() || q.mode == Buffered {
		before := q.r.w.changes
		if !q.test() || q.r.w.changes != before+1 {
			q.r.w.fail("send #%d ended at once, or is buffered, and had not ended", q.id)
		}
	}
}

// irecv starts a receive.
func (r *simRank) irecv(source int, cid uint32, tag int32, room int, cancellable bool) *simReq {
	w := r.w
	ctx, cancel := w.context(cancellable)
	q := w.request(r, true, bytes.Repeat([]byte{oracle.Fill}, room), cancel)
	w.tell(oracle.Event{Kind: oracle.Post, Rank: r.id, Peer: source, Context: cid, Tag: tag, Req: q.id, Room: room})
	r.open = append(r.open, q)
	if d := q.data(w.drawShape()); d != nil {
		q.h = r.IrecvData(ctx, source, cid, tag, d)
	} else {
		q.h = r.Irecv(ctx, source, cid, tag, q.buf)
	}
	return q
}

// sendInit and recvInit make persistent requests and start them.
func (r *simRank) sendInit(mode Mode, dest int, cid uint32, tag int32, n int) {
	q := &simReq{r: r, mode: mode, buf: make([]byte, n)}
	q.start = func(q *simReq) {
		q.fillAgain(payload(q.id, n))
		r.w.tell(oracle.Event{Kind: oracle.Send, Rank: r.id, Peer: dest, Context: cid, Tag: tag, Req: q.id, Mode: oracle.Mode(mode), Data: q.buf})
	}
	if d := q.data(r.w.drawShape()); d != nil {
		q.h = r.SendInitData(background, mode, dest, cid, tag, d)
	} else {
		q.h = r.SendInit(background, mode, dest, cid, tag, q.buf)
	}
	r.startAgain(q)
}

func (r *simRank) recvInit(source int, cid uint32, tag int32, room int) {
	q := &simReq{r: r, recv: true, buf: make([]byte, room)}
	q.start = func(q *simReq) {
		q.fillAgain(bytes.Repeat([]byte{oracle.Fill}, room))
		r.w.tell(oracle.Event{Kind: oracle.Post, Rank: r.id, Peer: source, Context: cid, Tag: tag, Req: q.id, Room: room})
	}
	if d := q.data(r.w.drawShape()); d != nil {
		q.h = r.RecvInitData(background, source, cid, tag, d)
	} else {
		q.h = r.RecvInit(background, source, cid, tag, q.buf)
	}
	r.startAgain(q)
}

// startAgain starts a persistent request that rests, under a new name.
func (r *simRank) startAgain(q *simReq) {
	w := r.w
	next := w.request(r, q.recv, q.buf, nil)
	next.h, next.mode, next.start, next.lay = q.h, q.mode, q.start, q.lay
	q.after = nil // the buffer is in use again
	next.start(next)
	r.open = append(r.open, next)
	if err := progress.Restart(next.h); err != nil {
		w.fail("start of persistent request #%d: %w", next.id, err)
	}
	next.sent()
}

// isendrecv starts a send and a receive as one request.
func (r *simRank) isendrecv(dest int, cid uint32, sendTag int32, n, source int, recvTag int32, room int) {
	w := r.w
	s := w.request(r, false, payload(len(w.reqs), n), nil)
	q := w.request(r, true, bytes.Repeat([]byte{oracle.Fill}, room), nil)
	q.pair = s
	w.tell(oracle.Event{Kind: oracle.Post, Rank: r.id, Peer: source, Context: cid, Tag: recvTag, Req: q.id, Room: room})
	w.tell(oracle.Event{Kind: oracle.Send, Rank: r.id, Peer: dest, Context: cid, Tag: sendTag, Req: s.id, Data: s.buf, With: q.id + 1})
	r.open = append(r.open, q)
	out, in := s.data(w.drawShape()), q.data(w.drawShape())
	if out == nil && in == nil {
		q.h = r.Isendrecv(background, cid, s.buf, dest, sendTag, q.buf, source, recvTag)
		return
	}
	if out == nil {
		out = s.data(ofBytes)
	}
	if in == nil {
		in = q.data(ofBytes)
	}
	q.h = r.IsendrecvData(background, cid, out, dest, sendTag, in, source, recvTag)
}

// release gives a request up that is not persistent; its buffers stay its own.
func (q *simReq) release() {
	w, r := q.r.w, q.r
	for i := range r.open {
		if r.open[i] == q {
			r.open = append(r.open[:i], r.open[i+1:]...)
			break
		}
	}
	w.tell(oracle.Event{Kind: oracle.Release, Rank: r.id, Req: q.id})
	if _, err := progress.Release(&q.h); err != nil {
		w.fail("release of request #%d: %w", q.id, err)
	}
	q.ended = true
}

// iprobe looks for a message, and takes it with claim.
func (r *simRank) iprobe(source int, cid uint32, tag int32, claim bool) bool {
	w := r.w
	e := oracle.Event{Kind: oracle.Probe, Rank: r.id, Peer: source, Context: cid, Tag: tag}
	var msg Message
	var res progress.Result
	var err error
	if claim {
		e.Kind, e.Req = oracle.Claim, len(w.reqs)
		msg, res, e.Found, err = r.Improbe(source, cid, tag)
	} else {
		res, e.Found, err = r.Iprobe(source, cid, tag)
	}
	e.Class = classify(err)
	if e.Found {
		e.FoundPeer, e.FoundTag, e.Length = int(res.Source), res.Tag, int(res.Bytes)
		if claim {
			w.reqs = append(w.reqs, nil)
			r.claims = append(r.claims, simClaim{e.Req, e.Length, msg})
		}
	}
	w.tell(e)
	return e.Found
}

// imrecv receives a message that was claimed.
func (r *simRank) imrecv(i, room int) *simReq {
	w, c := r.w, r.claims[i]
	r.claims = append(r.claims[:i], r.claims[i+1:]...)
	q := w.request(r, true, bytes.Repeat([]byte{oracle.Fill}, room), nil)
	w.tell(oracle.Event{Kind: oracle.Receive, Rank: r.id, Peer: c.id, Req: q.id, Room: room})
	r.open = append(r.open, q)
	if d := q.data(w.drawShape()); d != nil {
		q.h = r.ImrecvData(background, &c.msg, d)
	} else {
		q.h = r.Imrecv(background, &c.msg, q.buf)
	}
	return q
}

// await starts a probe that waits.
func (r *simRank) await(source int, cid uint32, tag int32) *simReq {
	w := r.w
	q := w.request(r, true, nil, nil)
	q.probe = true
	w.tell(oracle.Event{Kind: oracle.Await, Rank: r.id, Peer: source, Context: cid, Tag: tag, Req: q.id})
	r.open = append(r.open, q)
	probe := r.loop.NewShared()
	fill(probe, expiry.Of(background), kindProbe, source, wire.Imm(cid, tag), nil)
	q.h = r.start(probe, false)
	return q
}

// withdraw asks to cancel a request and looks what became of it.
func (q *simReq) withdraw() {
	if q.cancelled || q.ended || q.pair != nil { // of a pair one part could be
		return
	}
	q.cancelled = true
	q.r.w.tell(oracle.Event{Kind: oracle.Cancel, Rank: q.r.id, Req: q.id})
	if q.cancel != nil {
		q.cancel()
	} else if _, _, err := progress.Cancel(q.h); err != nil {
		q.r.w.fail("cancel of request #%d: %w", q.id, err)
	}
	q.test()
}

// test asks whether a request has ended.
func (q *simReq) test() bool {
	q.r.w.note("rank %d tests #%d", q.r.id, q.id)
	ended, st, err := progress.Test(&q.h)
	if ended {
		q.end(st, err)
	} else if err != nil {
		q.r.w.fail("test of request #%d: %w", q.id, err)
	}
	return ended
}

// testAll asks whether all of some requests have ended.
func (r *simRank) testAll(qs []*simReq) {
	hs, out := make([]progress.Handle, len(qs)), make([]progress.Status, len(qs))
	for i, q := range qs {
		hs[i] = q.h
		r.w.note("rank %d tests #%d with others", r.id, q.id)
	}
	ok, err := progress.TestAll(hs, out)
	if err != nil {
		r.w.fail("TestAll of rank %d: %w", r.id, err)
	}
	if ok {
		for i, q := range qs {
			err := out[i].Err
			q.end(out[i], err)
		}
	}
}

// testSome asks which of some requests have ended.
func (r *simRank) testSome(qs []*simReq) {
	hs, out, indices := make([]progress.Handle, len(qs)), make([]progress.Status, len(qs)), make([]int, len(qs))
	for i, q := range qs {
		hs[i] = q.h
	}
	r.w.note("rank %d tests some of %d", r.id, len(qs))
	n, err := progress.TestSome(hs, indices, out)
	if err != nil {
		r.w.fail("TestSome of rank %d: %w", r.id, err)
	}
	for i := range max(n, 0) {
		qs[indices[i]].end(out[i], out[i].Err)
	}
}

// testAny asks whether any of some requests has ended.
func (r *simRank) testAny(qs []*simReq) {
	hs := make([]progress.Handle, len(qs))
	for i, q := range qs {
		hs[i] = q.h
	}
	r.w.note("rank %d tests any of %d", r.id, len(qs))
	if ok, i, st, err := progress.TestAny(hs); i >= 0 && ok {
		qs[i].end(st, err)
	} else if err != nil {
		r.w.fail("TestAny of rank %d: %w", r.id, err)
	}
}

// pending compares what the engine says is pending with what the oracle knows.
func (r *simRank) pending() {
	got, want := map[string]int{}, map[string]int{}
	for _, p := range r.Pending() {
		key := fmt.Sprintf("%v of %d, context %d, tag %d, %d bytes", p.What, p.Peer, p.Context, p.Tag, p.Bytes)
		switch {
		case p.What == Unexpected, p.What == Receive && p.State == steps[stepPosted]:
			got[key]++
		case p.What == Matched:
			got["matched"]++
		}
	}
	for _, m := range r.w.check.Unexpected(r.id) {
		want[fmt.Sprintf("%v of %d, context %d, tag %d, %d bytes", Unexpected, m.Peer, m.Context, m.Tag, m.Bytes)]++
	}
	for _, q := range r.w.check.Posted(r.id) {
		want[fmt.Sprintf("%v of %d, context %d, tag %d, %d bytes", Receive, q.Peer, q.Context, q.Tag, q.Bytes)]++
	}
	if n := len(r.claims); n > 0 {
		want["matched"] = n
	}
	if !maps.Equal(got, want) {
		r.w.fail("rank %d: pending is %v, it should be %v", r.id, got, want)
	}
}

// pumpContext is that of probes that find nothing.
const pumpContext = 1 << 20

// poll turns the rank's loop once.
func (r *simRank) poll() {
	r.w.note("rank %d polls", r.id)
	if _, ok, err := r.Iprobe(r.id, pumpContext, 0); ok || err != nil {
		r.w.fail("a probe for nothing: %t, %v", ok, err)
	}
}
