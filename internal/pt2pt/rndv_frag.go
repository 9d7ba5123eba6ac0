package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// askFrags asks the sender of an announced message for its first n bytes in
// fragments, because the fabric can't read them.
func (e *Engine) askFrags(r *progress.Request, n uint64) {
	e.release(r)
	if e.tracer != nil {
		e.tracer.moves(r, pathFrags)
	}
	r.Step, r.Moved = stepData, 0
	e.loop.Conn(fabric.Peer(r.Peer)).Post(wire.CTS, r.Other, wire.MakeCTS(e.hdr[:], uint64(r.Op()), n, wire.Outcome(r.Outcome) == wire.Late))
}

// wanted returns the announced send with the request to, whose receiver asks for
// its first limit bytes, or nil. late means that the send was ready and its
// receive was not posted.
func (e *Engine) wanted(from fabric.Peer, op, to, limit uint64, late bool) *progress.Request {
	r := e.loop.Named(e, op)
	if r == nil || r.Kind != kindSend || r.Step != stepAwait || r.Peer != int32(from) || limit > r.Size() {
		return nil
	}
	r.Other, r.Limit, r.Outcome = to, limit, uint8(wire.Received)
	if late {
		r.Outcome = uint8(wire.Late)
	}
	return r
}

func (e *Engine) onCTS(from fabric.Peer, op uint64, h wire.CTSHeader) bool {
	r := e.wanted(from, op, h.Request(), h.Limit(), h.Late())
	if r == nil {
		return false
	}
	r.Step, r.Path, r.Moved = stepFrags, pathFrags, 0
	if e.tracer != nil {
		e.tracer.moves(r, pathFrags)
	}
	c := e.loop.Conn(from)
	if c.Busy() || e.sendFrags(c.Endpoint(), r) == fabric.ErrAgain {
		c.Enqueue(r)
	}
	return true
}

// sendFrags sends fragments as long as there is room. The last one completes the
// send: everything has been copied.
func (e *Engine) sendFrags(ep fabric.Endpoint, r *progress.Request) error {
	for end := r.Limit; r.Moved < end; {
		next := min(r.Moved+uint64(e.peers[r.Peer].caps.MaxEager), end)
		err := e.sendPart(ep, wire.Data, r.Other, wire.MakeNumber(e.hdr[:], r.Moved), r, r.Moved, next)
		if err == fabric.ErrAgain {
			return err
		}
		if err != nil {
			e.finishSend(r, err)
			return err
		}
		r.Moved = next
	}
	e.finishSend(r, received(fabric.Peer(r.Peer), wire.Outcome(r.Outcome)))
	return nil
}

func (e *Engine) onData(from fabric.Peer, op, offset uint64, body []byte) bool {
	r := e.loop.Named(e, op)
	if r == nil || r.Kind != kindRecv || r.Step != stepData && r.Step != stepGranted || r.Peer != int32(from) {
		return false
	}
	if r.Step == stepGranted { // its fabric can't write there
		e.release(r)
		r.Step = stepData
		if e.tracer != nil {
			e.tracer.moves(r, pathFrags)
		}
	}
	n := min(r.Size(), r.Length)
	if offset != r.Moved || uint64(len(body)) > n-offset || len(body) == 0 {
		return false
	}
	put(r, offset, body)
	if r.Moved += uint64(len(body)); r.Moved == n {
		_, tag := wire.Match(r.Imm)
		e.peers[from].traffic.received[pathFrags].Add(r.Length)
		e.finishRecv(r, int(from), tag, r.Length)
	}
	return true
}
