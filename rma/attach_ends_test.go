package rma

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// Each call that ends operations tells that one was refused, and ends its epoch all the
// same: the window goes on.
func TestEachCallThatEndsAnOperationTellsOfItsRefusal(t *testing.T) {
	stale := func(w *Win) error { return w.Do(&Transfer{Src: make([]byte, 300), Target: 1, At: 4096}) }
	refused := func(err error) error {
		var bad *RangeError
		if !errors.As(err, &bad) || *bad != (RangeError{1, 4096, 300}) {
			return fmt.Errorf("%v, want that 300 bytes at 4096 of rank 1 are refused", err)
		}
		return nil
	}
	locked := func(ctx context.Context, w *Win, end func() error) error {
		if w.rank != 0 {
			return nil
		}
		return errors.Join(w.LockAll(ctx, 0), stale(w), refused(end()), w.UnlockAll(ctx))
	}
	calls := map[string]func(ctx context.Context, w *Win) error{
		"Fence": func(ctx context.Context, w *Win) error {
			if w.rank != 0 {
				return errors.Join(w.Fence(ctx, NoPrecede), w.Fence(ctx, NoSucceed))
			}
			return errors.Join(w.Fence(ctx, NoPrecede), stale(w), refused(w.Fence(ctx, NoSucceed)))
		},
		"Complete": func(ctx context.Context, w *Win) error {
			if w.rank != 0 {
				return errors.Join(w.Post([]int{0}, 0), w.Wait(ctx))
			}
			return errors.Join(w.Start(ctx, []int{1}, 0), stale(w), refused(w.Complete(ctx)))
		},
		"Unlock": func(ctx context.Context, w *Win) error {
			if w.rank != 0 {
				return nil
			}
			return errors.Join(w.Lock(ctx, true, 1, 0), stale(w), refused(w.Unlock(ctx, 1)))
		},
		"UnlockAll": func(ctx context.Context, w *Win) error {
			if w.rank != 0 {
				return nil
			}
			return errors.Join(w.LockAll(ctx, 0), stale(w), refused(w.UnlockAll(ctx)))
		},
		"Flush": func(ctx context.Context, w *Win) error {
			return locked(ctx, w, func() error { return w.Flush(ctx, 1, false) })
		},
		"FlushAll": func(ctx context.Context, w *Win) error {
			return locked(ctx, w, func() error { return w.FlushAll(ctx, false) })
		},
		"Flush behind a local one": func(ctx context.Context, w *Win) error {
			return locked(ctx, w, func() error { return errors.Join(w.Flush(ctx, 1, true), w.Flush(ctx, 1, false)) })
		},
	}
	onTransports(t, 2, 64, func(t *testing.T, g *mesh) {
		all, err := g.window(16, nil, Dynamic)
		if err != nil {
			t.Fatal(err)
		}
		mem := make([]byte, 200)
		at, err := all[1].Attach(mem)
		if err != nil {
			t.Fatal(err)
		}
		n := byte(0)
		for name, f := range calls {
			n++
			each(t, all, func(ctx context.Context, w *Win) error {
				if err := f(ctx, w); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				if w.rank != 0 {
					return nil
				}
				want, got := bytes.Repeat([]byte{n}, 200), make([]byte, 200)
				err := errors.Join(w.Lock(ctx, true, 1, 0), w.Do(&Transfer{Src: want, Target: 1, At: int(at)}), w.Flush(ctx, 1, false),
					w.Do(&Transfer{Old: got, Target: 1, At: int(at)}), w.Unlock(ctx, 1))
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("% x, want % x", got, want)
				}
				if err != nil {
					return fmt.Errorf("behind %s: %w", name, err)
				}
				return nil
			})
		}
	})
}
