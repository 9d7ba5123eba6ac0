package pt2pt

import (
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// Wildcards of a receive (MPI-4.0 §3.2.4).
const (
	AnySource = int(match.AnySource)
	AnyTag    = match.AnyTag
	// ProcNull is the peer of communication that does nothing: a send to it
	// completes at once, a receive from it is empty (MPI-4.0 §3.10).
	ProcNull = -3
)

// Package progress has the wildcards too, for the empty status.
const (
	_ = uint(progress.AnySource-match.AnySource) + uint(match.AnySource-progress.AnySource)
	_ = uint(progress.AnyTag-match.AnyTag) + uint(match.AnyTag-progress.AnyTag)
)

// Engine is the point-to-point protocol of one rank. What calls.go, probe.go
// and buffered.go export is for any goroutine; the rest belongs to the owner of
// the loop.
type Engine struct {
	loop    *progress.Loop
	rank    int
	caps    *fabric.Caps // of messages to ourselves
	traffic []*traffic   // by transport
	match   match.Table
	unlike  int32 // communicators with ranks of their own, closed or forbidden: see join
	shut    int32 // communicators whose messages are dropped
	peers   []peer
	downs   int // how many of them are down
	log     *slog.Logger

	contexts  contexts
	arrivals  arrivals
	buffers   buffers
	probes    progress.List // Probe requests that wait for a message
	dead      error         // of another rank, the first: no collective call can complete any more
	alone     error         // why there is no other rank left, or nil
	limits    Limits
	held      heldTotal
	waited    waited
	attached  map[uint32]*attached
	named     map[name]match.Entry           // unexpected messages by name, see nameOf; nil while none is asked back
	asked     map[uint64]asked               // sends that were asked back, by operation
	lates     uint64                         // ready sends that came before their receive
	pairErrs  map[*progress.Request]error    // of pairs of which one half has failed
	halfEnded func(*progress.Request, error) // endHalf, made once
	informed  bool                           // see Informed
	unsure    map[uint32]error               // see Pend; nil while there is none
	forbidden map[uint32]ban                 // contexts whose collective calls have failed; nil while there are none
	hdr       [fabric.MaxHeader]byte         // of the packet being sent
	packed    []byte                         // see piece
	header    uint64                         // see Head
	tracer    *tracer                        // nil unless a timeline is recorded
	awaited   awaited
}

// peer is what the engine knows of another rank.
type peer struct {
	caps    *fabric.Caps // of the fabric it is reached over
	traffic *traffic     // of that fabric
	short   int          // longest message that is eager wherever it lies
	in      inbound      // its message that is arriving in chunks

	unexpected uint64 // bytes of its messages that wait here for a receive
	held       int    // their number
	down       bool
	dead       bool              // and it has not left in order
	told       wire.Level        // the level we have announced to it
	gate       gate              // why a send to it can't simply go
	waiting    progress.List     // sends that its level does not permit yet
	turn       *progress.Request // of waiting, in the backlog
	takes      wire.Level        // the level it has announced to us
}

// gate says why a send to a peer does not simply go.
type gate uint8

const (
	announceOnly gate = 1 << iota // its level permits announcements
	closed                        // its level permits nothing, or earlier sends wait
	traced                        // its messages are recorded
)

// Kinds of requests.
const (
	kindSend uint8 = iota + 1
	kindRecv
	kindMrecv // becomes kindRecv when it starts
	kindProbe
	kindMprobe // takes the message it finds
	kindFlush
	kindPair
)

// Mode is how a send completes (MPI-4.0 §3.4).
type Mode uint8

const (
	Standard    Mode = iota
	Synchronous      // once its receive has begun
	Ready            // as Standard; the receive is posted already
	Buffered         // at once, from a copy in attached memory
	modes
)

// Steps of a request.
const (
	stepEager   uint8 = iota + 1 // send: one packet to go
	stepSync                     // send: one packet to go, then stepAwait
	stepChunks                   // send: packets to go from Moved on
	stepRTS                      // send: the RTS to go
	stepHeld                     // send: the peer's level permits nothing at present
	stepAwait                    // send: the receiver reads, sends CTS or FIN
	stepFrags                    // send: fragments to go from Moved on
	stepPut                      // send: the Put to go
	stepPutting                  // send: the Put is under way
	stepSelf                     // send: to ourselves, not received yet
	stepPosted                   // receive: in the matching table
	stepChunked                  // receive: chunks arrive
	stepGet                      // receive: the Get to go
	stepGetting                  // receive: the Get is under way
	stepGranted                  // receive: the sender writes
	stepData                     // receive: fragments arrive
	stepProbing                  // probe: no message yet
	stepFlush                    // flush: the attached memory is in use
	stepPair                     // a send and a receive, at least one unfinished
)

// New makes the engine of a rank and registers it with the loop.
func New(l *progress.Loop, rank, size int) *Engine {
	e := &Engine{loop: l, rank: rank, peers: make([]peer, size), log: l.Log(),
		limits: DefaultLimits, attached: map[uint32]*attached{}, asked: map[uint64]asked{}, pairErrs: map[*progress.Request]error{}}
	e.halfEnded, e.awaited.from = e.endHalf, notAwaited
	e.waited.announce, e.waited.hold = l.NewStopwatch(), l.NewStopwatch()
	known, traffics := map[fabric.Domain]*fabric.Caps{}, map[fabric.Domain]*traffic{}
	for i := range e.peers {
		d := l.Via(fabric.Peer(i))
		if known[d] == nil {
			caps := d.Caps()
			known[d], traffics[d] = &caps, &traffic{sample: fabric.Peer(i)}
			e.traffic = append(e.traffic, traffics[d])
		}
		p := &e.peers[i]
		p.caps, p.traffic = known[d], traffics[d]
		p.short = min(p.caps.MaxEager, p.caps.RndvMinMapped-1, p.caps.RndvMin-1)
	}
	e.caps = e.peers[rank].caps
	l.HandleCounts(e.uncount)
	l.Handle(e, wire.Eager, wire.EagerFirst, wire.EagerMore, wire.EagerSync, wire.EagerReady,
		wire.RTS, wire.CTS, wire.Data, wire.FIN, wire.Cancel, wire.Cancelled, wire.Flow,
		wire.Grant, wire.Written, wire.Dead)
	e.trace()
	return e
}

// Start begins a request.
func (e *Engine) Start(r *progress.Request) {
	if e.unlike > 0 && (!e.join(r, kindOf(r)) || e.forbids(r)) {
		return
	}
	switch {
	case r.Peer == ProcNull:
		r.Result = progress.Result{Source: ProcNull, Tag: AnyTag}
		e.loop.Finish(r, nil)
	case r.Kind == kindRecv:
		e.startRecv(r)
	case r.Kind != kindSend:
		e.startOther(r)
	case r.Persistent() && r.Plain() && e.sendNow(Mode(r.Mode), int(r.Peer), r.Imm, r.Buf):
		// For other sends the caller has tried before it took a request.
		r.Result = progress.Result{Source: match.AnySource, Tag: match.AnyTag}
		e.loop.Finish(r, nil)
	case Mode(r.Mode) == Buffered:
		e.sendBuffered(r)
	case int(r.Peer) == e.rank:
		e.sendSelf(r)
	default:
		e.startSend(r)
	}
}

func (e *Engine) startOther(r *progress.Request) {
	switch r.Kind {
	case kindMrecv:
		e.startMrecv(r)
	case kindProbe, kindMprobe:
		e.startProbe(r)
	case kindFlush:
		e.startFlush(r)
	case kindPair:
		e.startPair(r)
	}
}

// Resume continues a request that has come to the head of its peer's backlog.
func (e *Engine) Resume(r *progress.Request) error {
	p := &e.peers[r.Peer]
	if p.gate&^traced != 0 && r.Step <= stepRTS && r.Moved == 0 && p.turn != r && !e.reconsider(p, r) {
		return nil
	}
	err := e.resume(r)
	if err != fabric.ErrAgain && p.turn == r {
		p.turn = nil
		e.admit(p)
	}
	return err
}

func (e *Engine) resume(r *progress.Request) error {
	ep := e.loop.Conn(fabric.Peer(r.Peer)).Endpoint()
	switch r.Step {
	case stepEager:
		return e.sendEager(ep, r)
	case stepSync:
		return e.sendSync(ep, r)
	case stepChunks:
		return e.sendChunks(ep, r)
	case stepRTS:
		return e.sendRTS(ep, r)
	case stepFrags:
		return e.sendFrags(ep, r)
	case stepGet:
		return e.get(ep, r)
	case stepPut:
		return e.put(ep, r)
	}
	return nil
}

// Deliver takes a packet. One that breaks the protocol ends its sender.
func (e *Engine) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	if kind == wire.Eager {
		if !e.receive(from, imm, body) {
			e.keepEager(from, kind, imm, 0, body)
		}
		return
	}
	ok := true
	switch kind {
	case wire.EagerReady:
		e.onEager(from, kind, imm, 0, body)
	case wire.EagerSync:
		if ok = wire.NumberHeader(hdr).Valid(); ok {
			e.onEager(from, kind, imm, wire.NumberHeader(hdr).Number(), body)
		}
	case wire.EagerFirst:
		ok = wire.First(hdr).Valid() && e.onFirst(from, imm, wire.First(hdr), body)
	case wire.EagerMore:
		ok = e.onMore(from, body)
	case wire.RTS:
		if ok = wire.RTSHeader(hdr).Valid(); ok {
			e.onRTS(from, imm, wire.RTSHeader(hdr))
		}
	case wire.CTS:
		ok = wire.CTSHeader(hdr).Valid() && e.onCTS(from, imm, wire.CTSHeader(hdr))
	case wire.Grant:
		ok = wire.GrantHeader(hdr).Valid() && e.onGrant(from, imm, wire.GrantHeader(hdr))
	case wire.Written:
		ok = wire.FINHeader(hdr).Valid() && e.onWritten(from, imm, wire.FINHeader(hdr).Outcome())
	case wire.Data:
		ok = wire.NumberHeader(hdr).Valid() && e.onData(from, imm, wire.NumberHeader(hdr).Number(), body)
	case wire.FIN:
		ok = wire.FINHeader(hdr).Valid() && e.onFIN(from, imm, wire.FINHeader(hdr).Outcome())
	case wire.Cancel:
		e.onCancel(from, imm)
	case wire.Cancelled:
		ok = wire.FlagHeader(hdr).Valid() && e.onCancelled(from, imm, wire.FlagHeader(hdr).Yes())
	case wire.Dead:
		if ok = imm < uint64(len(e.peers)); ok {
			e.onDead(from, int(imm))
		}
	case wire.Flow:
		if ok = imm < uint64(wire.Levels); ok {
			e.onFlow(from, wire.Level(imm))
		}
	}
	if !ok {
		e.loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a packet of kind %d that nothing here asked for", fabric.ErrPeerDown, kind)})
	}
}

// Complete takes the completion of a Get or Put.
func (e *Engine) Complete(r *progress.Request, err error) {
	if r.Step == stepPutting {
		e.onPut(r, err)
		return
	}
	e.onGot(r, err)
}
