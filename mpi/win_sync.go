package mpi

import "github.com/weft-mpi/weft/rma"

// Assert is a promise about a window that lets a call do less (MPI-4.0 §12.5.5): NoCheck,
// NoStore, NoPut, NoPrecede or NoSucceed, or several joined by |. A call names those it
// takes; any other is ErrAssert.
type Assert = rma.Assert

// The assertions.
const (
	// NoCheck promises to Start that all Posts of its group have been called, and to Post
	// that no Start has: both give it or neither. It promises to Lock and LockAll that no
	// rank holds, or asks for, a lock that conflicts (MPI_MODE_NOCHECK, MPI-4.0 §12.5.5).
	NoCheck = rma.NoCheck
	// NoStore promises that the own part was not stored to since the last synchronization
	// (MPI_MODE_NOSTORE, MPI-4.0 §12.5.5).
	NoStore = rma.NoStore
	// NoPut promises that the own part will not be written to by operations until the next
	// synchronization (MPI_MODE_NOPUT, MPI-4.0 §12.5.5).
	NoPut = rma.NoPut
	// NoPrecede promises that the fence ends no operations of this rank; all ranks give it
	// or none (MPI_MODE_NOPRECEDE, MPI-4.0 §12.5.5).
	NoPrecede = rma.NoPrecede
	// NoSucceed promises that no operations follow the fence; all ranks give it or none
	// (MPI_MODE_NOSUCCEED, MPI-4.0 §12.5.5).
	NoSucceed = rma.NoSucceed
)

func promised(promises []Assert) (all Assert) {
	for _, a := range promises {
		all |= a
	}
	return all
}

// LockKind is what a lock excludes.
type LockKind int

// The values are those of MPI-5's ABI.
const (
	LockExclusive LockKind = 301 // all other locks of the target (MPI_LOCK_EXCLUSIVE, MPI-4.0 §12.5.3)
	LockShared    LockKind = 302 // exclusive ones (MPI_LOCK_SHARED, MPI-4.0 §12.5.3)
)

// Fence ends the operations that all ranks have issued since the last fence, and opens
// an epoch in which each may access each part (MPI_Win_fence, MPI-4.0 §12.5.1). All ranks
// call it, and it waits for all. It takes NoStore, NoPut, NoPrecede and NoSucceed. It
// fails with ErrRMASync within an epoch of another kind or for a false NoPrecede, and
// ErrAssert for other promises. Non-local.
func (w *Win) Fence(promises ...Assert) error {
	const call = "Win.Fence"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.Fence(w.c.ctx, promised(promises)))
}

// Post exposes this rank's part to the ranks of a group, which have started or will
// (MPI_Win_post, MPI-4.0 §12.5.2). Wait or Test ends the epoch. It takes NoCheck, NoStore
// and NoPut. The group is of ranks of the window. It fails with ErrGroup for a group
// that is nil or of other ranks, ErrRMASync within an epoch that excludes it, and
// ErrAssert for other promises. Local.
func (w *Win) Post(g *Group, promises ...Assert) error {
	const call = "Win.Post"
	ranks, err := w.ranksOf(call, g)
	if err != nil {
		return err
	}
	return w.fail(call, w.core.Post(ranks, promised(promises)))
}

// Start opens an epoch in which this rank may access the parts of the ranks of a group
// (MPI_Win_start, MPI-4.0 §12.5.2), and waits until all of them have posted to it.
// Complete ends the epoch. It takes NoCheck. Errors are those of Post. Non-local.
func (w *Win) Start(g *Group, promises ...Assert) error {
	const call = "Win.Start"
	ranks, err := w.ranksOf(call, g)
	if err != nil {
		return err
	}
	return w.fail(call, w.core.Start(w.c.ctx, ranks, promised(promises)))
}

// Complete ends the epoch of Start: this rank's operations have ended, here and at their
// targets (MPI_Win_complete, MPI-4.0 §12.5.2). It fails with ErrRMASync without an
// epoch of Start. Non-local.
func (w *Win) Complete() error {
	const call = "Win.Complete"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.Complete(w.c.ctx))
}

// Wait ends the epoch of Post, once all ranks of its group have completed theirs
// (MPI_Win_wait, MPI-4.0 §12.5.2). It fails with ErrRMASync without an epoch of Post.
// Non-local.
func (w *Win) Wait() error {
	const call = "Win.Wait"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.Wait(w.c.ctx))
}

// Test is Wait if that does not have to wait; else it returns false, and the epoch goes
// on (MPI_Win_test, MPI-4.0 §12.5.2). Errors are those of Wait. Local.
func (w *Win) Test() (bool, error) {
	const call = "Win.Test"
	if w.gone() {
		return false, w.explain(call)
	}
	ended, err := w.core.Test(w.c.ctx)
	return ended, w.fail(call, err)
}

// Lock opens an epoch with one target, oneself too (MPI_Win_lock, MPI-4.0 §12.5.3). It
// waits for locks that exclude it: those who wait get it in the order in which they
// asked. Several targets may be locked at once, none twice. It takes NoCheck. It fails
// with ErrLocktype for an unknown kind, ErrRMASync if the target is locked, within
// another epoch, and with the hint no_locks, and ErrAssert for other promises.
// Non-local.
func (w *Win) Lock(kind LockKind, target int, promises ...Assert) error {
	const call = "Win.Lock"
	if err := w.checkTarget(call, target); err != nil {
		return err
	}
	if kind != LockExclusive && kind != LockShared {
		return w.raise(badArg(call, ErrLocktype, "%d is no kind of lock: give LockExclusive or LockShared", kind))
	}
	if err := w.mayLock(call); err != nil || target == ProcNull {
		return err
	}
	return w.fail(call, w.core.Lock(w.c.ctx, kind == LockExclusive, target, promised(promises)))
}

// Unlock ends the epoch with a target: this rank's operations have ended, here and there
// (MPI_Win_unlock, MPI-4.0 §12.5.3). It fails with ErrRMASync if the target is not
// locked by Lock. Non-local.
func (w *Win) Unlock(target int) error {
	const call = "Win.Unlock"
	if err := w.checkTarget(call, target); err != nil || target == ProcNull {
		return err
	}
	return w.fail(call, w.core.Unlock(w.c.ctx, target))
}

// LockAll opens an epoch with all targets, which excludes exclusive locks of others
// (MPI_Win_lock_all, MPI-4.0 §12.5.3). It sends at most one message, however many ranks
// there are. It takes NoCheck. Errors are those of Lock. Non-local.
func (w *Win) LockAll(promises ...Assert) error {
	const call = "Win.LockAll"
	if w.gone() {
		return w.explain(call)
	}
	if err := w.mayLock(call); err != nil {
		return err
	}
	return w.fail(call, w.core.LockAll(w.c.ctx, promised(promises)))
}

// UnlockAll ends the epoch of LockAll (MPI_Win_unlock_all, MPI-4.0 §12.5.3). It fails
// with ErrRMASync without an epoch of LockAll. Non-local.
func (w *Win) UnlockAll() error {
	const call = "Win.UnlockAll"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.UnlockAll(w.c.ctx))
}

// Flush ends this rank's operations with a target, here and there, within an epoch of
// Lock or LockAll (MPI_Win_flush, MPI-4.0 §12.5.4). It returns the first failure of an
// operation with the target since the last call that ended them. It fails with
// ErrRMASync if the target is not locked. Non-local.
func (w *Win) Flush(target int) error {
	const call = "Win.Flush"
	if w.has(target) && w.core.Flushed(target) {
		return nil
	}
	if err := w.checkTarget(call, target); err != nil || target == ProcNull {
		return err
	}
	return w.fail(call, w.core.Flush(w.c.ctx, target, false))
}

// FlushLocal is Flush for this rank's side: the memory of the operations is the
// program's again, and their results are there (MPI_Win_flush_local, MPI-4.0 §12.5.4).
// Errors are those of Flush. Non-local.
func (w *Win) FlushLocal(target int) error {
	const call = "Win.FlushLocal"
	if w.has(target) && w.core.Flushed(target) {
		return nil
	}
	if err := w.checkTarget(call, target); err != nil || target == ProcNull {
		return err
	}
	return w.fail(call, w.core.Flush(w.c.ctx, target, true))
}

// FlushAll is Flush for all targets (MPI_Win_flush_all, MPI-4.0 §12.5.4). It fails with
// ErrRMASync without a lock. Non-local.
func (w *Win) FlushAll() error {
	const call = "Win.FlushAll"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.FlushAll(w.c.ctx, false))
}

// FlushLocalAll is FlushLocal for all targets (MPI_Win_flush_local_all, MPI-4.0
// §12.5.4). Errors are those of FlushAll. Non-local.
func (w *Win) FlushLocalAll() error {
	const call = "Win.FlushLocalAll"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.FlushAll(w.c.ctx, true))
}

// Sync orders this rank's loads and stores in parts of the window before those behind
// it, within an epoch of Lock or LockAll (MPI_Win_sync, MPI-4.0 §12.5.4). Without one
// it fails with ErrRMASync. Local.
func (w *Win) Sync() error {
	const call = "Win.Sync"
	if w.gone() {
		return w.explain(call)
	}
	return w.fail(call, w.core.Sync())
}

// Epoch locks a target, calls f, and unlocks the target, also if f fails or panics
// (MPI-4.0 §12.5.3). It returns f's error, or that of the lock. A nil f is ErrArg;
// other errors are those of Lock and Unlock. Non-local.
func (w *Win) Epoch(kind LockKind, target int, f func() error) (err error) {
	if f == nil && !w.gone() {
		return w.raise(badArg("Win.Epoch", ErrArg, "the function is nil"))
	}
	if err := w.Lock(kind, target); err != nil {
		return err
	}
	defer func() {
		if e := w.Unlock(target); err == nil {
			err = e
		}
	}()
	return f()
}

// ranksOf are the ranks in the window of a group's.
func (w *Win) ranksOf(call string, g *Group) ([]int, error) {
	if w.gone() {
		return nil, w.explain(call)
	}
	all := w.c.members()
	switch {
	case g == nil:
		return nil, w.raise(badArg(call, ErrGroup, "the group is nil: give GroupEmpty for no ranks"))
	case g.in != nil && g.in != w.c.core.Instance():
		return nil, w.raise(badArg(call, ErrGroup, "the group is of another World: take a part of Win.Group"))
	}
	ranks := make([]int, 0, g.Size())
	for _, world := range g.All() {
		r := all.Rank(world)
		if r < 0 {
			return nil, w.raise(badArg(call, ErrGroup, "rank %d of the job is in the group and not in the window: take a part of Win.Group", world))
		}
		ranks = append(ranks, r)
	}
	return ranks, nil
}
