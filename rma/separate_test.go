package rma

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/op"
)

// player is a rank of a program that is to be reported, or not.
type player struct {
	*Win
	g         *mesh
	ctx       context.Context
	mem       []byte
	base      int    // of rank 0's part
	label     string // the line of its next call
	err       error  // of calls that should not fail
	conflicts []*ConflictError
}

// took sorts the error of a call.
func (k *player) took(err error) {
	if err == nil {
		return
	}
	var c *ConflictError
	if !errors.As(err, &c) {
		k.err = errors.Join(k.err, err)
		return
	}
	if all, is := err.(interface{ Unwrap() []error }); is {
		for _, e := range all.Unwrap() {
			k.took(e)
		}
		return
	}
	k.conflicts = append(k.conflicts, c)
}

func (k *player) at(label string) *player { k.label = label; return k }

func (k *player) put(target, at, n int) {
	k.took(k.Do(&Transfer{Src: pattern(n, k.rank, at), Target: target, At: k.base + at}))
}
func (k *player) get(target, at, n int) {
	k.took(k.Do(&Transfer{Old: make([]byte, n), Target: target, At: k.base + at}))
}
func (k *player) sum(target, at int, kind op.Kind) {
	k.took(k.Do(&Transfer{Src: make([]byte, kind.Size()), Code: op.CodeSum, Kind: kind, Target: target, At: k.base + at}))
}
func (k *player) store(at int)           { k.mem[at]++ }
func (k *player) meet()                  { k.took(k.g.gate.wait(k.ctx)) }
func (k *player) fence()                 { k.took(k.at("fence").Fence(k.ctx, 0)) }
func (k *player) lock(target int)        { k.took(k.at("lock").Lock(k.ctx, true, target, 0)) }
func (k *player) unlock(target int)      { k.took(k.at("unlock").Unlock(k.ctx, target)) }
func (k *player) lockAll()               { k.took(k.at("lock all").LockAll(k.ctx, 0)) }
func (k *player) unlockAll()             { k.took(k.at("unlock all").UnlockAll(k.ctx)) }
func (k *player) sync()                  { k.took(k.at("sync").Sync()) }
func (k *player) flush(target int)       { k.took(k.at("flush").Flush(k.ctx, target, false)) }
func (k *player) flushLocal(target int)  { k.took(k.at("flush").Flush(k.ctx, target, true)) }
func (k *player) turns(all ...func())    { k.inTurn(all, true) }
func (k *player) together(all ...func()) { k.inTurn(all, false) }

// inTurn has each rank do its part, one after the other or all at once.
func (k *player) inTurn(all []func(), turns bool) {
	for rank, f := range all {
		if rank == k.rank && f != nil {
			f()
		}
		if turns {
			k.meet()
		}
	}
	k.meet()
}

// exposed has rank 0 expose its part to the others meanwhile.
func (k *player) exposed(all ...func()) {
	if k.rank == 0 {
		k.took(k.at("post").Post([]int{1, 2}, 0))
	} else {
		k.took(k.at("start").Start(k.ctx, []int{0}, 0))
	}
	k.turns(all...)
	if k.rank == 0 {
		k.took(k.at("wait").Wait(k.ctx))
	} else {
		k.took(k.at("complete").Complete(k.ctx))
	}
}

// fenced is an epoch of fences.
func (k *player) fenced(all ...func()) {
	k.fence()
	k.turns(all...)
	k.fence()
}

// checkedPrograms are of three ranks, and about the part of rank 0. want is the two lines of
// what is reported, or "": their order is that in which the target hears of them.
var checkedPrograms = []struct {
	name string
	play func(k *player)
	want string
}{
	{"Puts of two ranks in a fence epoch", func(k *player) {
		k.fenced(nil, func() { k.at("a").put(0, 0, 8) }, func() { k.at("b").put(0, 4, 8) })
	}, "a, b"},
	{"Puts of two ranks with a fence between", func(k *player) {
		k.fenced(nil, func() { k.put(0, 0, 8) })
		k.fenced(nil, nil, func() { k.put(0, 0, 8) })
	}, ""},
	{"a store and a Put in a fence epoch", func(k *player) {
		k.fenced(func() { k.store(3) }, func() { k.at("a").put(0, 0, 8) })
	}, "a, fence"},
	{"a store while a Put is under way", func(k *player) {
		k.fence()
		k.turns(nil, func() { k.at("a").put(0, 0, 8) })
		k.together(func() { k.store(3) })
		k.fence()
	}, "a, fence"},
	{"a store and a Get in a fence epoch", func(k *player) {
		k.fenced(func() { k.store(3) }, nil, func() { k.at("a").get(0, 0, 8) })
	}, "a, fence"},
	{"stores and Puts in epochs of their own", func(k *player) {
		k.fenced(func() { k.store(3) })
		k.fenced(nil, func() { k.put(0, 0, 8) })
		k.fenced(func() { k.store(3) })
		k.fenced(nil, nil, func() { k.get(0, 0, 8) })
	}, ""},
	{"a Put to oneself and a Get of another rank", func(k *player) {
		k.fenced(func() { k.at("a").put(0, 0, 8) }, func() { k.at("b").get(0, 0, 1) })
	}, "a, b"},
	{"Puts of one rank", func(k *player) {
		k.fenced(nil, func() { k.at("a").put(0, 0, 8); k.at("b").put(0, 7, 100) })
	}, "a, b"},
	{"Puts of one rank in an exposure epoch each", func(k *player) {
		k.exposed(nil, func() { k.put(0, 0, 8) })
		k.exposed(nil, func() { k.put(0, 0, 8) })
	}, ""},
	{"a Put and a Get in an exposure epoch", func(k *player) {
		k.exposed(nil, func() { k.at("a").put(0, 0, 200) }, func() { k.at("b").get(0, 100, 1) })
	}, "a, b"},
	{"a store within the own exposure epoch", func(k *player) {
		k.exposed(func() { k.store(0) }, func() { k.at("a").put(0, 0, 8) })
	}, "a, post"},
	{"a store between exposure epochs", func(k *player) {
		k.exposed(nil, func() { k.put(0, 0, 8) })
		k.together(func() { k.store(0) })
		k.exposed(nil, func() { k.put(0, 0, 8) })
	}, ""},
	{"accumulates of two types", func(k *player) {
		k.exposed(nil, func() { k.at("a").sum(0, 0, op.Int64) }, func() { k.at("b").sum(0, 0, op.Float64) })
	}, "a, b"},
	{"accumulates of one type", func(k *player) {
		k.exposed(func() { k.lock(1); k.unlock(1) }, func() { k.sum(0, 0, op.Int64); k.sum(0, 8, op.Int64) }, func() { k.sum(0, 0, op.Int64) })
	}, ""},
	{"a Put that is not flushed and a Put", func(k *player) {
		k.lockAll()
		k.turns(nil, func() { k.at("a").put(0, 0, 8); k.flushLocal(0) }, func() { k.at("b").get(0, 0, 8); k.flush(0) })
		k.unlockAll()
	}, "a, b"},
	{"a Put that is flushed and a Put", func(k *player) {
		k.lockAll()
		k.turns(nil, func() { k.put(0, 0, 8); k.flush(0) }, func() { k.put(0, 0, 8) })
		k.unlockAll()
	}, ""},
	{"a Get that has returned and a Put", func(k *player) {
		k.lockAll()
		k.turns(nil, func() { k.get(0, 0, 8); k.flushLocal(0) }, func() { k.put(0, 0, 8) })
		k.unlockAll()
	}, ""},
	{"Puts under exclusive locks", func(k *player) {
		put := func() { k.lock(0); k.put(0, 0, 8); k.unlock(0) }
		k.together(put, put, put)
	}, ""},
	{"a store that nothing has published and a Get", func(k *player) {
		k.turns(func() { k.lock(0); k.unlock(0); k.store(1) }, func() { k.lock(0); k.at("a").get(0, 0, 8); k.unlock(0) })
		k.together(func() { k.lock(0); k.unlock(0) })
	}, "a, unlock"},
	{"a store that Unlock has published and a Get", func(k *player) {
		k.turns(func() { k.lock(0); k.store(1); k.unlock(0) }, func() { k.lock(0); k.get(0, 0, 8); k.unlock(0) })
	}, ""},
	{"a store that Sync has published and a Get", func(k *player) {
		k.lockAll()
		k.turns(func() { k.store(1); k.sync() }, func() { k.get(0, 0, 8); k.flush(0) })
		k.unlockAll()
	}, ""},
	{"a store where a Put has ended that this rank has not seen", func(k *player) {
		k.turns(nil, func() { k.lock(0); k.at("a").put(0, 0, 8); k.unlock(0) })
		k.together(func() { k.store(1); k.lock(0); k.unlock(0) })
	}, ", a"},
	{"a store where a Put has ended that this rank has seen", func(k *player) {
		k.turns(nil, func() { k.lock(0); k.put(0, 0, 8); k.unlock(0) })
		k.together(func() { k.lock(0); k.store(1); k.unlock(0) })
	}, ""},
}

// What conflicts is reported with both lines at the target and at the later origin, by
// the calls that end the epochs, and what does not is not.
func TestConflictsAreReportedWithBothLines(t *testing.T) {
	for name, of := range transports {
		t.Run(name, func(t *testing.T) {
			g, err := newMesh(fmt.Sprintf("conflicts %d %s ", os.Getpid(), name), 3, 64, of(3), func(a, b int) way { return reached }, nil)
			if err != nil {
				t.Fatal(err)
			}
			id := uint32(16)
			for _, dynamic := range []bool{false, true} {
				for _, p := range checkedPrograms {
					t.Run(fmt.Sprintf("%s, dynamic %t", p.name, dynamic), func(t *testing.T) { playProgram(t, g, id, dynamic, p.play, p.want) })
					id += 16
				}
			}
			if err := g.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func playProgram(t *testing.T, g *mesh, id uint32, dynamic bool, play func(*player), want string) {
	all := players(t, g, id, dynamic)
	each(t, windowsOf(all), func(ctx context.Context, w *Win) error {
		k := all[w.rank]
		k.ctx = ctx
		play(k)
		k.meet()
		return k.err
	})
	for rank, k := range all {
		var got []string
		for _, e := range k.conflicts {
			got = append(got, min(e.First.Line, e.Second.Line)+", "+max(e.First.Line, e.Second.Line))
			if e.Target != 0 || e.Bytes == 0 || !strings.Contains(e.Error(), ": ") {
				t.Errorf("rank %d: %v", rank, e)
			}
		}
		if rank == 0 && strings.Join(got, "; ") != want || rank > 0 && want == "" && got != nil {
			t.Errorf("rank %d has %q, want %q", rank, got, want)
		}
		if n := len(got); rank > 0 && want != "" && n > 0 && (n > 1 || got[0] != want) {
			t.Errorf("rank %d has %q, want %q", rank, got, want)
		}
	}
	if want == "" || len(all[0].conflicts) == 0 {
		return
	}
	if who := all[0].conflicts[0].Second.Rank; len(all[who].conflicts) == 0 {
		t.Errorf("rank %d, whose access came second, has no report", who)
	}
}

func windowsOf(all []*player) (wins []*Win) {
	for _, k := range all {
		wins = append(wins, k.Win)
	}
	return wins
}

// players are the ranks of a window with separate memory.
func players(t *testing.T, g *mesh, id uint32, dynamic bool) []*player {
	const size = 256
	all := make([]*player, g.n)
	g.line = func(rank int) string {
		if all[rank] == nil {
			return ""
		}
		return all[rank].label
	}
	mem, unit, base := make([][]byte, g.n), 1, 0
	for i := range mem {
		mem[i] = make([]byte, size)
	}
	parts := mem
	if dynamic {
		parts, unit = nil, Dynamic
	}
	wins, err := g.window(id, parts, unit)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wins {
		all[i] = &player{Win: w, g: g, mem: mem[i]}
		if dynamic {
			at, err := w.Attach(mem[i])
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				base = int(at)
			}
		}
	}
	for _, k := range all {
		k.base = base
	}
	return all
}

// By the time another rank can have the lock, the accesses under it have ended.
func TestALockGoesOnBehindItsAccesses(t *testing.T) {
	g, err := newMesh("locks ", 1, 64, transports["mem"](1), func(a, b int) way { return reached }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, global := range []bool{false, true} {
		all := players(t, g, uint32(16+16*i), false)
		each(t, windowsOf(all), func(ctx context.Context, w *Win) error {
			k, kind, target := all[0], lockExclusive, 0
			if k.ctx = ctx; global {
				kind, target = lockShared, lockEverywhere
				k.lockAll()
			} else {
				k.lock(0)
			}
			k.put(0, 0, 8)
			w.e.loop.Exclusive(func() {
				w.unlock(kind, target)
				if n := len(w.check.ledger.open); n > 0 {
					t.Errorf("%d accesses are open behind the lock, for all %t", n, global)
				}
			})
			_, err := w.take(kind, target)
			if k.took(err); global {
				k.unlockAll()
			} else {
				k.unlock(0)
			}
			return k.err
		})
	}
	if err := g.close(); err != nil {
		t.Error(err)
	}
}
