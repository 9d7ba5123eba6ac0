package pt2pt

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// maxChunked bounds the length that a peer may announce for a message in chunks.
const maxChunked = fabric.MaxRndvMin

// sendChunks sends a message in several packets: the receiver copies one out
// while the next is copied in. No packet of another message comes between them,
// since a send that has begun stays at the head of its peer's backlog.
func (e *Engine) sendChunks(ep fabric.Endpoint, r *progress.Request) error {
	for n := r.Size(); r.Moved < n; {
		next := min(r.Moved+uint64(e.peers[r.Peer].caps.Chunk), n)
		var err error
		if r.Moved == 0 {
			err = e.sendPart(ep, wire.EagerFirst, r.Imm, wire.MakeFirst(e.hdr[:], n, Mode(r.Mode) == Ready), r, 0, next)
		} else {
			err = e.sendPart(ep, wire.EagerMore, 0, nil, r, r.Moved, next)
		}
		if err == fabric.ErrAgain {
			return err
		}
		if err != nil {
			e.finishSend(r, err)
			return err
		}
		if e.tracer != nil && r.Moved == 0 {
			e.tracer.left(r)
			e.tracer.moves(r, pathChunks)
		}
		r.Moved = next
	}
	e.finishSend(r, nil)
	return nil
}

// inbound is a message that arrives in chunks: towards a receive, or towards
// an arrival that waits for one.
type inbound struct {
	r       *progress.Request
	arrival uint32
	dropped bool   // it goes nowhere, see freed.go
	total   uint64 // 0: none
	got     uint64
}

func (e *Engine) onFirst(from fabric.Peer, imm uint64, h wire.First, body []byte) bool {
	in := &e.peers[from].in
	total := h.Length()
	if in.total != 0 || total > maxChunked || uint64(len(body)) >= total {
		return false
	}
	in.total, in.got = total, uint64(len(body))
	if id, ok := e.arrive(from, imm); ok {
		_, tag := wire.Match(imm)
		e.receiveChunks(e.loop.Request(id), from, tag, body)
		return true
	}
	if e.shut > 0 && e.deafTo(imm) {
		in.dropped = true
		e.refuse(from, wire.EagerFirst, imm, 0, total)
		return true
	}
	id, a := e.arrivals.take()
	a.from, a.imm, a.kind, a.total, a.ready = uint32(from), imm, wire.EagerFirst, total, h.Ready()
	e.arrivals.store(a, append(e.buffers.take(int(total)), body...))
	in.r, in.arrival = nil, id
	e.keep(id, a)
	return true
}

// receiveChunks continues the peer's arriving message in a receive; body is what
// has arrived so far.
func (e *Engine) receiveChunks(r *progress.Request, from fabric.Peer, tag int32, body []byte) {
	put(r, 0, body)
	r.Step, r.Peer = stepChunked, int32(from)
	r.Imm = wire.Imm(uint32(r.Imm>>32), tag)
	e.peers[from].in.r = r
	if e.tracer != nil {
		e.tracer.takes(r, pathChunks)
		e.tracer.moves(r, pathChunks)
	}
}

func (e *Engine) onMore(from fabric.Peer, body []byte) bool {
	in := &e.peers[from].in
	if in.total == 0 || uint64(len(body)) > in.total-in.got {
		return false
	}
	if r := in.r; r != nil {
		put(r, in.got, body)
	} else if !in.dropped {
		b := &e.arrivals.bodies[e.arrivals.at(in.arrival).body]
		*b = append(*b, body...)
	}
	in.got += uint64(len(body))
	if in.got < in.total {
		return true
	}
	e.peers[from].traffic.received[pathChunks].Add(in.total)
	if r := in.r; r != nil {
		_, tag := wire.Match(r.Imm)
		e.finishRecv(r, int(from), tag, in.total)
	}
	*in = inbound{}
	return true
}
