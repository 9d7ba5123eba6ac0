package rma

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

func deathOf(err error, rank int) error {
	var of *RankError
	if !errors.As(err, &of) || of.Rank != rank || !errors.Is(err, fabric.ErrPeerDown) {
		return fmt.Errorf("%v, want the death of rank %d", err, rank)
	}
	return nil
}

// A flush tells of a death, and has waited for the living.
func TestAFlushTellsOfADeath(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			g := newRig(t, 3, how)
			all := g.windows(t, 16, 64)
			if err := g.loops[1].Close(); err != nil {
				t.Fatal(err)
			}
			each(t, []*Win{all[0], all[2]}, func(ctx context.Context, w *Win) error {
				w.do(&Transfer{Src: pattern(32, w.rank, 1), Target: 1, At: 16 * w.rank})
				if err := deathOf(until(ctx, func() error { return w.flush(ctx, 1, false) }), 1); err != nil {
					return err
				}
				w.do(&Transfer{Src: pattern(8, w.rank, 0), Target: 0, At: 8 * w.rank})
				w.do(&Transfer{Src: pattern(8, w.rank, 1), Target: 1, At: 16 * w.rank})
				if err := deathOf(w.flushAll(ctx, false), 1); err != nil {
					return err
				}
				return w.flush(ctx, 0, false)
			})
			for _, r := range []int{0, 2} {
				if string(all[0].mem[8*r:][:8]) != string(pattern(8, r, 0)) {
					t.Errorf("what rank %d has put at the living is not there", r)
				}
			}
		})
	}
}

// until calls f until it fails.
func until(ctx context.Context, f func() error) (err error) {
	for err == nil && ctx.Err() == nil {
		err = f()
	}
	return err
}

// A rank that waits for a dead rank's signal gets an error, the others theirs.
func TestWaitsForADeadRankEnd(t *testing.T) {
	g := newRig(t, 3, byFabric)
	all := g.windows(t, 16, 64)
	both := []*Win{all[0], all[2]}
	each(t, both, func(ctx context.Context, w *Win) error {
		other := 2 - w.rank
		w.Post([]int{1, other}, 0)
		if w.rank == 0 {
			if err := g.loops[1].Close(); err != nil {
				return err
			}
		}
		if err := deathOf(w.Start(ctx, []int{1, other}, 0), 1); err != nil {
			return err
		}
		return deathOf(w.Wait(ctx), 1)
	})
	for _, w := range both {
		if n := len(w.e.ops) - len(w.e.idle); n != 0 {
			t.Errorf("rank %d has %d operations left", w.rank, n)
		}
	}
}

// A wait ends with its context, and what it waited for goes on.
func TestAWaitEndsWithItsContext(t *testing.T) {
	all := newRig(t, 3, byFabric).windows(t, 16, 64)
	all[2].Post([]int{0}, 0)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := all[0].Start(ctx, []int{1, 2}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that the context has ended", err)
	}
	all[1].Post([]int{0}, 0)
	if err := all[0].Start(context.Background(), []int{1, 2}, 0); err != nil {
		t.Error(err)
	}
}

// What begins when the death of its target is known fails: with a request in the wait
// for that, else in the next flush. The memory may be in reach for ever.
func TestOperationsWithTheDeadFail(t *testing.T) {
	for how := range ways {
		t.Run(how.String(), func(t *testing.T) {
			g := newRig(t, 2, how)
			w := g.windows(t, 16, 64)[0]
			ctx := t.Context()
			if err := errors.Join(w.LockAll(ctx, NoCheck), g.loops[1].Close()); err != nil {
				t.Fatal(err)
			}
			known := func() error { return deathOf(until(ctx, func() error { return w.flush(ctx, 1, false) }), 1) }
			if err := known(); err != nil {
				t.Fatal(err)
			}
			for name, x := range map[string]*Transfer{
				"Rput": {Src: pattern(32, 0, 1), Target: 1}, "Rget": {Old: make([]byte, 32), Target: 1},
				"Raccumulate": {Src: make([]byte, 8), Code: op.CodeSum, Kind: op.Int64, Target: 1},
			} {
				h, err := w.Begin(x)
				if err == nil {
					_, err = progress.Wait(&h)
				}
				if err := deathOf(err, 1); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			for _, x := range []*Transfer{{Src: pattern(32, 0, 1), Target: 1}, {Old: make([]byte, 32), Target: 1}} {
				if err := w.Do(x); err != nil {
					t.Fatal(err)
				}
				if err := deathOf(w.flush(ctx, 1, false), 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
