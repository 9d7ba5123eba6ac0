package rma

import (
	"context"
	"errors"
	"testing"
)

// lockedByCall is a window of three ranks that reach one another, at which rank 2 has a
// shared lock of rank 1 that its call has taken.
func lockedByCall(t *testing.T) (*rig, []*Win) {
	t.Helper()
	g := newRig(t, 3, reached)
	all := g.windows(t, 16, 16)
	ctx := context.Background()
	for _, w := range all { // the loop takes the first
		if err := errors.Join(w.Lock(ctx, false, 1, 0), w.Unlock(ctx, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := all[2].Lock(ctx, false, 1, 0); err != nil {
		t.Fatal(err)
	}
	if !all[2].epochs.is(byCall, 1) {
		t.Fatal("the loop has taken a lock that is free")
	}
	if c := all[1].port.blocks[1].marked(lockAt{rank: 1}, 2); c != lockShared {
		t.Fatalf("the mark of a shared lock is %v", c)
	}
	return g, all
}

// waiting is how many requests wait for the lock of a rank's part.
func waiting(w *Win) (n int) {
	w.e.loop.Glance(func() bool { n = len(w.local.waiting); return n > 0 })
	return n
}

// Others wait for a lock that a call has taken, and get it.
func TestALockThatACallHasTakenExcludes(t *testing.T) {
	_, all := lockedByCall(t)
	ctx, ended := context.Background(), make(chan error, 1)
	go func() { ended <- all[0].Lock(ctx, true, 1, 0) }()
	for waiting(all[1]) == 0 {
	}
	// Now the word is not free to take, though it is shared.
	shared := make(chan error, 1)
	go func() { shared <- all[1].Lock(ctx, false, 1, 0) }()
	for waiting(all[1]) < 2 {
		if all[1].epochs.is(opened, 1) {
			t.Fatal("a call has passed one that waits")
		}
	}
	if all[1].epochs.is(byCall, 1) {
		t.Error("a call has passed one that waits")
	}
	for _, step := range []func() error{
		func() error { return all[2].Unlock(ctx, 1) },
		func() error { return <-ended },
		func() error { return all[0].Unlock(ctx, 1) },
		func() error { return <-shared },
		func() error { return all[1].Unlock(ctx, 1) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	at := lockAt{rank: 1}
	if b := all[1].port.blocks[1]; b.load(at) != 0 || b.marked(at, 2) != lockNone {
		t.Errorf("the word is %x and the mark %v after all releases", b.load(at), b.marked(at, 2))
	}
}

// A lock that a call has taken is known to the requests of its rank, in every window.
func TestARankThatHoldsALockByACallWaitsForHoldersOnly(t *testing.T) {
	g, all := lockedByCall(t)
	other, ctx := g.windows(t, 17, 16), context.Background()
	if err := other[0].Lock(ctx, true, 0, 0); err != nil {
		t.Fatal(err)
	}
	holding := func(rank int) (known bool) {
		ended := make(chan error, 1)
		go func() { ended <- other[rank].Lock(ctx, true, 0, 0) }()
		for waiting(other[0]) == 0 {
		}
		other[0].e.loop.Exclusive(func() { known = other[0].local.waiting[0].holding })
		if err := errors.Join(other[0].Unlock(ctx, 0), <-ended, other[rank].Unlock(ctx, 0), other[0].Lock(ctx, true, 0, 0)); err != nil {
			t.Fatal(err)
		}
		return known
	}
	if !holding(2) {
		t.Error("a lock that a call holds is not known")
	}
	if err := all[2].Unlock(ctx, 1); err != nil {
		t.Fatal(err)
	}
	if holding(2) {
		t.Error("a lock is taken to be held after its release")
	}
	if err := other[0].Unlock(ctx, 0); err != nil {
		t.Fatal(err)
	}
}

// The dead hold what their calls have taken.
func TestALockThatACallHasTakenIsHeldByTheDead(t *testing.T) {
	g, all := lockedByCall(t)
	if err := g.loops[2].Close(); err != nil {
		t.Fatal(err)
	}
	each(t, all[:2], func(ctx context.Context, w *Win) error {
		err := until(ctx, func() error {
			if err := w.Lock(ctx, false, 1, 0); err != nil {
				return err
			}
			if err := w.Unlock(ctx, 1); err != nil {
				return err
			}
			return w.targets[2].deadErr()
		})
		if err := deathOf(err, 2); err != nil {
			return err
		}
		err = w.Lock(ctx, true, 1, 0)
		var lost *LockError
		if !errors.As(err, &lost) || lost.Dead != 2 || !lost.Held {
			return errors.Join(errors.New("an exclusive lock beside the dead's"), err)
		}
		return nil
	})
}
