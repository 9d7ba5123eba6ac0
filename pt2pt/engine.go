package pt2pt

import (
	"context"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// Wildcards of a receive (MPI-4.0 §3.2.4).
const (
	AnySource = int(match.AnySource)
	AnyTag    = match.AnyTag
)

// Engine is the point-to-point protocol of one rank. Send, Recv, Isend and
// Irecv are for any goroutine; the rest belongs to the owner of the loop.
type Engine struct {
	loop  *progress.Loop
	rank  int
	caps  fabric.Caps
	short int // longest message that is eager wherever it lies
	match match.Table
	peers []peer
	marks marks

	arrivals arrivals
	buffers  buffers
	hdr      [fabric.MaxHeader]byte // of the packet being sent
}

// peer is what the engine knows of another rank.
type peer struct {
	in inbound // its message that is arriving in chunks

	unexpected uint64 // bytes of its messages that wait here for a receive
	held       int    // their number
	down       bool
	stopped    bool // we have sent it Xoff
	xoff       bool // it has sent us Xoff
}

// Kinds of requests.
const (
	kindSend uint8 = iota + 1
	kindRecv
)

// Steps of a request.
const (
	stepEager   uint8 = iota + 1 // send: one packet to go
	stepChunks                   // send: packets to go from Offset on
	stepRTS                      // send: the RTS to go
	stepAwait                    // send: the receiver reads, or sends CTS
	stepFrags                    // send: fragments to go from Offset on
	stepSelf                     // send: to ourselves, not received yet
	stepPosted                   // receive: in the matching table
	stepChunked                  // receive: chunks arrive
	stepGet                      // receive: the Get to go
	stepGetting                  // receive: the Get is under way
	stepData                     // receive: fragments arrive
)

// New makes the engine of a rank and registers it with the loop.
func New(l *progress.Loop, rank, size int) *Engine {
	e := &Engine{loop: l, rank: rank, caps: l.Domain().Caps(), peers: make([]peer, size)}
	e.marks = marks{highWater, lowWater, mostHeld, fewHeld}
	e.short = min(e.caps.MaxEager, e.caps.GetMinMapped-1, e.caps.GetMin-1)
	l.Handle(e, wire.Eager, wire.EagerFirst, wire.EagerMore, wire.RTS, wire.CTS, wire.Data, wire.FIN, wire.Xoff, wire.Xon)
	return e
}

// Send blocks until b may be used again: the message has been received or
// copied (MPI-4.0 §3.4, standard mode).
func (e *Engine) Send(ctx context.Context, dest int, cid uint32, tag int32, b []byte) error {
	l := e.loop
	if !l.Enter() {
		r := fill(l.NewShared(), ctx, kindSend, dest, cid, tag, b)
		_, err := l.Do(e, r)
		return err
	}
	if e.sendNow(dest, wire.Imm(cid, tag), b) {
		l.Leave()
		return nil
	}
	r := fill(l.New(), ctx, kindSend, dest, cid, tag, b)
	l.Begin(e, r)
	_, err := l.Await(r)
	return err
}

// Recv blocks until a message has been received into b.
func (e *Engine) Recv(ctx context.Context, source int, cid uint32, tag int32, b []byte) (progress.Result, error) {
	l := e.loop
	if !l.Enter() {
		return l.Do(e, fill(l.NewShared(), ctx, kindRecv, source, cid, tag, b))
	}
	r := fill(l.New(), ctx, kindRecv, source, cid, tag, b)
	if l.Adopt(e, r) {
		e.startRecv(r)
	}
	return l.Await(r)
}

// Isend starts a send. It is local; b is the engine's until the request ends.
func (e *Engine) Isend(ctx context.Context, dest int, cid uint32, tag int32, b []byte) progress.Handle {
	l := e.loop
	if !l.Enter() {
		return e.submit(ctx, kindSend, dest, cid, tag, b)
	}
	if e.sendNow(dest, wire.Imm(cid, tag), b) {
		h := l.Instant()
		l.Leave()
		return h
	}
	r := fill(l.New(), ctx, kindSend, dest, cid, tag, b)
	h := r.Handle()
	l.Begin(e, r)
	l.Leave()
	return h
}

// Irecv starts a receive. It is local; b is the engine's until the request
// ends.
func (e *Engine) Irecv(ctx context.Context, source int, cid uint32, tag int32, b []byte) progress.Handle {
	l := e.loop
	if !l.Enter() {
		return e.submit(ctx, kindRecv, source, cid, tag, b)
	}
	r := fill(l.New(), ctx, kindRecv, source, cid, tag, b)
	h := r.Handle()
	if l.Adopt(e, r) {
		e.startRecv(r)
	}
	l.Leave()
	return h
}

// submit leaves an operation to the owner of the loop.
func (e *Engine) submit(ctx context.Context, kind uint8, peer int, cid uint32, tag int32, b []byte) progress.Handle {
	r := fill(e.loop.NewShared(), ctx, kind, peer, cid, tag, b)
	h := r.Handle()
	e.loop.Submit(e, r)
	return h
}

func fill(r *progress.Request, ctx context.Context, kind uint8, peer int, cid uint32, tag int32, b []byte) *progress.Request {
	r.Kind, r.Peer, r.Imm, r.Buf, r.Offset = kind, int32(peer), wire.Imm(cid, tag), b, 0
	if ctx != nil && ctx.Done() != nil {
		r.Ctx = ctx
	}
	return r
}

// Start begins a request.
func (e *Engine) Start(r *progress.Request) {
	switch {
	case r.Kind == kindRecv:
		e.startRecv(r)
	case int(r.Peer) == e.rank:
		e.sendSelf(r)
	default:
		e.startSend(r)
	}
}

// Resume goes on with a request whose turn in its peer's backlog has come.
func (e *Engine) Resume(r *progress.Request) error {
	ep := e.loop.Conn(fabric.Peer(r.Peer)).Endpoint()
	if e.peers[r.Peer].xoff && r.Step <= stepChunks && r.Offset == 0 && len(r.Buf) > 0 {
		// The peer has had enough since the request joined the backlog.
		r.Step = stepRTS
		r.Region = e.register(r.Buf, fabric.RemoteRead)
	}
	switch r.Step {
	case stepEager:
		return e.sendEager(ep, r)
	case stepChunks:
		return e.sendChunks(ep, r)
	case stepRTS:
		return e.sendRTS(ep, r)
	case stepFrags:
		return e.sendFrags(ep, r)
	case stepGet:
		return e.get(ep, r)
	}
	return nil
}

// Deliver takes a packet. One that breaks the protocol ends its sender.
func (e *Engine) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	if kind == wire.Eager {
		e.onEager(from, imm, body)
		return
	}
	ok := true
	switch kind {
	case wire.EagerFirst:
		ok = wire.First(hdr).Valid() && e.onFirst(from, imm, wire.First(hdr).Length(), body)
	case wire.EagerMore:
		ok = e.onMore(from, body)
	case wire.RTS:
		if ok = wire.RTSHeader(hdr).Valid(); ok {
			e.onRTS(from, imm, wire.RTSHeader(hdr))
		}
	case wire.CTS:
		ok = wire.CTSHeader(hdr).Valid() && e.onCTS(from, imm, wire.CTSHeader(hdr))
	case wire.Data:
		ok = wire.DataHeader(hdr).Valid() && e.onData(from, imm, wire.DataHeader(hdr).Offset(), body)
	case wire.FIN:
		ok = wire.FINHeader(hdr).Valid() && e.onFIN(from, imm, wire.FINHeader(hdr).Failed())
	case wire.Xoff, wire.Xon:
		e.peers[from].xoff = kind == wire.Xoff
	}
	if !ok {
		e.loop.PeerDown(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a packet of kind %d that nothing here asked for", fabric.ErrPeerDown, kind)})
	}
}

// Complete takes the end of a Get.
func (e *Engine) Complete(r *progress.Request, err error) { e.onGot(r, err) }
