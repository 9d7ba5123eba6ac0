package rma

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Which calls of a rank make its stores visible to others (rule 5 of MPI-4.0 §12.7), and
// the updates of others to its loads (rule 6): these, and no others. Both are there
// before the call, of which begin is what has to come first.
func TestCopiesMeetInTheCallsThatTheRulesName(t *testing.T) {
	none := func(*player) error { return nil }
	posted := func(k *player) error { return k.Post(nil, 0) }
	started := func(k *player) error { return k.Start(k.ctx, nil, 0) }
	lockedAll := func(k *player) error { return k.LockAll(k.ctx, NoCheck) }
	locked := func(target int) func(*player) error {
		return func(k *player) error { return k.Lock(k.ctx, false, target, 0) }
	}
	for _, c := range []struct {
		name               string
		begin, call        func(k *player) error
		publishes, acquire bool
	}{
		{"Fence", none, func(k *player) error { return k.Fence(k.ctx, 0) }, true, true},
		{"Fence that promises that nothing precedes", none, func(k *player) error { return k.Fence(k.ctx, NoPrecede) }, true, true},
		{"Sync", lockedAll, func(k *player) error { return k.Sync() }, true, true},
		{"Post", none, posted, true, false},
		{"Wait", posted, func(k *player) error { return k.Wait(k.ctx) }, false, true},
		{"Test", posted, func(k *player) error {
			if ended, err := k.Test(k.ctx); !ended || err != nil {
				return fmt.Errorf("%t, %w", ended, err)
			}
			return nil
		}, false, true},
		{"Lock of the own part", none, locked(0), false, true},
		{"Lock of another part", none, locked(1), false, true},
		{"LockAll", none, lockedAll, false, true},
		{"Unlock of the own part", locked(0), func(k *player) error { return k.Unlock(k.ctx, 0) }, true, false},
		{"Unlock of another part", locked(1), func(k *player) error { return k.Unlock(k.ctx, 1) }, true, false},
		{"UnlockAll", lockedAll, func(k *player) error { return k.UnlockAll(k.ctx) }, true, false},
		{"Start", none, started, false, false},
		{"Complete", started, func(k *player) error { return k.Complete(k.ctx) }, false, false},
		{"Flush", lockedAll, func(k *player) error { return k.Flush(k.ctx, 1, false) }, false, false},
		{"FlushLocal", lockedAll, func(k *player) error { return k.Flush(k.ctx, 0, true) }, false, false},
		{"FlushAll", lockedAll, func(k *player) error { return k.FlushAll(k.ctx, false) }, false, false},
		{"FlushLocalAll", lockedAll, func(k *player) error { return k.FlushAll(k.ctx, true) }, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := newMesh(t.Name(), 2, 64, memNetworks(2), func(a, b int) way { return reached }, nil)
			if err != nil {
				t.Fatal(err)
			}
			all := players(t, g, 16, false)
			const stored, updated = 3, 100
			each(t, windowsOf(all), func(ctx context.Context, w *Win) error {
				k := all[w.rank]
				k.ctx = ctx
				if k.rank == 1 {
					k.meet()
					err := errors.Join(k.Lock(ctx, false, 0, NoCheck), k.Do(&Transfer{Src: []byte{7}, At: updated}), k.Unlock(ctx, 0))
					k.meet()
					if c.name[0] == 'F' && c.name[1] == 'e' {
						err = errors.Join(err, c.call(k))
					}
					return err
				}
				err := c.begin(k)
				k.meet()
				k.meet() // rank 1 has written
				k.mem[stored] = 5
				before := [2]bool{k.public(stored) == 5, k.mem[updated] == 7}
				if err = errors.Join(err, c.call(k)); err != nil {
					return err
				}
				if after := [2]bool{k.public(stored) == 5, k.mem[updated] == 7}; before != [2]bool{} || after != [2]bool{c.publishes, c.acquire} {
					return fmt.Errorf("store and update are visible: %t before, %t after, want %t", before, after, [2]bool{c.publishes, c.acquire})
				}
				return nil
			})
			if err := g.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// public is a byte as operations see it.
func (k *player) public(at int) (b byte) {
	k.e.loop.Exclusive(func() { b = k.check.copies[0].public[at] })
	return b
}

// Ranks that do not agree on the memory of a window all learn so.
func TestAWindowIsSeparateAtAllRanksOrNone(t *testing.T) {
	g := newRig(t, 3, reached)
	all := make([]*Win, 3)
	for i, e := range g.engines {
		var line func() string
		if i == 1 {
			line = func() string { return "" }
		}
		var err error
		if all[i], err = e.Prepare(16, nil, i, 3, make([]byte, 8), 1, line); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range all {
		parts := make([]Part, 3)
		for k := range all {
			parts[k] = all[k].Part(i)
		}
		if err := w.Join(parts, nil); !errors.Is(err, ErrModels) {
			t.Errorf("rank %d: %v", i, err)
		}
	}
	for _, w := range all {
		w.Discard()
	}
}

// A line that does not fit a packet keeps its end, which has the number.
func TestALongLineKeepsItsEnd(t *testing.T) {
	for _, c := range []struct {
		line string
		room int
		want string
	}{{"main.go:12", 10, "main.go:12"}, {"/long/way/main.go:12", 13, "...main.go:12"}, {"main.go:12", 1 << 20, "main.go:12"}} {
		if got := lastOf(c.line, c.room); got != c.want {
			t.Errorf("%q in %d bytes is %q, want %q", c.line, c.room, got, c.want)
		}
	}
	if n := len(lastOf(string(make([]byte, 4000)), 1<<20)); n != mostLine {
		t.Errorf("%d bytes", n)
	}
}
