package rma

import (
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// queue is this rank's side of a lock word of its own.
func (w *Win) queue(global bool) (*lockQueue, *lockOwned) {
	at := lockAt{rank: w.rank, global: global}
	owned := &lockOwned{block: w.port.blocks[w.rank], at: at, replies: lockReplier{w}}
	if global {
		return &w.global, owned
	}
	return &w.local, owned
}

// request queues a request for a lock word of this rank, and looks after it.
func (w *Win) request(origin int, global bool, claim lockClaim, holding bool) bool {
	q, owned := w.queue(global)
	ok := q.Request(owned, origin, claim, holding)
	w.watch(global)
	return ok
}

// declineAll ends the requests for this rank's locks, since the window ends here.
func (w *Win) declineAll() {
	for _, global := range []bool{false, true} {
		q, owned := w.queue(global)
		for _, r := range q.waiting {
			owned.Refuse(r.origin, r.claim, goneRank)
		}
		q.waiting = nil
	}
}

// goneRank is the dead rank of a refusal if the window has ended at the lock's.
const goneRank = int(wire.RGoneRank)

// watch looks for releases as long as requests wait.
func (w *Win) watch(global bool) {
	q, owned := w.queue(global)
	watched := &w.watched[0]
	if global {
		watched = &w.watched[1]
	}
	if len(q.waiting) == 0 || *watched {
		return
	}
	*watched = true
	w.e.loop.Observe(&lockWatch{w: w, q: q, owned: owned, watched: watched})
}

// lockWatch is the condition that nobody waits for a lock word any more. Looking grants
// what can be granted.
type lockWatch struct {
	progress.Passive
	w       *Win
	q       *lockQueue
	owned   *lockOwned
	watched *bool
}

func (x *lockWatch) Ready() (bool, error) {
	if x.q.Ready(x.owned.Load()) {
		x.q.Look(x.owned)
	}
	if len(x.q.waiting) > 0 && !x.w.over {
		return false, nil
	}
	*x.watched = false
	return true, nil
}

// onLock takes a packet about a lock word of this rank.
func (e *Engine) onLock(from fabric.Peer, kind uint8, imm uint64, h wire.RLockHeader) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, func() {
			if kind == wire.RLock {
				e.loop.Conn(from).Post(wire.RDeclined, imm, wire.MakeRLock(e.hdr[:], h.Global(), h.Claim(), false, wire.RGoneRank))
			}
		})
	}
	origin, claim := w.rankOf(from), lockClaim(h.Claim())
	if claim >= lockClaims || h.Global() && w.rank != 0 {
		return false
	}
	q, owned := w.queue(h.Global())
	switch kind {
	case wire.RLock:
		return w.request(origin, h.Global(), claim, h.Holding())
	case wire.RPress:
		q.Press(owned, origin, claim)
		return true
	}
	return q.Release(owned, origin, claim)
}

// onGrant takes the reply to a request.
func (e *Engine) onGrant(from fabric.Peer, kind uint8, imm uint64, h wire.RLockHeader) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	at := lockAt{rank: w.rankOf(from), global: h.Global()}
	if kind == wire.RGranted {
		return w.granted(at, lockClaim(h.Claim()))
	}
	return w.declined(at, lockClaim(h.Claim()), int(h.Rank()))
}

func (w *Win) granted(at lockAt, claim lockClaim) bool {
	for _, c := range w.pending {
		if c.op.Granted(w.port, at, claim) {
			c.drive()
			return true
		}
	}
	return false
}

func (w *Win) declined(at lockAt, claim lockClaim, dead int) bool {
	if dead == goneRank {
		dead = at.rank
	}
	for _, c := range w.pending {
		if c.op.Refused(w.port, at, claim, dead) {
			c.drive()
			return true
		}
	}
	return false
}

// lostLocks ends what waits for the locks of a dead rank, or for one that it held.
func (w *Win) lostLocks(rank int) {
	for _, global := range []bool{false, true} {
		if q, owned := w.queue(global); !global || w.rank == 0 {
			q.Down(owned, rank)
		}
	}
	for _, c := range append([]*pendingLock(nil), w.pending...) {
		if c.op.Down(w.port, rank) {
			c.drive()
		}
	}
}

// lockSender is the lockPackets of a window.
type lockSender struct{ w *Win }

func (p lockSender) Dead(rank int) bool {
	return rank != p.w.rank && p.w.targets[rank].down() != nil
}

// Knock has the owner of a word look: this rank itself in its next pass.
func (p lockSender) Knock(rank int) {
	if rank == p.w.rank {
		p.w.e.loop.Rouse()
		return
	}
	if ep := p.w.e.loop.Conn(p.w.targets[rank].peer).Endpoint(); ep != nil {
		ep.Knock(true)
	}
}

func (p lockSender) Wake(op *lockOp) {
	for _, c := range p.w.pending {
		if &c.op == op {
			p.w.e.loop.Later(c.drive)
		}
	}
}

func (p lockSender) Request(op *lockOp) {
	if op.at.rank == p.w.rank {
		p.w.request(p.w.rank, op.at.global, op.claim, op.holding) // which this rank makes right
		return
	}
	p.post(wire.RLock, op.at, op.claim, op.holding)
}

func (p lockSender) Press(at lockAt, c lockClaim) {
	if at.rank == p.w.rank {
		q, owned := p.w.queue(at.global)
		q.Press(owned, p.w.rank, c)
		return
	}
	p.post(wire.RPress, at, c, true)
}

func (p lockSender) Release(at lockAt, c lockClaim) {
	if at.rank == p.w.rank {
		q, owned := p.w.queue(at.global)
		q.Release(owned, p.w.rank, c)
		return
	}
	p.post(wire.RUnlock, at, c, false)
}

func (p lockSender) post(kind uint8, at lockAt, c lockClaim, holding bool) {
	w := p.w
	w.e.loop.Conn(w.targets[at.rank].peer).Post(kind, uint64(w.id), wire.MakeRLock(w.e.hdr[:], at.global, uint8(c), holding, 0))
}

// lockReplier sends the replies of a window's queues. One to this rank itself comes
// when the queue has done what it is about.
type lockReplier struct{ w *Win }

func (p lockReplier) Grant(at lockAt, origin int, c lockClaim) {
	w := p.w
	if origin == w.rank {
		w.e.loop.Later(func() { w.granted(at, c) })
		return
	}
	w.e.loop.Conn(w.targets[origin].peer).Post(wire.RGranted, uint64(w.id), wire.MakeRLock(w.e.hdr[:], at.global, uint8(c), false, 0))
}

func (p lockReplier) Refuse(at lockAt, origin int, c lockClaim, dead int) {
	w := p.w
	if origin == w.rank {
		w.e.loop.Later(func() { w.declined(at, c, dead) })
		return
	}
	w.e.loop.Conn(w.targets[origin].peer).Post(wire.RDeclined, uint64(w.id), wire.MakeRLock(w.e.hdr[:], at.global, uint8(c), false, uint32(dead)))
}
