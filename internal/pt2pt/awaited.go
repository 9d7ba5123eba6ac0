package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// awaited is the receive of the blocking call that owns the loop and spins. It has no
// request and is not in the matching table until it needs one: where its message takes
// another path than one packet, or does not come while the call spins. No receive was
// posted before it and no message is unexpected, so it is the first to match.
type awaited struct {
	from  int32 // the source, or notAwaited
	ended bool  // the message is in buf, or the receive has a request
	imm   uint64
	buf   []byte
	room  Data              // where a message comes that buf is too short for: a layout, or nothing
	n     int               // the message's length
	r     *progress.Request // or nil
	calls uint32            // of timed
}

// notAwaited is no rank.
const notAwaited = -2

// awaitable reports whether a receive may begin as awaited.
func (e *Engine) awaitable(source int) bool {
	return uint(source) < uint(len(e.peers)) && e.match.Posted()+e.match.Unexpected() == 0 &&
		e.unlike == 0 && e.tracer == nil &&
		source != e.rank && e.loop.Connected(fabric.Peer(source))
}

// timedEvery is one in how many receives is timed. A power of two.
const timedEvery = 256

// timed reports whether the call takes a request in any case, so that its time is measured.
func (w *awaited) timed() bool {
	w.calls++
	return w.calls%timedEvery == 0
}

// await begins an awaited receive and spins until it has ended, or for as long as a wait
// does. It reports whether the message came: its length is n. For the owner.
func (e *Engine) await(source int, imm uint64, b []byte) bool {
	w := &e.awaited
	w.from, w.imm, w.buf, w.ended = int32(source), imm, b, false
	e.loop.Spin(&w.ended)
	return w.ended && w.r == nil
}

// giveUp ends an awaited receive whose message has not come, and returns its request if
// it has got one.
func (w *awaited) giveUp() (r *progress.Request) {
	r = w.r
	w.from, w.buf, w.room, w.r = notAwaited, nil, Data{}, nil
	return r
}

// arrives gives the awaited receive its message, or returns false if it is for another.
func (w *awaited) arrives(from fabric.Peer, imm uint64, body []byte) bool {
	if w.from != int32(from) || w.imm != imm {
		return false
	}
	if len(body) <= len(w.buf) {
		place(w.buf, body)
	} else if uint64(len(body)) <= w.room.Size {
		w.room.Layout.Unpack(body, 0)
	} else {
		return false
	}
	w.from, w.buf, w.n, w.ended = notAwaited, nil, len(body), true
	return true
}

// post posts the awaited receive, before a message is matched in another way.
func (e *Engine) post() {
	w := &e.awaited
	if w.from == notAwaited {
		return
	}
	r := e.loop.New()
	fill(r, expiry.Expiry{}, kindRecv, int(w.from), w.imm, w.buf)
	if w.room.Layout != nil {
		r.SetLayout(w.room.Layout, w.room.Size)
	}
	r.Mode = blocking
	w.from, w.r, w.ended = notAwaited, r, true
	e.loop.Begin(e, r)
}

// arrive takes the posted receive that a message matches.
func (e *Engine) arrive(from fabric.Peer, imm uint64) (id uint32, ok bool) {
	e.post()
	cid, tag := wire.Match(imm)
	return e.match.Arrive(cid, int32(from), tag)
}
