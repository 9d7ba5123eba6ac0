package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// noBeat is a Config.Beat without looks.
func noBeat(func()) func() { return func() {} }

// beaten are engines that look as often as the processor lets them, while f runs, and
// not by the clock.
func beaten(t *testing.T, n int, f func(ctx context.Context, in *Instance) error) []error {
	t.Helper()
	return beatenWith(t, n, func(*Config) {}, f)
}

// beatenWith is beaten for a Config that set has changed.
func beatenWith(t *testing.T, n int, set func(*Config), f func(ctx context.Context, in *Instance) error) []error {
	t.Helper()
	var mu sync.Mutex
	looks := map[int]func(){}
	ranks := configured(t, n, func(cfg *Config) {
		set(cfg)
		cfg.Operator = func(n uint16) string { return fmt.Sprint("operator ", n) }
		cfg.Beat = func(look func()) func() {
			mu.Lock()
			defer mu.Unlock()
			looks[cfg.Rank] = look
			return func() {}
		}
	})
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			for _, look := range looks {
				select {
				case <-over:
					return
				default:
					look()
					runtime.Gosched()
				}
			}
		}
	})
	defer wg.Wait()
	defer close(over)
	return each(ranks, f)
}

// make1 makes a collective call, as mpi does, with a vector or blocks of n words.
func make1(ctx context.Context, c *Comm, nonblocking bool, call coll.Call, root, n int, op uint16) error {
	p := c.Plan(&PlanKey{Call: call, Elem: 8, Root: root, Count: n, Commutes: true})
	o := Operands{In: words(n*c.Size, 1), Out: make([]byte, 8*n*c.Size), Elem: 8, Op: op, Combine: func(a, b, to []byte) {}}
	if nonblocking {
		h := c.Icollective(ctx, call, p, &o)
		_, err := progress.WaitResult(&h)
		return err
	}
	return c.Collective(ctx, call, p, &o)
}

// What ranks do that go together or not, by name.
var deeds = map[string]func(ctx context.Context, c *Comm) error{
	"Bcast":      func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Bcast, 0, 1, 0) },
	"Bcast of 2": func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Bcast, 0, 2, 0) },
	"Bcast of 0": func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Bcast, 0, 0, 0) },
	"Ibcast":     func(ctx context.Context, c *Comm) error { return make1(ctx, c, true, coll.Bcast, 0, 1, 0) },
	"BcastInit": func(ctx context.Context, c *Comm) error {
		p := c.Plan(&PlanKey{Call: coll.Bcast, Elem: 8, Count: 1})
		return ways["persistent"](ctx, c, coll.Bcast, p, Operands{In: words(1, 1), Out: make([]byte, 8), Elem: 8})
	},
	"Bcast of 2's":  func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Bcast, 2, 1, 0) },
	"Reduce":        func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Reduce, 0, 1, 1) },
	"Reduce to 1":   func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Reduce, 1, 1, 1) },
	"Allreduce":     func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Allreduce, 0, 1, 1) },
	"Allgather":     func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Allgather, 0, 1, 0) },
	"long Bcast":    func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Bcast, 0, 1<<18, 0) },
	"Gather":        func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Gather, 0, 1, 0) },
	"Gather of 0":   func(ctx context.Context, c *Comm) error { return make1(ctx, c, false, coll.Gather, 0, 0, 0) },
	"Ibarrier":      func(ctx context.Context, c *Comm) error { return make1(ctx, c, true, coll.Barrier, 0, 0, 0) },
	"Barrier":       func(ctx context.Context, c *Comm) error { return c.Barrier(ctx, false) },
	"Dup":           func(ctx context.Context, c *Comm) error { _, err := c.Create(ctx, Spec{}); return err },
	"Split":         func(ctx context.Context, c *Comm) error { _, err := c.Create(ctx, Spec{Split: true}); return err },
	"last Barrier":  func(ctx context.Context, c *Comm) error { return c.Barrier(ctx, true) },
	"nothing":       func(ctx context.Context, c *Comm) error { <-ctx.Done(); return nil },
	"Create of all": func(ctx context.Context, c *Comm) error { _, err := c.Create(ctx, Spec{Group: allOf(c)}); return err },
}

func allOf(c *Comm) *group.Map {
	var worlds []int
	for r := range c.Size {
		worlds = append(worlds, c.world(r))
	}
	g, _ := group.New(worlds)
	return g
}

// Collective calls that do not match fail at every rank, which hears of both calls.
// Then the communicator is broken.
func TestCallsThatDifferFailAtAllRanks(t *testing.T) {
	for _, c := range []struct {
		most, one string   // what ranks do
		odd       int      // the rank of 4 that does the other thing
		say       []string // what the errors say
	}{
		{"Bcast", "Reduce", 2, []string{"Bcast of 8 bytes from root 0", "Reduce of 8 bytes to root 0 by operator 1"}},
		{"Bcast", "Bcast of 2's", 0, []string{"Bcast of 8 bytes from root 2"}},
		{"Bcast of 0", "Bcast of 2", 1, nil},
		{"Bcast of 2", "Bcast of 0", 1, nil}, // a leaf
		{"Bcast", "Ibcast", 1, []string{"nonblocking Bcast"}},
		{"Ibcast", "Bcast", 1, []string{"nonblocking Bcast"}},
		{"Bcast", "BcastInit", 1, []string{"persistent Bcast"}},
		{"BcastInit", "Ibcast", 0, []string{"persistent Bcast", "nonblocking Bcast"}},
		{"Bcast", "Barrier", 1, []string{"Barrier"}},
		{"Barrier", "Bcast", 1, []string{"Barrier"}},
		{"Barrier", "Ibarrier", 1, []string{"nonblocking Barrier"}},
		{"Allreduce", "Allgather", 1, []string{"Allgather of 8 bytes a rank", "Allreduce"}},
		{"Allreduce", "long Bcast", 1, nil},
		{"long Bcast", "Allreduce", 1, nil},
		{"Reduce", "Reduce to 1", 1, []string{"to root 1"}},
		{"Gather", "Gather of 0", 1, nil},
		{"Dup", "Split", 1, []string{"Dup", "Split"}},
		{"Split", "Create of all", 1, []string{"Split", "Create"}},
		{"Barrier", "Dup", 1, []string{"Dup"}},
		{"Ibcast", "Split", 1, []string{"Split"}},
	} {
		for _, before := range []int{0, 3} { // barriers: from the third on they use flags
			for _, split := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s and %s/behind %d barriers/of a Split %t", c.most, c.one, before, split), func(t *testing.T) {
					text := ""
					var mu sync.Mutex
					found := false
					for rank, err := range beaten(t, 4, func(ctx context.Context, in *Instance) error {
						w := in.World
						if split {
							var err error
							if w, err = w.Create(ctx, Spec{Split: true, Key: -w.Rank}); err != nil {
								return err
							}
						}
						for range before {
							if err := w.Barrier(ctx, false); err != nil {
								return err
							}
						}
						deed := deeds[c.most]
						if w.Rank == c.odd {
							deed = deeds[c.one]
						}
						err := deed(ctx, w)
						if err == nil { // it has left early: the next call fails
							err = deeds["Allgather"](ctx, w)
						}
						var later *cause.BrokenError
						if again := deeds["Barrier"](ctx, w); !errors.As(again, &later) {
							return fmt.Errorf("a later call gives %w", again)
						}
						mu.Lock()
						defer mu.Unlock()
						if text += fmt.Sprintln(err); errors.As(err, new(*cause.MismatchError)) {
							found = true
						}
						return err
					}) {
						if err == nil || errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("rank %d: %v", rank, err)
						}
					}
					if !found && c.say != nil {
						t.Errorf("no rank has found it out: %s", text)
					}
					for _, say := range c.say {
						// What one rank sees of the other's call may be its name only.
						name, _, _ := strings.Cut(say, " ")
						if !strings.Contains(text, say) && !strings.Contains(text, "is in "+name+" where") {
							t.Errorf("%q is not in %s", say, text)
						}
					}
				})
			}
		}
	}
}

// A rank that has gone to the last barrier is told from one that is late.
func TestACallBehindTheEndOfAnotherRankFails(t *testing.T) {
	failed := make(chan struct{})
	for rank, err := range beaten(t, 2, func(ctx context.Context, in *Instance) error {
		if in.World.Rank == 1 {
			in.End()
			return in.World.Barrier(ctx, true)
		}
		err := deeds["Allreduce"](ctx, in.World)
		close(failed)
		if again := in.World.Barrier(ctx, true); again != nil {
			return again
		}
		return err
	}) {
		switch {
		case rank == 1 && err != nil:
			t.Errorf("the last barrier: %v", err)
		case rank == 0 && (!errors.As(err, new(*cause.MismatchError)) || !strings.Contains(err.Error(), "rank 1 is in Finalize")):
			t.Errorf("%v", err)
		}
	}
}

// A rank that has run ahead, so far that it has forgotten the call, has left messages of
// it.
func TestARankThatHasRunAheadIsFound(t *testing.T) {
	for rank, err := range beaten(t, 2, func(ctx context.Context, in *Instance) error {
		if in.World.Rank == 1 {
			return deeds["Allreduce"](ctx, in.World)
		}
		for range 3 * historySize {
			if err := deeds["Bcast"](ctx, in.World); err != nil {
				return err
			}
		}
		return deeds["Barrier"](ctx, in.World)
	}) {
		if err == nil || !strings.Contains(err.Error(), "rank 0 is in Bcast where rank 1 is in Allreduce") {
			if rank == 1 || err == nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	}
}

// A rank that is late, and calls that match, are not taken for calls that differ.
func TestCallsThatMatchAreNotTakenForOthers(t *testing.T) {
	const size = 4
	for _, checks := range []bool{false, true} {
		late := make(chan struct{})
		noErrors(t, beatenWith(t, size, func(cfg *Config) { cfg.Check = checks }, func(ctx context.Context, in *Instance) error {
			rng := rand.New(rand.NewPCG(1, 2)) // the same at all ranks
			names := []string{"Bcast", "Ibcast", "Bcast of 2's", "Reduce", "Reduce to 1", "Allreduce", "Allgather", "long Bcast", "Gather",
				"Gather of 0", "Bcast of 0", "Ibarrier", "Barrier", "Dup", "Split", "Create of all"}
			w := in.World
			if w.Rank == 2 {
				<-late
			} else if w.Rank == 0 {
				go func() { // the others wait for many looks
					for range 500 {
						in.look()
						runtime.Gosched()
					}
					close(late)
				}()
			}
			for range 3 * historySize {
				name := names[rng.IntN(len(names))]
				if err := deeds[name](ctx, w); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		}))
	}
}

// A reply counts only while the call waits for the rank that sends it.
func TestALateReplyChangesNothing(t *testing.T) {
	ranks := engines(t, 3)
	noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
		if err := deeds["Allreduce"](ctx, in.World); err != nil {
			return err
		}
		in.Loop.Exclusive(func() {
			hdr := wire.MakeCompared(make([]byte, wire.ComparedSize), 1, uint32(coll.Bcast)<<callShift, 0)
			in.comparisons.Deliver(fabric.Peer((in.World.Rank+1)%3), wire.Compared, uint64(in.World.Library()), hdr, nil)
		})
		return deeds["Barrier"](ctx, in.World)
	}))
}

// The history knows the last calls, whatever their numbers, and no others.
func TestTheHistoryKnowsTheLastCalls(t *testing.T) {
	for _, first := range []uint32{0, 1, historySize - 1, 1<<32 - 100} {
		var h history
		is := func(n uint32) signature {
			return signed(coll.Call(1+n%15), uint16(n), coll.Alike(n)<<20)
		}
		for i := range uint32(300) {
			h.note(first+i, is(first+i))
			for k := range uint32(historySize) {
				if s, ok := h.of(first + i - k); ok != (k <= i) || ok && s != is(first+i-k) {
					t.Fatalf("call %d at %d: %+v, %t", first+i-k, first+i, s, ok)
				}
			}
			if _, ok := h.of(first + i + 1); ok {
				t.Fatalf("call %d is known before it is made", first+i+1)
			}
			for _, other := range []int{-historySize, 256 * historySize} {
				if _, ok := h.of(first + i + uint32(other)); ok {
					t.Fatalf("call %d is known at %d", first+i+uint32(other), first+i)
				}
			}
		}
	}
}

// With checks calls that differ fail at all ranks, also those that would end, and
// without a look.
func TestChecksFindCallsThatWouldEnd(t *testing.T) {
	for _, c := range [][2]string{{"Bcast", "Bcast of 2's"}, {"Bcast", "Reduce"}, {"Bcast", "Ibcast"}, {"Barrier", "Bcast"}, {"Ibarrier", "Barrier"}, {"Dup", "Split"},
		{"Gather", "Gather of 0"}, {"Reduce", "Reduce to 1"}, {"Bcast of 0", "Bcast"}, {"Allgather", "Allreduce"}, {"long Bcast", "Allgather"}} {
		t.Run(c[0]+" and "+c[1], func(t *testing.T) {
			for rank, err := range each(configured(t, 4, func(cfg *Config) { cfg.Check, cfg.Beat = true, noBeat }), func(ctx context.Context, in *Instance) error {
				if err := in.World.Barrier(ctx, false); err != nil {
					return err
				}
				deed := deeds[c[0]]
				if in.World.Rank == 1 {
					deed = deeds[c[1]]
				}
				err := deed(ctx, in.World)
				if later := (*cause.BrokenError)(nil); !errors.As(deeds["Barrier"](ctx, in.World), &later) {
					t.Errorf("rank %d can go on", in.World.Rank)
				}
				return err
			}) {
				var told *cause.CallError
				switch {
				case errors.As(err, &told) && strings.Contains(err.Error(), " where rank "):
				case !errors.As(err, new(*cause.MismatchError)) || strings.Contains(err.Error(), "checks"):
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// Where some ranks check and others do not, they are told.
func TestRanksThatDisagreeOnChecksAreTold(t *testing.T) {
	for _, name := range []string{"Bcast", "Allreduce", "Ibcast", "Dup", "Barrier"} {
		for rank, err := range beatenWith(t, 3, func(cfg *Config) { cfg.Check = cfg.Rank == 0 }, func(ctx context.Context, in *Instance) error {
			err := deeds[name](ctx, in.World)
			if err == nil {
				err = deeds["Allreduce"](ctx, in.World)
			}
			return err
		}) {
			if err == nil || !strings.Contains(err.Error(), "with checks") {
				t.Errorf("%s, rank %d: %v", name, rank, err)
			}
		}
	}
}

// A call with checks has another signature than one without.
func TestTheCheckIsPartOfTheSignature(t *testing.T) {
	for _, check := range []bool{false, true} {
		in := configured(t, 1, func(cfg *Config) { cfg.Check, cfg.Beat = check, noBeat })[0]
		noErrors(t, []error{deeds["Allgather"](t.Context(), in.World)})
		if s, ok := in.World.history.of(1); !ok || s.call() != coll.Allgather || (s.what&checked != 0) != check {
			t.Errorf("checks %t: %+v, %t", check, s, ok)
		}
	}
}
