package rma

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Engine is the protocol of one rank. NewWin and the methods of Win are for any
// goroutine where they say so; the rest belongs to the owner of the loop.
type Engine struct {
	progress.Passive
	loop  *progress.Loop
	rank  int // in the job
	alloc func(n int) ([]byte, error)

	wins  map[uint32]*Win // by id
	ops   []*action       // under way, by Request.Found
	idle  []uint64        // free places of ops
	spare *action         // to be used again, linked by lane
	lanes map[fabric.Peer]*lane
	slabs []*slab // for control blocks
	vias  []*via  // to the ranks, one for each fabric: windows share them
	held  int     // locks that this rank has by the loop, see Win.byCall

	lockers []*Win // windows with locks that calls may take themselves

	types     map[fabric.Peer]*gotTypes // that peers have sent
	kept      int                       // how many of this rank's each peer keeps
	encodings encodings

	hdr     [fabric.MaxHeader]byte // of the packet being sent
	scratch []byte                 // results being sent
	counts  counts
}

// New makes the engine of a rank and registers it with the loop. alloc gives zeroed
// memory that ranks of this machine reach, if any is.
func New(l *progress.Loop, rank int, alloc func(n int) ([]byte, error)) *Engine {
	if alloc == nil {
		alloc = func(n int) ([]byte, error) { return make([]byte, n), nil }
	}
	e := &Engine{loop: l, rank: rank, alloc: alloc, wins: map[uint32]*Win{}, lanes: map[fabric.Peer]*lane{}, kept: maxTypes}
	e.encodings.longest = wire.MaxType
	l.Handle(e, wire.RAcc, wire.RGet, wire.RCas, wire.RData, wire.RFlush, wire.RFlushed, wire.RRefused, wire.RPost, wire.RComplete,
		wire.RLock, wire.RPress, wire.RUnlock, wire.RGranted, wire.RDeclined, wire.RAccess, wire.RConflict,
		wire.RType, wire.RAccTyped, wire.RGetTyped, wire.RAccessTyped)
	return e
}

// Kinds of requests.
const (
	kindTransfer uint8 = iota + 1 // one op with one target
	kindFlush                     // the flush of one target
	kindAll                       // several of them, or a wait for other ranks
)

// Start begins what a goroutine that did not own the loop has submitted.
func (e *Engine) Start(r *progress.Request) {
	r.Result = nothing
	if r.Kind != kindAll {
		e.ops[r.Found].begin()
	}
}

// nothing is the result of all requests.
var nothing = progress.Result{Source: progress.AnySource, Tag: progress.AnyTag}

// Resume continues an operation that has come to the head of its peer's backlog.
func (e *Engine) Resume(r *progress.Request) error { return e.ops[r.Found].resume() }

// Complete takes the end of a fabric operation.
func (e *Engine) Complete(r *progress.Request, err error) { e.ops[r.Found].completed(err) }

// Cancel: an operation that has begun may change memory of others at any time, so
// only waits can be given up.
func (e *Engine) Cancel(r *progress.Request, err error) bool {
	o := e.ops[r.Found]
	if r.Kind == kindTransfer {
		return false
	}
	o.abandon(err)
	return true
}

// Deliver takes a packet. One that breaks the protocol ends its sender.
func (e *Engine) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	ok := false
	switch kind {
	case wire.RAcc:
		if h := wire.RAccHeader(hdr); h.Valid() {
			ok = e.onAcc(from, imm, h, body)
		}
	case wire.RGet, wire.RCas:
		if h := wire.RGetHeader(hdr); h.Valid() {
			ok = e.onGet(from, kind, imm, h, body)
		}
	case wire.RData:
		if h := wire.NumberHeader(hdr); h.Valid() {
			ok = e.onData(from, imm, h, body)
		}
	case wire.RFlush:
		if h := wire.NumberHeader(hdr); h.Valid() {
			ok = e.onFlush(from, imm, h.Number())
		}
	case wire.RFlushed:
		if h := wire.RRefusedHeader(hdr); h.Valid() {
			ok = e.onFlushed(from, imm, h)
		}
	case wire.RRefused:
		if h := wire.RRefusedHeader(hdr); h.Valid() {
			ok = e.onRefused(from, imm, h)
		}
	case wire.RLock, wire.RPress, wire.RUnlock:
		if h := wire.RLockHeader(hdr); h.Valid() {
			ok = e.onLock(from, kind, imm, h)
		}
	case wire.RGranted, wire.RDeclined:
		if h := wire.RLockHeader(hdr); h.Valid() {
			ok = e.onGrant(from, kind, imm, h)
		}
	case wire.RAccess:
		if h := wire.RAccessHeader(hdr); h.Valid() {
			ok = e.onAccess(from, imm, h, body)
		}
	case wire.RConflict:
		if h := wire.RConflictHeader(hdr); h.Valid() {
			ok = e.onConflict(from, imm, h, body)
		}
	case wire.RType:
		if h := wire.RTypeHeader(hdr); h.Valid() {
			ok = e.onType(from, h, body)
		}
	case wire.RAccTyped:
		if h := wire.RAccTypedHeader(hdr); h.Valid() {
			ok = e.onAccTyped(from, imm, h, body)
		}
	case wire.RGetTyped:
		if h := wire.RGetTypedHeader(hdr); h.Valid() {
			ok = e.onGetTyped(from, imm, h, body)
		}
	case wire.RAccessTyped:
		if h := wire.RAccessTypedHeader(hdr); h.Valid() {
			ok = e.onAccessTyped(from, imm, h, body)
		}
	case wire.RPost, wire.RComplete:
		ok = e.onSignal(from, kind, imm)
	}
	if !ok {
		e.loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent a packet of kind %d that no window here can have asked for", fabric.ErrPeerDown, kind)})
	}
}

// PeerDown fails what needs a peer.
func (e *Engine) PeerDown(p fabric.Peer, err error) {
	delete(e.lanes, p)
	delete(e.types, p)
	for _, w := range e.wins {
		if w.check != nil {
			w.check.ledger.lost(w.rankOf(p))
		}
		w.peerDown(p, err)
	}
}

// to is the way over a fabric. For the owner.
func (e *Engine) to(d fabric.Domain) *via {
	for _, v := range e.vias {
		if v.dom == d {
			return v
		}
	}
	v := &via{dom: d}
	if d != nil {
		v.caps = d.Caps()
	}
	e.vias = append(e.vias, v)
	return v
}

// action returns one of a target, to be filled in: until remove it is the caller's.
func (e *Engine) action(t *target) *action {
	o := e.spare
	if o == nil {
		o = new(action)
	} else {
		e.spare, o.lane = o.lane, nil
	}
	o.w, o.t = t.w, t
	return o
}

// recycle takes one back, without what it refers to.
func (e *Engine) recycle(o *action) {
	clear(o.kept)
	*o = action{kept: o.kept[:0], lane: e.spare}
	e.spare = o
}

// add gives an operation a place, and its request that place's number.
func (e *Engine) add(o *action, r *progress.Request) {
	o.r = r
	if last := len(e.idle) - 1; last >= 0 {
		r.Found = e.idle[last]
		e.idle = e.idle[:last]
		e.ops[r.Found] = o
		return
	}
	r.Found = uint64(len(e.ops))
	e.ops = append(e.ops, o)
}

// remove gives the place back and completes the request. An action of a target is used
// again from here on; one for several waits for theirs, and they refer to it.
func (e *Engine) remove(o *action, err error) {
	r := o.r
	o.over = true
	e.ops[r.Found] = nil
	e.idle = append(e.idle, r.Found)
	if o.t != nil {
		e.recycle(o)
	}
	e.loop.Finish(r, err)
}
