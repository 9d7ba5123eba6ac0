package rma

import (
	"context"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// Locks in a window (MPI-4.0 §12.5.3): lock_op.go and lock_queue.go have the protocol,
// this file carries it out. All of it is done by the owner of the loop.

// pendingLock is a Lock or LockAll under way.
type pendingLock struct {
	op      lockOp
	w       *Win
	ch      *change
	waiter  *action // what the program waits for, nil while it does not wait
	dropped bool    // the program has given up: the lock goes back once it is granted
}

// Lock opens an access epoch with one target (MPI_Win_lock, MPI-4.0 §12.5.3). If ctx
// ends first the request goes on, and the lock is given back once it is granted; until
// then the target can't be locked anew. Non-local.
func (w *Win) Lock(ctx context.Context, exclusive bool, target int, a Assert) error {
	ch, err := w.epochs.lock(target, exclusive, a)
	if err != nil {
		return err
	}
	kind := lockShared
	if exclusive {
		kind = lockExclusive
	}
	return w.acquire(ctx, &ch, kind, target)
}

// LockAll opens an access epoch with all targets (MPI_Win_lock_all, MPI-4.0 §12.5.3), as
// Lock does. Non-local.
func (w *Win) LockAll(ctx context.Context, a Assert) error {
	ch, err := w.epochs.lockAll(a)
	if err != nil {
		return err
	}
	return w.acquire(ctx, &ch, lockShared, lockEverywhere)
}

// Unlock ends the operations with a target and the epoch (MPI_Win_unlock). Non-local.
func (w *Win) Unlock(ctx context.Context, target int) error {
	ch, err := w.epochs.unlock(target)
	if err != nil {
		return err
	}
	err = w.flush(ctx, target, false)
	if gaveUp(ctx, err) {
		ch.cancel()
		return err
	}
	kind := lockShared
	if ch.exclusive {
		kind = lockExclusive
	}
	w.release(kind, target)
	ch.end()
	return err
}

// UnlockAll ends the operations with all targets and the epoch (MPI_Win_unlock_all).
// Non-local.
func (w *Win) UnlockAll(ctx context.Context) error {
	ch, err := w.epochs.unlockAll()
	if err != nil {
		return err
	}
	err = w.flushAll(ctx, false)
	if gaveUp(ctx, err) {
		ch.cancel()
		return err
	}
	w.release(lockShared, lockEverywhere)
	ch.end()
	return err
}

// acquire takes a lock and ends the change.
func (w *Win) acquire(ctx context.Context, ch *change, kind lockClaim, target int) error {
	if ch.assert&NoCheck != 0 {
		w.e.loop.Exclusive(func() { w.unchecked[target] = true })
		ch.end()
		return nil
	}
	var place [3]uintptr
	progress.Callers(&place)
	c, err := w.take(kind, target)
	if c != nil {
		err = c.outwait(ctx, *ch, place)
		if gaveUp(ctx, err) {
			return err // the change ends with the request
		}
	}
	if err != nil {
		ch.cancel()
		return err
	}
	ch.end()
	return nil
}

// take begins a lock, and returns it unless it has ended. What has is the rule: it is
// without closures, which would take their variables to the heap.
func (w *Win) take(kind lockClaim, target int) (*pendingLock, error) {
	if w.e.loop.Enter() {
		defer w.e.loop.Leave() // as in Exclusive
		return w.begun(kind, target)
	}
	return w.takeInTurn(kind, target)
}

func (w *Win) takeInTurn(kind lockClaim, target int) (c *pendingLock, err error) {
	w.e.loop.Exclusive(func() { c, err = w.begun(kind, target) })
	return c, err
}

// begun is take for the owner.
func (w *Win) begun(kind lockClaim, target int) (*pendingLock, error) {
	c := &pendingLock{w: w}
	c.op.Lock(&w.origin, kind, target, w.e.held > w.origin.held)
	w.pending = append(w.pending, c)
	c.drive()
	if ended, err := c.op.Ended(); ended {
		return nil, err
	}
	return c, nil
}

// outwait waits for a lock that take has begun. It may have ended since.
func (c *pendingLock) outwait(ctx context.Context, ch change, place [3]uintptr) error {
	w, until := c.w, progress.Expires(ctx)
	var h progress.Handle
	var err error
	w.e.loop.Exclusive(func() {
		ended := false
		if ended, err = c.op.Ended(); !ended {
			c.ch = &ch
			c.waiter, h = w.waiter("lock", until, place)
			c.waiter.give = c.giveUp
		}
	})
	if !h.Null() {
		_, err = progress.WaitResult(&h)
	}
	return err
}

// giveUp leaves the request to itself.
func (c *pendingLock) giveUp() {
	c.waiter, c.dropped = nil, true
}

// drive takes the operation as far as it goes.
func (c *pendingLock) drive() {
	p := c.w.port
	for more := true; more; {
		if c.op.Sends() {
			more = c.op.Send(p)
		} else {
			more = c.op.Step(p)
		}
	}
	ended, err := c.op.Ended()
	if !ended {
		return
	}
	w := c.w
	for i, other := range w.pending {
		if other == c {
			w.pending = append(w.pending[:i], w.pending[i+1:]...)
			break
		}
	}
	if err == nil {
		w.e.held++
	}
	switch {
	case c.waiter != nil:
		c.waiter.done(err)
	case c.dropped:
		if err == nil {
			w.unlock(c.op.kind, c.op.target)
		}
		c.ch.cancel()
	}
}

// release gives a lock back.
func (w *Win) release(kind lockClaim, target int) {
	if w.e.loop.Enter() {
		defer w.e.loop.Leave() // as in Exclusive
		w.unlock(kind, target)
		return
	}
	w.e.loop.Exclusive(func() { w.unlock(kind, target) })
}

// unlock is release for the owner.
func (w *Win) unlock(kind lockClaim, target int) {
	if w.unchecked[target] {
		delete(w.unchecked, target)
		return
	}
	w.e.held--
	c := &pendingLock{w: w}
	c.op.Unlock(&w.origin, kind, target)
	p := w.port
	for more := true; more; {
		if c.op.Sends() {
			more = c.op.Send(p)
		} else {
			more = c.op.Step(p)
		}
	}
}

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
	w.e.loop.Observe(&lockWatch{w, q, owned, watched})
}

// lockWatch is the condition that nobody waits for a lock word any more. Looking grants
// what can be granted.
type lockWatch struct {
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
