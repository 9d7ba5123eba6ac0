package rma

import (
	"context"

	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/progress"
)

// Locks in a window (MPI-4.0 §12.5.3): lock_op.go and lock_queue.go have the protocol,
// this file carries out its calls, and lock_serve.go its packets. All of it is done by the
// owner of the loop.

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
	if !exclusive && w.byCall(target) && a&NoCheck == 0 {
		ch, locked, err := w.lockByCall(target, a)
		if err != nil || locked {
			return err
		}
		return w.acquire(ctx, &ch, lockShared, target)
	}
	ch, err := w.epochs.lock(target, exclusive, a)
	if err != nil {
		return err
	}
	kind := lockShared
	if exclusive {
		kind = lockExclusive
	}
	return w.synced(ctx, CallLock, target, w.acquire(ctx, &ch, kind, target))
}

// LockAll opens an access epoch with all targets (MPI_Win_lock_all, MPI-4.0 §12.5.3), as
// Lock does. Non-local.
func (w *Win) LockAll(ctx context.Context, a Assert) error {
	ch, err := w.epochs.lockAll(a)
	if err != nil {
		return err
	}
	return w.synced(ctx, CallLockAll, -1, w.acquire(ctx, &ch, lockShared, lockEverywhere))
}

// Unlock ends the operations with a target and the epoch (MPI_Win_unlock). Non-local.
func (w *Win) Unlock(ctx context.Context, target int) error {
	if w.unlockByCall(target) {
		w.look()
		return w.targets[target].deadErr()
	}
	ch, err := w.epochs.unlock(target)
	if err != nil {
		return err
	}
	w.publish(CallUnlock)
	err = w.flush(ctx, target, false)
	if gaveUp(ctx, err) {
		ch.cancel()
		return err
	}
	switch {
	case ch.byCall:
		if w.dropByCall(target) {
			w.knock(target)
		}
	case ch.exclusive:
		w.release(lockExclusive, target)
	default:
		w.release(lockShared, target)
	}
	ch.end()
	return w.synced(ctx, CallUnlock, target, err)
}

// UnlockAll ends the operations with all targets and the epoch (MPI_Win_unlock_all).
// Non-local.
func (w *Win) UnlockAll(ctx context.Context) error {
	ch, err := w.epochs.unlockAll()
	if err != nil {
		return err
	}
	w.publish(CallUnlockAll)
	err = w.flushAll(ctx, false)
	if gaveUp(ctx, err) {
		ch.cancel()
		return err
	}
	w.release(lockShared, lockEverywhere)
	ch.end()
	return w.synced(ctx, CallUnlockAll, -1, err)
}

// acquire takes a lock and ends the change.
func (w *Win) acquire(ctx context.Context, ch *change, kind lockClaim, target int) error {
	if ch.assert&NoCheck != 0 {
		w.e.loop.Exclusive(func() { w.unchecked[target] = true })
		ch.end()
		return nil
	}
	c, err := w.take(kind, target)
	if c != nil {
		var place [3]uintptr
		frames.Callers(&place)
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
	w.list()
	c := w.idle
	if w.idle = nil; c == nil {
		c = &pendingLock{w: w}
	}
	c.op.Lock(&w.origin, kind, target, w.e.held > w.origin.held || w.e.callsHold())
	w.pending = append(w.pending, c)
	c.drive()
	if ended, err := c.op.Ended(); ended {
		w.idle = c
		return nil, err
	}
	return c, nil
}

// outwait waits for a lock that take has begun. It may have ended since.
func (c *pendingLock) outwait(ctx context.Context, ch change, place [3]uintptr) error {
	w, until := c.w, expiry.Of(ctx)
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
	c.op.run(c.w.port)
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

// run does all steps that there are, for the owner of the loop.
func (op *lockOp) run(p lockPort) {
	for more := true; more; {
		if op.Sends() {
			more = op.Send(p)
		} else {
			more = op.Step(p)
		}
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
	if w.check != nil && (target == w.rank || target == lockEverywhere) {
		w.check.ledger.flushed(w.rank, false) // before another rank can have the lock
	}
	if w.unchecked[target] {
		delete(w.unchecked, target)
		return
	}
	w.e.held--
	if w.leaving == nil {
		w.leaving = new(lockOp)
	}
	w.leaving.Unlock(&w.origin, kind, target)
	w.leaving.run(w.port)
}
