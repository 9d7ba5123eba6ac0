package comm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/progress"
)

// eachOrNone is each for ranks of which one may go wrong alone: the others see it die
// instead of waiting for it.
func eachOrNone(all []*Instance, f func(ctx context.Context, in *Instance) error) []error {
	return each(all, func(ctx context.Context, in *Instance) error {
		err := f(ctx, in)
		if err != nil {
			for _, other := range all {
				if other != in {
					other.Fail(in.World.Rank)
				}
			}
		}
		return err
	})
}

// members checks that c has these ranks of the job, by what they send one another.
func members(ctx context.Context, c *Comm, worlds []int) error {
	me := c.in.World.Rank
	at := slices.Index(worlds, me)
	switch {
	case at < 0 && c == nil:
		return nil
	case c == nil || at < 0:
		return fmt.Errorf("rank %d gets %v, want one of %v", me, c, worlds)
	case c.Rank != at || c.Size != len(worlds):
		return fmt.Errorf("rank %d is rank %d of %d, want %d of %v", me, c.Rank, c.Size, at, worlds)
	}
	for i, w := range worlds {
		if c.world(i) != w {
			return fmt.Errorf("rank %d of %v is %d", i, worlds, c.world(i))
		}
	}
	out := make([]byte, 8*c.Size)
	if err := c.Collective(ctx, coll.Allgather, all(c.Rank, c.Size, 1), &Operands{In: words(1, uint64(me)), Out: out, Elem: 8}); err != nil {
		return err
	}
	for i, w := range worlds {
		if out[8*i] != byte(w) {
			return fmt.Errorf("rank %d of %v at rank %d is %d", i, worlds, me, out[8*i])
		}
	}
	return c.Barrier(ctx, false)
}

// sorted are the ranks of the job that a Split puts together, by the plain rule.
func sorted(parent []int, colors, keys []int, color int) (worlds []int) {
	var at []int
	for i := range parent {
		if colors[i] == color {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return keys[a] - keys[b] })
	for _, i := range at {
		worlds = append(worlds, parent[i])
	}
	return worlds
}

// Random programs of Split, Create and Dup, of the communicators that come of them
// too, give each rank the communicator that the plain rules say.
func TestCreationsGiveTheRightCommunicators(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			size := 1 + int(seed)%7
			noErrors(t, eachOrNone(engines(t, size), func(ctx context.Context, in *Instance) error {
				// All ranks draw the same program.
				rng := rand.New(rand.NewPCG(seed, 1))
				type made struct {
					c      *Comm // nil at ranks outside
					worlds []int
				}
				world := make([]int, size)
				for i := range world {
					world[i] = i
				}
				comms := []made{{in.World, world}}
				for range 30 {
					parent := comms[rng.IntN(len(comms))]
					n := len(parent.worlds)
					colors, keys := make([]int, n), make([]int, n)
					for i := range n {
						if colors[i], keys[i] = rng.IntN(3), rng.IntN(3)-1; rng.IntN(6) == 0 {
							colors[i] = NoColor
						}
					}
					how, perm := rng.IntN(3), rng.Perm(n)
					few := perm[:rng.IntN(n+1)]
					me := slices.Index(parent.worlds, in.World.Rank)
					spec := Spec{}
					sets := [][]int{parent.worlds}
					switch how {
					case 1:
						sets = nil
						for color := range 3 {
							if s := sorted(parent.worlds, colors, keys, color); s != nil {
								sets = append(sets, s)
							}
						}
						if me >= 0 {
							spec = Spec{Split: true, Color: colors[me], Key: keys[me]}
						}
					case 2:
						sets = [][]int{{}}
						for _, i := range few {
							sets[0] = append(sets[0], parent.worlds[i])
						}
						spec.Group, _ = group.New(sets[0])
					}
					var c *Comm
					if me >= 0 {
						var err error
						if c, err = parent.c.Create(ctx, spec); err != nil {
							return err
						}
					}
					mine := -1
					for i, s := range sets {
						if slices.Contains(s, in.World.Rank) {
							mine = i
						}
					}
					switch {
					case mine < 0 && c != nil:
						return fmt.Errorf("rank %d gets a communicator that it is not in", in.World.Rank)
					case mine >= 0:
						if err := members(ctx, c, sets[mine]); err != nil {
							return err
						}
					}
					for i, s := range sets {
						if len(s) == 0 {
							continue
						}
						m := made{nil, s}
						if i == mine {
							m.c = c
						}
						comms = append(comms, m)
					}
				}
				return nil
			}))
		})
	}
}

// What fails at one rank makes the creation fail at all, which keep no id of it; the
// parent remains usable.
func TestACreationThatFailsAtOneRankFailsAtAll(t *testing.T) {
	const size = 4
	failure := errors.New("no")
	three, _ := group.New([]int{0, 2, 3})
	other, _ := group.New([]int{0, 3, 2})
	outside, _ := group.New([]int{0, 7})
	for name, c := range map[string]struct {
		spec  func(rank int) Spec
		wrong []int // ranks whose own error it is
		want  error
	}{
		"a rank that can't":    {func(rank int) Spec { return Spec{Failed: map[int]error{2: failure}[rank]} }, []int{2}, failure},
		"the first member":     {func(rank int) Spec { return Spec{Failed: map[int]error{0: failure}[rank]} }, []int{0}, failure},
		"a rank of a Split":    {func(rank int) Spec { return Spec{Split: true, Failed: map[int]error{3: failure}[rank]} }, []int{3}, failure},
		"groups that differ":   {func(rank int) Spec { return Spec{Group: map[bool]*group.Map{true: other, false: three}[rank == 2]} }, []int{0, 2, 3}, new(GroupsError)},
		"a group from outside": {func(rank int) Spec { return Spec{Group: map[bool]*group.Map{true: outside, false: three}[rank == 1]} }, []int{1}, new(OutsiderError)},
	} {
		t.Run(name, func(t *testing.T) {
			ranks := engines(t, size)
			errs := make([]error, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				made, err := in.World.Create(ctx, c.spec(in.World.Rank))
				if err == nil || made != nil {
					return fmt.Errorf("rank %d gets %v", in.World.Rank, made)
				}
				errs[in.World.Rank] = err
				d, err := in.World.Create(ctx, Spec{})
				if err != nil {
					return fmt.Errorf("the parent is not usable: %w", err)
				}
				return members(ctx, d, []int{0, 1, 2, 3})
			}))
			for rank, err := range errs {
				var told *CreationError
				switch mine := slices.Contains(c.wrong, rank); {
				case mine && c.want == failure && err != failure,
					mine && c.want != failure && fmt.Sprintf("%T", err) != fmt.Sprintf("%T", c.want),
					!mine && (!errors.As(err, &told) || !slices.Contains(c.wrong, told.Rank)):
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			for rank, in := range ranks {
				in.Loop.Exclusive(func() {
					if n := in.P2P.Reserved() - 1; n != 0 { // but for Self's
						t.Errorf("rank %d keeps %d ids reserved", rank, n)
					}
				})
			}
		})
	}
}

// Goroutines of all ranks create on parents of their own at once, with ids that
// clash again and again.
func TestCreationsOfManyGoroutinesWithIdsThatClash(t *testing.T) {
	const size, parents, depth = 3, 6, 8
	ranks := drawing(t, size, func(rank int) func() uint32 {
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		return func() uint32 { return 10 + 2*rng.Uint32N(10*parents*depth) } // a third of them come to be in use
	})
	noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
		var comms []*Comm
		for range parents {
			c, err := in.World.Dup(ctx)
			if err != nil {
				return err
			}
			comms = append(comms, c)
		}
		errs := make(chan error, parents)
		for _, c := range comms {
			go func() {
				errs <- func() error {
					for k := range depth {
						var hs [2]progress.Handle
						for j := range hs {
							hs[j] = c.Icreate(ctx, Spec{Split: true, Color: (c.Rank + j) % 2, Key: -c.Rank}, func(*Comm) {}, nil)
						}
						if err := progress.WaitAll(hs[:], nil); err != nil {
							return err
						}
						d, err := c.Dup(ctx)
						if err != nil {
							return err
						}
						if k%2 == 0 {
							c = d
						}
					}
					return c.Barrier(ctx, false)
				}()
			}()
		}
		var all error
		for range parents {
			all = errors.Join(all, <-errs)
		}
		return all
	}))
}
