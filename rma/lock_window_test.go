package rma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"
)

// add adds 1 to an element of a target by a Get and a Put, which others would disturb.
func (w *Win) addSlowly(ctx context.Context, target, at int) error {
	var b [8]byte
	if err := w.Do(&Transfer{Old: b[:], Target: target, At: at}); err != nil {
		return err
	}
	if err := w.Flush(ctx, target, false); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b[:], binary.LittleEndian.Uint64(b[:])+1)
	return w.Do(&Transfer{Src: b[:], Target: target, At: at})
}

// Exclusive locks exclude each other and shared ones, of one target and of all.
func TestLocksExcludeEachOther(t *testing.T) {
	const rounds = 60
	eachWay(t, func(t *testing.T, n int, how way) {
		all := newRig(t, n, how).windows(t, 16, 16)
		each(t, all, func(ctx context.Context, w *Win) error {
			for i := range rounds {
				target := (w.rank + i) % n
				if err := w.Lock(ctx, true, target, 0); err != nil {
					return err
				}
				if err := w.addSlowly(ctx, target, 0); err != nil {
					return err
				}
				if err := w.Unlock(ctx, target); err != nil {
					return err
				}
				lock, unlock := func() error { return w.Lock(ctx, false, target, 0) }, func() error { return w.Unlock(ctx, target) }
				if i%2 == 0 {
					lock, unlock = func() error { return w.LockAll(ctx, 0) }, func() error { return w.UnlockAll(ctx) }
				}
				if err := lock(); err != nil {
					return err
				}
				var a, b [8]byte
				if err := w.Do(&Transfer{Old: a[:], Target: target}); err != nil {
					return err
				}
				if err := w.Flush(ctx, target, false); err != nil {
					return err
				}
				if err := w.Do(&Transfer{Old: b[:], Target: target}); err != nil {
					return err
				}
				if err := w.Flush(ctx, target, false); err != nil {
					return err
				}
				if a != b {
					return fmt.Errorf("a part has changed under a shared lock: %x, %x", a, b)
				}
				if err := unlock(); err != nil {
					return err
				}
			}
			return nil
		})
		sum := uint64(0)
		for _, w := range all {
			sum += binary.LittleEndian.Uint64(w.mem)
			// The last releases may be under way.
			waits, held := 1, 0
			for end := time.Now().Add(patience); waits+held != 0 && time.Now().Before(end); {
				w.e.loop.Exclusive(func() {
					waits, held = len(w.local.waiting)+len(w.global.waiting)+len(w.pending), w.e.held+w.origin.held
				})
			}
			if waits != 0 || held != 0 {
				t.Errorf("rank %d: %d requests wait, %d locks are held", w.rank, waits, held)
			}
		}
		if sum != uint64(n*rounds) {
			t.Errorf("counted %d under exclusive locks, want %d", sum, n*rounds)
		}
	})
}

// A Lock that waits for a rank, or for a lock that the rank holds, ends with its death.
func TestADeathEndsWaitsForItsLocks(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			g := newRig(t, 3, how)
			all := g.windows(t, 16, 16)
			ctx := context.Background()
			if err := all[1].Lock(ctx, true, 0, 0); err != nil {
				t.Fatal(err)
			}
			each(t, all, func(ctx context.Context, w *Win) error {
				if w.rank == 1 {
					return g.loops[1].Close()
				}
				for _, target := range []int{0, 1} {
					err := until(ctx, func() error {
						err := w.Lock(ctx, false, target, 0)
						if err == nil {
							if e := w.Unlock(ctx, target); e != nil && deathOf(e, 1) != nil {
								return e
							} // of a death the next Lock tells
						}
						return err
					})
					var lost *LockError
					if !errors.As(err, &lost) || lost.Dead != 1 || lost.Held != (target == 0) {
						return fmt.Errorf("the lock of rank %d: %v", target, err)
					}
				}
				if err := w.Lock(ctx, false, 2, 0); err != nil {
					return err
				}
				return w.Unlock(ctx, 2)
			})
		})
	}
}

// A Lock ends with its context; its request goes on, and gives the lock back.
func TestALockThatIsGivenUpGoesBack(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			all := newRig(t, 2, how).windows(t, 16, 16)
			ctx := context.Background()
			if err := all[0].Lock(ctx, true, 0, 0); err != nil {
				t.Fatal(err)
			}
			short, cancel := context.WithCancel(ctx)
			cancel()
			if err := all[1].Lock(short, true, 0, 0); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want that the context has ended", err)
			}
			if err := all[1].Lock(ctx, true, 0, 0); !errors.As(err, new(*SyncError)) {
				t.Errorf("%v, want that a Lock is under way", err)
			}
			if err := all[0].Unlock(ctx, 0); err != nil {
				t.Fatal(err)
			}
			each(t, all, func(ctx context.Context, w *Win) error {
				for {
					err := w.Lock(ctx, true, 0, 0)
					if err == nil {
						return w.Unlock(ctx, 0)
					}
					if !errors.As(err, new(*SyncError)) {
						return err
					}
				}
			})
		})
	}
}

// A rank that has an exclusive lock gets another one, though a LockAll waits for it.
func TestALockAllWaitsForAllExclusiveLocks(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			all := newRig(t, 3, how).windows(t, 16, 16)
			ctx := context.Background()
			if err := all[1].Lock(ctx, true, 1, 0); err != nil {
				t.Fatal(err)
			}
			locked := make(chan error, 1)
			go func() { locked <- all[2].LockAll(ctx, 0) }()
			asked := func() (n int) {
				all[0].e.loop.Exclusive(func() { n = len(all[0].global.waiting) })
				return n
			}
			for asked() == 0 {
				all[0].e.loop.Glance(func() bool { return false })
			}
			if err := all[1].Lock(ctx, true, 2, 0); err != nil {
				t.Fatal(err)
			}
			for _, target := range []int{1, 2} {
				select {
				case err := <-locked:
					t.Fatalf("LockAll has ended beside an exclusive lock: %v", err)
				default:
				}
				if err := all[1].Unlock(ctx, target); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-locked; err != nil {
				t.Fatal(err)
			}
			if err := all[2].UnlockAll(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A rank that has not taken the others' parts yet serves its locks, and sees deaths.
func TestLocksAreServedBeforeTheOwnerJoins(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			g := newRig(t, 3, how)
			all := make([]*Win, 3)
			for i, e := range g.engines {
				var err error
				if all[i], err = e.Prepare(16, nil, i, len(all), make([]byte, 8), 1, nil); err != nil {
					t.Fatal(err)
				}
			}
			join := func(i int) {
				parts := make([]Part, len(all))
				for k := range all {
					parts[k] = all[k].Part(i)
				}
				if err := all[i].Join(parts, nil); err != nil {
					t.Fatal(err)
				}
			}
			join(1)
			join(2)
			for range 20 {
				each(t, all[1:], func(ctx context.Context, w *Win) error {
					if err := w.Lock(ctx, true, 0, 0); err != nil {
						return err
					}
					return w.Unlock(ctx, 0)
				})
				each(t, all[1:], func(ctx context.Context, w *Win) error {
					if err := w.LockAll(ctx, 0); err != nil {
						return err
					}
					return w.UnlockAll(ctx)
				})
			}
			if err := g.loops[2].Close(); err != nil {
				t.Fatal(err)
			}
			each(t, all[:1], func(ctx context.Context, w *Win) error {
				return deathOf(until(ctx, w.targets[2].deadErr), 2)
			})
		})
	}
}
