package comm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/mpi/cause"
)

// twoGroups are the groups of the intercommunicators of these tests, which are all ranks
// of their jobs.
var twoGroups = [][2][]int{{{0}, {1}}, {{1, 0}, {2}}, {{3, 1}, {0, 4, 2}}, {{5, 2, 0, 4}, {3, 1}}}

// onBoth calls f for all ranks of an intercommunicator of each of twoGroups.
func onBoth(t *testing.T, f func(ctx context.Context, c *Comm, own, remote []int) error) {
	for _, sides := range twoGroups {
		t.Run(fmt.Sprint(sides), func(t *testing.T) {
			ranks := engines(t, len(sides[0])+len(sides[1]))
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				own, remote := sides[0], sides[1]
				if slices.Contains(remote, in.World.Rank) {
					own, remote = remote, own
				}
				c, err := in.Meet(ctx, Meeting{Key: "two", Own: groupOf(own...), Remote: groupOf(remote...)})
				if err != nil {
					return err
				}
				return f(ctx, c, own, remote)
			}))
			nothingLeft(t, ranks)
		})
	}
}

// Random programs of Dup, Split, Create and Merge on intercommunicators give each rank
// the communicator that the plain rules say.
func TestCreationsOnIntercommunicators(t *testing.T) {
	onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
		me := c.in.World.Rank
		for seed := range uint64(25) {
			rng := rand.New(rand.NewPCG(seed, 4)) // all ranks draw the same, for each rank of the job
			n := len(own) + len(remote)
			colors, keys := make([]int, n), make([]int, n)
			for i := range n {
				if colors[i], keys[i] = rng.IntN(3), rng.IntN(3)-1; rng.IntN(6) == 0 {
					colors[i] = NoColor
				}
			}
			order := rng.Perm(n)
			some := order[:rng.IntN(n+1)]
			of := func(side []int, worlds []int) (all []int) {
				for _, w := range worlds {
					if slices.Contains(side, w) {
						all = append(all, w)
					}
				}
				return all
			}
			colored := func(side []int) []int {
				sc, sk := make([]int, len(side)), make([]int, len(side))
				for i, w := range side {
					sc[i], sk[i] = colors[w], keys[w]
				}
				return sorted(side, sc, sk, colors[me])
			}
			var d *Comm
			var err error
			var a, b []int
			switch how := rng.IntN(4); how {
			case 0:
				a, b = own, remote
				d, err = c.Create(ctx, Spec{})
			case 1:
				if colors[me] != NoColor {
					a, b = colored(own), colored(remote)
				}
				d, err = c.Create(ctx, Spec{Split: true, Color: colors[me], Key: keys[me]})
			case 2:
				a, b = of(own, some), of(remote, some)
				d, err = c.Create(ctx, Spec{Group: groupOf(a...)})
				if !slices.Contains(a, me) {
					b = nil
				}
			case 3:
				high := [2]bool{rng.IntN(2) == 0, rng.IntN(2) == 0} // of the group of rank 0, and the other
				mine, theirs := high[0], high[1]
				if !slices.Contains(own, 0) {
					mine, theirs = theirs, mine
				}
				low := !mine && theirs || mine == theirs && own[0] < remote[0]
				if d, err = c.Merge(ctx, mine, nil, [3]uintptr{}); err != nil {
					return err
				}
				whole := slices.Concat(remote, own)
				if low {
					whole = slices.Concat(own, remote)
				}
				if err := members(ctx, d, whole); err != nil {
					return fmt.Errorf("high %t, the others %t: %w", mine, theirs, err)
				}
				continue
			}
			if err != nil {
				return err
			}
			if len(a) == 0 || len(b) == 0 {
				if d != nil {
					return fmt.Errorf("rank %d gets one of %v and %v", me, a, b)
				}
				continue
			}
			if err := between2(ctx, d, a, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// What fails at one rank of either group fails a creation at all of both.
func TestACreationOnAnIntercommunicatorFailsAtAll(t *testing.T) {
	failure := errors.New("no")
	for name, f := range map[string]struct {
		create func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error)
		wrong  error
	}{
		"a duplicate": {func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error) {
			return c.Create(ctx, Spec{Failed: map[bool]error{true: failure}[bad]})
		}, failure},
		"a split": {func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error) {
			return c.Create(ctx, Spec{Split: true, Failed: map[bool]error{true: failure}[bad]})
		}, failure},
		"a rank without a group": {func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error) {
			return c.Create(ctx, Spec{Group: groupOf(own...), Failed: map[bool]error{true: failure}[bad]})
		}, failure},
		"a group from outside": {func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error) {
			g := c.Ranks
			if bad {
				g = c.Remote
			}
			return c.Create(ctx, Spec{Group: g})
		}, new(OutsiderError)},
		"a merge": {func(ctx context.Context, c *Comm, own []int, bad bool) (*Comm, error) {
			return c.Merge(ctx, false, map[bool]error{true: failure}[bad], [3]uintptr{})
		}, failure},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
				for bad := range len(own) + len(remote) {
					d, err := f.create(ctx, c, own, c.in.World.Rank == bad)
					var told *CreationError
					switch {
					case d != nil || err == nil:
						return fmt.Errorf("rank %d gets %v", c.in.World.Rank, d)
					case c.in.World.Rank != bad && (!errors.As(err, &told) || !told.InJob || told.Rank != bad),
						c.in.World.Rank == bad && f.wrong == failure && err != failure,
						c.in.World.Rank == bad && fmt.Sprintf("%T", err) != fmt.Sprintf("%T", f.wrong):
						return fmt.Errorf("rank %d: %w", c.in.World.Rank, err)
					}
				}
				d, err := c.Dup(ctx)
				if err != nil {
					return err
				}
				return between2(ctx, d, own, remote)
			})
		})
	}
}

// Members that give different groups, and groups that disagree about which is the high
// one, hear of it.
func TestRanksOfAnIntercommunicatorThatDisagreeHearOfIt(t *testing.T) {
	onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
		me := c.in.World.Rank
		if len(own) != 1 || len(remote) != 1 { // a group with two ranks can disagree
			g := c.Ranks
			if c.Rank == 1 {
				back := slices.Clone(own)
				slices.Reverse(back)
				g, _ = group.New(back)
			}
			var groups *GroupsError
			if _, err := c.Create(ctx, Spec{Group: g}); !errors.As(err, &groups) {
				return fmt.Errorf("rank %d, groups that differ: %w", me, err)
			}
			var high *HighError
			if _, err := c.Merge(ctx, c.Rank == 1, nil, [3]uintptr{}); !errors.As(err, &high) {
				return fmt.Errorf("rank %d, high that differs: %w", me, err)
			}
		}
		return c.Barrier(ctx, false)
	})
}

// Every call that MPI has between two groups goes by its plan, blocking or not.
func TestCollectiveCallsBetweenTwoGroups(t *testing.T) {
	const n = 3
	le := binary.LittleEndian
	block := func(from, to int) []byte { return words(n, uint64(1000*(from+1)+to+1)) }
	sum := func(a, b, to []byte) {
		for i := 0; i < len(to); i += 8 {
			le.PutUint64(to[i:], le.Uint64(a[i:])+le.Uint64(b[i:]))
		}
	}
	for way, run := range ways {
		t.Run(way, func(t *testing.T) {
			onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
				me := c.in.World.Rank
				call := func(k PlanKey, in []byte, want []byte) error {
					out := make([]byte, len(want))
					k.Elem, k.Commutes = 8, true
					if err := run(ctx, c, k.Call, c.Plan(&k), Operands{In: in, Out: out, Elem: 8, Combine: sum}); err != nil {
						return err
					}
					if !bytes.Equal(out, want) {
						return fmt.Errorf("rank %d, %v: %v, want %v", me, k.Call, out, want)
					}
					return nil
				}
				var theirs, mine []byte // blocks of the others for this rank, and its own for them
				total := uint64(0)      // of what the others give to all
				for _, w := range remote {
					theirs = append(theirs, block(w, me)...)
					mine = append(mine, block(me, w)...)
					total += uint64(w + 1)
				}
				give := words(n, uint64(me+1))
				var all []byte
				for _, w := range remote {
					all = append(all, words(n, uint64(w+1))...)
				}
				for _, x := range []error{
					call(PlanKey{Call: coll.Barrier}, nil, nil),
					call(PlanKey{Call: coll.Allgather, Count: n, RecvCount: n}, give, all),
					call(PlanKey{Call: coll.Alltoall, Count: n, RecvCount: n}, mine, theirs),
					call(PlanKey{Call: coll.Allreduce, Count: n}, give, words(n, total)),
				} {
					if x != nil {
						return x
					}
				}
				for root := range len(own) + len(remote) { // of the job
					k := PlanKey{Count: n, Root: slices.Index(remote, root)}
					if slices.Contains(own, root) {
						if k.Root = coll.RootFellow; me == root {
							k.Root = coll.RootHere
						}
					}
					expect := func(here, there []byte) []byte { // at the root, at the other group
						switch k.Root {
						case coll.RootFellow:
							return nil
						case coll.RootHere:
							return here
						}
						return there
					}
					for _, c := range []struct {
						call coll.Call
						in   []byte
						want []byte
					}{
						{coll.Bcast, words(n, uint64(root)), expect(nil, words(n, uint64(root)))},
						{coll.Gather, give, expect(all, nil)},
						{coll.Scatter, mine, expect(nil, block(root, me))},
						{coll.Reduce, give, expect(words(n, total), nil)},
					} {
						k.Call = c.call
						if err := call(k, c.in, c.want); err != nil {
							return fmt.Errorf("root %d: %w", root, err)
						}
					}
				}
				return nil
			})
		})
	}
}

// Blocks that one side sends may be longer than those that it gets.
func TestBlocksOfTwoGroupsMayDifferInLength(t *testing.T) {
	onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
		n, m := 2, 5
		if !slices.Contains(own, 0) {
			n, m = m, n
		}
		for range 2 { // the second plan is kept
			for _, back := range []bool{false, true} {
				k := PlanKey{Call: coll.Allgather, Count: n, RecvCount: m, Elem: 8}
				if back {
					k.Count, k.RecvCount = m, n
				}
				out := make([]byte, 8*k.RecvCount*len(remote))
				if err := c.Collective(ctx, k.Call, c.Plan(&k), &Operands{In: words(k.Count, uint64(c.in.World.Rank)), Out: out, Elem: 8}); err != nil {
					return err
				}
				for i, w := range remote {
					if got := out[8*k.RecvCount*i:][:8*k.RecvCount]; !bytes.Equal(got, words(k.RecvCount, uint64(w))) {
						return fmt.Errorf("rank %d gets %v of rank %d", c.in.World.Rank, got, w)
					}
				}
			}
		}
		return nil
	})
}

// A failure at one rank ends a call at all ranks of both groups, and so does a death.
func TestAFailureEndsACallOfBothGroups(t *testing.T) {
	failure := errors.New("there is no result")
	for bad := range 5 {
		for _, dies := range []bool{false, true} {
			t.Run(fmt.Sprint(bad, dies), func(t *testing.T) {
				ranks := engines(t, 5)
				var made sync.WaitGroup
				made.Add(5)
				for rank, err := range each(ranks, func(ctx context.Context, in *Instance) error {
					own, remote := groupOf(3, 1), groupOf(0, 4, 2)
					if remote.Rank(in.World.Rank) >= 0 {
						own, remote = remote, own
					}
					c, err := in.Meet(ctx, Meeting{Own: own, Remote: remote})
					made.Done()
					if err != nil {
						return err
					}
					made.Wait()
					switch {
					case in.World.Rank != bad:
					case dies:
						for _, other := range ranks {
							if other != in {
								other.Fail(bad)
							}
						}
						return nil
					default:
						c.fail(c.seq.Load()+1, failure)
					}
					err = c.Barrier(ctx, false)
					if _, later := c.Dup(ctx); later == nil {
						return errors.New("a later call goes well")
					}
					return err
				}) {
					var told *cause.CallError
					switch {
					case dies && rank != bad && !errors.Is(err, fabric.ErrPeerDown),
						!dies && rank == bad && !errors.Is(err, failure),
						!dies && rank != bad && (!errors.As(err, &told) || told.World != bad):
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}

// No rank leaves a barrier before all of both groups have come.
func TestABarrierOfTwoGroupsWaitsForBoth(t *testing.T) {
	var come [6]atomic.Int32
	onBoth(t, func(ctx context.Context, c *Comm, own, remote []int) error {
		for round := int32(1); round <= 50; round++ {
			come[c.in.World.Rank].Store(round) // pairs with the load below
			if err := c.Barrier(ctx, false); err != nil {
				return err
			}
			for _, w := range remote {
				if n := come[w].Load(); n < round {
					return fmt.Errorf("rank %d has left barrier %d, and rank %d is at %d", c.in.World.Rank, round, w, n)
				}
			}
		}
		for range 2 { // all have looked before the next job begins
			if err := c.Barrier(ctx, false); err != nil {
				return err
			}
		}
		come[c.in.World.Rank].Store(0)
		return nil
	})
}
