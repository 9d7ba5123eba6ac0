package rma

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// The calls that open and close epochs (MPI-4.0 §12.5). Each asks the epochs first, and
// has its effect on them at its end. One that ends with its context has none: it can be
// called again. Any other error, of an operation or because of a death, is that of an
// epoch that has been closed. Lists of ranks name none twice.

// gaveUp reports whether err is the end of a context.
func gaveUp(ctx context.Context, err error) bool {
	return err != nil && ctx != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx))
}

// close ends a change, or takes it back if the context has ended.
func (ch *change) close(ctx context.Context, err error) error {
	if gaveUp(ctx, err) {
		ch.cancel()
	} else {
		ch.end()
	}
	return err
}

// Fence ends the operations of all ranks and waits for all ranks (MPI_Win_fence,
// MPI-4.0 §12.5.1). Non-local.
func (w *Win) Fence(ctx context.Context, a Assert) error {
	ch, err := w.epochs.fence(a)
	if err != nil {
		return err
	}
	w.publish(CallFence)
	if a&NoPrecede == 0 {
		err = w.flushAll(ctx, false)
	}
	if !gaveUp(ctx, err) { // else the others wait for the next call
		err = errors.Join(err, w.barrier(ctx)) // they wait, whatever has failed here
	}
	return w.synced(ctx, CallFence, -1, ch.close(ctx, err))
}

// Post exposes this rank's part to the ranks of a group (MPI_Win_post, MPI-4.0
// §12.5.2). ranks belongs to the window until Wait has returned. Local.
func (w *Win) Post(ranks []int, a Assert) error {
	ch, err := w.epochs.post(a)
	if err != nil {
		return err
	}
	w.publish(CallPost)
	w.posting = ranks
	if a&NoCheck == 0 {
		w.signal(signalPost, ranks)
	}
	ch.end()
	return nil
}

// Start opens an access epoch with the ranks of a group, when they have posted
// (MPI_Win_start, MPI-4.0 §12.5.2). ranks belongs to the window until Complete has
// returned. If one of them has died there is no epoch, which the others are told.
// Non-local.
func (w *Win) Start(ctx context.Context, ranks []int, a Assert) error {
	ch, err := w.epochs.start(a, ranks)
	if err != nil {
		return err
	}
	w.starting = ranks
	if a&NoCheck == 0 {
		ended, err := w.await(ctx, "Start", &w.posts, ranks)
		if err != nil {
			if ended {
				w.signal(signalEnd, ranks)
			}
			ch.cancel()
			return err
		}
	}
	ch.end()
	return nil
}

// Complete ends the operations of the access epoch and tells its targets
// (MPI_Win_complete, MPI-4.0 §12.5.2). Non-local.
func (w *Win) Complete(ctx context.Context) error {
	ch, err := w.epochs.complete()
	if err != nil {
		return err
	}
	ranks := w.starting
	if !w.any.Load() {
		if err = w.firstDeadOf(ranks); err == nil {
			w.signal(signalEnd, ranks)
			ch.end()
			return w.synced(ctx, CallComplete, -1, nil)
		}
	}
	targets := make([]*target, len(ranks))
	for i, r := range ranks {
		targets[i] = &w.targets[r]
	}
	h := w.wait(ctx, "Complete", targets, false)
	_, err = progress.WaitResult(&h)
	if !gaveUp(ctx, err) && !errors.Is(err, fabric.ErrClosed) {
		w.signal(signalEnd, ranks) // the others wait, whatever has failed here
	}
	return w.synced(ctx, CallComplete, -1, ch.close(ctx, err))
}

// Wait ends the exposure epoch, when the ranks of its group have completed theirs
// (MPI_Win_wait, MPI-4.0 §12.5.2). Non-local.
func (w *Win) Wait(ctx context.Context) error {
	ch, err := w.epochs.wait()
	if err != nil {
		return err
	}
	_, err = w.await(ctx, "Wait", &w.ends, w.posting)
	return w.synced(ctx, CallWait, -1, ch.close(ctx, err))
}

// Test is Wait if that would not wait, else it returns false (MPI_Win_test, MPI-4.0
// §12.5.2). Local.
func (w *Win) Test(ctx context.Context) (bool, error) {
	ch, err := w.epochs.test()
	if err != nil {
		return false, err
	}
	ended, err := w.awaited("Wait", &w.ends, w.posting)
	if !ended {
		ch.cancel()
		return false, nil
	}
	return true, w.synced(ctx, CallTest, -1, ch.close(ctx, err))
}

// Flush ends this rank's operations with a target (MPI_Win_flush), or with local frees
// their memory here (MPI_Win_flush_local, MPI-4.0 §12.5.4). Non-local.
func (w *Win) Flush(ctx context.Context, target int, local bool) error {
	call := CallFlush
	if local {
		call = CallFlushLocal
	}
	if err := w.epochs.flush(call, target); err != nil {
		return err
	}
	return w.synced(ctx, call, target, w.flush(ctx, target, local))
}

// FlushAll is Flush for all targets (MPI_Win_flush_all, MPI_Win_flush_local_all,
// MPI-4.0 §12.5.4). Non-local.
func (w *Win) FlushAll(ctx context.Context, local bool) error {
	call := CallFlushAll
	if local {
		call = CallFlushLocalAll
	}
	if err := w.epochs.flushAll(call); err != nil {
		return err
	}
	return w.synced(ctx, call, -1, w.flushAll(ctx, local))
}

// Sync orders this rank's loads and stores in its part with what others do there
// (MPI_Win_sync, MPI-4.0 §12.5.4). Local.
func (w *Win) Sync() error {
	if err := w.epochs.flushAll(CallSync); err != nil {
		return err
	}
	w.publish(CallSync)
	w.fence()
	w.look()
	return w.synced(context.Background(), CallSync, -1, nil)
}

// fence is a full fence: a locked instruction on a word of this rank's own.
func (w *Win) fence() { atomic.AddUint32(&w.fences, 1) }

// MayFree is the error that Free would begin with, or nil. Local.
func (w *Win) MayFree() error {
	s := w.epochs.load()
	if why := s.allows(CallFree, 0, false); why != fine {
		return w.epochs.refuse(CallFree, -1, s, why)
	}
	return nil
}

// Free ends the window at all ranks (MPI_Win_free, MPI-4.0 §12.2.5). If it fails since
// one of them is down, the others may use this rank's part for a while: its memory must
// not be used for anything else. Non-local.
func (w *Win) Free(ctx context.Context) error {
	ch, err := w.epochs.free()
	if err != nil {
		return err
	}
	if err = w.flushAll(ctx, false); !gaveUp(ctx, err) { // as in Fence
		err = errors.Join(err, w.barrier(ctx))
	}
	if ch.close(ctx, err); err == nil || w.epochs.load()&freed != 0 {
		w.discard(err == nil)
	}
	return err
}
