package comm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

func groupOf(ranks ...int) *group.Map {
	g, err := group.New(ranks)
	if err != nil {
		panic(err)
	}
	return g
}

// nothingLeft checks that no rank keeps anything of creations that have ended, once the
// letters on their way have come, to be dropped.
func nothingLeft(t *testing.T, ranks []*Instance) {
	t.Helper()
	empty := func(in *Instance) (is bool) {
		in.Loop.Exclusive(func() { is = len(in.letters.boxes)+len(in.letters.kept)+len(in.letters.links) == 0 })
		return is
	}
	for rank, in := range ranks {
		for end := time.Now().Add(patience); !empty(in) && time.Now().Before(end); {
			for _, in := range ranks {
				in.Loop.Glance(func() bool { return false })
			}
			runtime.Gosched()
		}
		in.Loop.Exclusive(func() {
			if n := in.P2P.Reserved() - 1; n != 0 { // but for Self's
				t.Errorf("rank %d keeps %d ids reserved", rank, n)
			}
			if l := in.letters; len(l.boxes)+len(l.kept)+len(l.links) != 0 {
				t.Errorf("rank %d keeps %d boxes, letters of %d ranks, %d links", rank, len(l.boxes), len(l.kept), len(l.links))
			}
			if len(in.running) != 0 {
				t.Errorf("rank %d has calls under way on %d communicators", rank, len(in.running))
			}
		})
	}
}

// A key is of all that the ranks give, and the same on both sides.
func TestAKeyIsOfAllThatIsGiven(t *testing.T) {
	a, b, c := groupOf(2, 0), groupOf(0, 2), groupOf(1, 3)
	seen := map[letterKey]string{}
	for _, k := range []struct {
		kind, name string
		a, b       *group.Map
	}{
		{"x", "y", a, nil}, {"x", "y", b, nil}, {"x", "y", c, nil}, {"x", "z", a, nil}, {"z", "y", a, nil}, {"xy", "", a, nil},
		{"x", "y", a, c}, {"x", "y", b, c}, {"x", "y", groupOf(2), groupOf(0)}, {"x", "y", groupOf(), groupOf(2, 0)},
	} {
		name, key := fmt.Sprint(k), keyOf(k.kind, k.name, k.a, k.b)
		if other := seen[key]; other != "" {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[key] = name
		if k.b != nil && keyOf(k.kind, k.name, k.b, k.a) != key {
			t.Errorf("%s has another key on the other side", name)
		}
	}
	k := &creation{}
	if m, n := k.meet(letterKey{}, a, c), k.meet(letterKey{}, c, a); m.all.Compare(n.all) != group.Ident {
		t.Error("the ranks are numbered otherwise on the other side")
	}
}

// Meetings of a rank with one key follow one another.
func TestAMeetingWaitsForAnEarlierOneWithItsKey(t *testing.T) {
	in := engines(t, 2)[0]
	both := groupOf(1, 0)
	key := keyOf("meeting", "x", both, nil)
	var made []*Comm
	begin := func() *meeting {
		k := &creation{in: in, made: func(c *Comm) { made = append(made, c) }}
		m := k.meet(key, both, nil)
		k.of(both)
		k.makeOf(both, nil)
		k.part = k.draw
		k.schedule(m)
		k.x.begin(t.Context(), [3]uintptr{})
		return m
	}
	first, second := begin(), begin()
	id := uint64(40)
	for round, m := range []*meeting{first, second} {
		in.Loop.Exclusive(func() {
			if b := in.letters.boxes[key]; b == nil || b.meeting != m || len(b.next) != 1-round || len(b.from[1].waiting) != 1 {
				t.Fatalf("meeting %d is not the one under way", round)
			}
			for _, word := range []uint64{id, outcomeWell} { // what the first member draws, and its vote
				in.Loop.Deliver(1, wire.Letter, wire.LetterLast, key[:], binary.LittleEndian.AppendUint64(nil, word))
			}
			if len(made) != round+1 || made[round].ID != uint32(id) {
				t.Fatalf("round %d: %d communicators are made", round, len(made))
			}
		})
		id += 2
	}
	in.Loop.Exclusive(func() { sound(t, in.letters) })
}

// Groups that overlap meet in one order of calls, with one name for all of them, and
// each rank gets what the plain rules say; the same group meets again with that name.
func TestRanksThatMeetGetTheirCommunicator(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			size := 1 + int(seed)%7
			ranks := engines(t, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				rng := rand.New(rand.NewPCG(seed, 2)) // all ranks draw the same program
				for range 40 {
					worlds := rng.Perm(size)[:1+rng.IntN(size)]
					for range 1 + rng.IntN(2) {
						if !slices.Contains(worlds, in.World.Rank) {
							continue
						}
						c, err := in.Meet(ctx, Meeting{Key: "one", Own: groupOf(worlds...)})
						if err != nil {
							return err
						}
						if err := members(ctx, c, worlds); err != nil {
							return err
						}
						if rng2 := in.World.Rank; rng2%2 == 0 {
							c.Free()
						}
					}
				}
				return nil
			}))
			nothingLeft(t, ranks)
		})
	}
}

// Meetings of many goroutines at once, of groups that overlap and that are equal, do
// not mix: neither different names nor different groups with one name.
func TestMeetingsAtOnceDoNotMix(t *testing.T) {
	const size, names = 4, 3
	sets := [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 1, 2}, {2}}
	ranks := drawing(t, size, func(rank int) func() uint32 {
		rng := rand.New(rand.NewPCG(3, uint64(rank)))
		return func() uint32 { return 10 + 2*rng.Uint32N(100) } // so that they clash
	})
	noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
		var all sync.WaitGroup
		errs := make(chan error, len(sets)*names)
		for _, set := range sets {
			if !slices.Contains(set, in.World.Rank) {
				continue
			}
			for name := range names {
				all.Go(func() {
					c, err := in.Meet(ctx, Meeting{Key: fmt.Sprint(name), Own: groupOf(set...)})
					if err == nil {
						err = members(ctx, c, set)
					}
					errs <- err
				})
			}
		}
		all.Wait()
		close(errs)
		var err error
		for e := range errs {
			err = errors.Join(err, e)
		}
		return err
	}))
	nothingLeft(t, ranks)
}

// A meeting of two groups makes an intercommunicator, with the same context on both
// sides.
func TestTwoGroupsMeet(t *testing.T) {
	for _, sides := range [][2][]int{{{0}, {1}}, {{1, 0}, {2}}, {{3, 1}, {0, 4, 2}}, {{4}, {3, 2, 1, 0}}} {
		t.Run(fmt.Sprint(sides), func(t *testing.T) {
			size := len(sides[0]) + len(sides[1])
			ranks := engines(t, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				own, remote := sides[0], sides[1]
				if slices.Contains(remote, in.World.Rank) {
					own, remote = remote, own
				}
				c, err := in.Meet(ctx, Meeting{Key: "two", Own: groupOf(own...), Remote: groupOf(remote...)})
				if err != nil {
					return err
				}
				return between2(ctx, c, own, remote)
			}))
			nothingLeft(t, ranks)
		})
	}
}

// between2 checks an intercommunicator of two groups: its groups, a message from and to
// each rank of the other group, and a barrier.
func between2(ctx context.Context, c *Comm, own, remote []int) error {
	me := c.in.World.Rank
	switch {
	case c == nil:
		return fmt.Errorf("rank %d gets none of %v and %v", me, own, remote)
	case c.Rank != slices.Index(own, me) || c.Size != len(own) || c.Peers() != len(remote) || c.Remote == nil || c.Ranks == nil:
		return fmt.Errorf("rank %d of %v and %v is %d of %d, %d", me, own, remote, c.Rank, c.Size, c.Peers())
	}
	for i, w := range own {
		if c.world(i) != w || c.rankOf(w) != i {
			return fmt.Errorf("rank %d of %v is %d", i, own, c.world(i))
		}
	}
	for i, w := range remote {
		if c.world(c.Size+i) != w || c.rankOf(w) != -1 {
			return fmt.Errorf("rank %d of %v is %d", i, remote, c.world(c.Size+i))
		}
	}
	var sends []progress.Handle
	for i, w := range remote {
		sends = append(sends, c.P2P.Isend(ctx, pt2pt.Standard, w, c.ID, 5, []byte{byte(me)}))
		in := make([]byte, 1)
		res, err := c.P2P.Recv(ctx, w, c.ID, 5, in)
		if err != nil || int(res.Source) != i || int(in[0]) != w {
			return fmt.Errorf("rank %d gets %v from rank %d of %v: %+v, %v", me, in, i, remote, res, err)
		}
	}
	if err := progress.WaitAll(sends, nil); err != nil {
		return err
	}
	return c.Barrier(ctx, false)
}

// What fails at one rank fails the meeting at all, which may meet again with the same
// name.
func TestAMeetingThatFailsAtOneRankFailsAtAll(t *testing.T) {
	const size = 4
	failure := errors.New("no")
	for bad := range size {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			ranks := engines(t, size)
			errs := make([]error, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				m := Meeting{Key: "x", Own: groupOf(2, 0, 1, 3)}
				if in.World.Rank == bad {
					m.Failed = failure
				}
				c, err := in.Meet(ctx, m)
				if c != nil || err == nil {
					return fmt.Errorf("rank %d gets %v", in.World.Rank, c)
				}
				errs[in.World.Rank], m.Failed = err, nil
				if c, err = in.Meet(ctx, m); err != nil {
					return err
				}
				return members(ctx, c, []int{2, 0, 1, 3})
			}))
			nothingLeft(t, ranks)
			for rank, err := range errs {
				var told *CreationError
				if rank == bad && err != failure || rank != bad && (!errors.As(err, &told) || told.Rank != bad || !told.InJob) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// Arguments that no other rank has to hear of are refused.
func TestAMeetingOfOthersIsRefused(t *testing.T) {
	in := engines(t, 3)[0]
	if _, err := in.Meet(t.Context(), Meeting{Own: groupOf(1, 2)}); err != ErrNotMember {
		t.Errorf("a group of others: %v", err)
	}
	var both *OverlapError
	if _, err := in.Meet(t.Context(), Meeting{Own: groupOf(0, 2), Remote: groupOf(1, 2)}); !errors.As(err, &both) || both.Rank != 2 {
		t.Errorf("groups with a rank in common: %v", err)
	}
}

// A rank whose context ends breaks the meeting off at all, whether they have begun it or
// not; its key is spent, and others are not.
func TestAContextThatEndsBreaksAMeetingOff(t *testing.T) {
	const size = 4
	for _, late := range [][]int{{0}, {1}, {2}, {0, 1, 2}} { // who comes afterwards: without them nobody gets anything
		t.Run(fmt.Sprint(late), func(t *testing.T) {
			ranks := engines(t, size)
			errs := make([]error, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				m, me := Meeting{Key: "x"}, in.World.Rank
				until := ctx
				if me == 3 {
					gone, cancel := context.WithCancel(ctx)
					cancel()
					until = gone
				}
				if slices.Contains(late, me) {
					if err := in.Loop.WaitFor(expiry.Of(ctx), heardOf{in: in, name: "x"}); err != nil {
						return err
					}
				}
				c, err := in.Meet(until, m)
				if errs[me] = err; err == nil || c != nil {
					return fmt.Errorf("rank %d gets %v", me, c)
				}
				ended, cancel := context.WithCancel(ctx)
				cancel() // so that nothing hangs if it is not known
				if _, err = in.Meet(ended, m); !errors.As(err, new(*SpentError)) {
					return fmt.Errorf("rank %d, again: %v", me, err)
				}
				m.Key = "y"
				if c, err = in.Meet(ctx, m); err != nil {
					return err
				}
				return members(ctx, c, []int{0, 1, 2, 3})
			}))
			nothingLeft(t, ranks)
			for rank, err := range errs {
				var told *cause.CallError
				if rank == 3 && !errors.Is(err, context.Canceled) || rank != 3 && (!errors.As(err, &told) || told.Rank != 3) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// heardOf is the condition that a meeting of all ranks has been broken off.
type heardOf struct {
	progress.Passive
	in   *Instance
	name string
}

func (h heardOf) Ready() (bool, error) {
	_, spent := h.in.letters.spent.why[keyOf("meeting", h.name, h.in.listed(nil), nil)]
	return spent, nil
}

// A death ends the meetings of its rank at all others, and those that begin later; the
// others meet without it.
func TestADeathEndsAMeeting(t *testing.T) {
	const size = 4
	for dead := range size {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprint(dead, early), func(t *testing.T) {
				ranks := engines(t, size)
				died := make(chan struct{})
				noErrors(t, each(ranks, func(ctx context.Context, in *Instance) error {
					me := in.World.Rank
					if me == dead {
						for _, other := range ranks {
							if other != in {
								other.Fail(dead)
							}
						}
						close(died)
						return nil
					}
					if !early {
						<-died
					}
					for range 2 {
						if c, err := in.Meet(ctx, Meeting{Key: "x"}); !errors.Is(err, fabric.ErrPeerDown) || c != nil {
							return fmt.Errorf("rank %d: %v", me, err)
						}
					}
					<-died
					rest := slices.Delete([]int{0, 1, 2, 3}, dead, dead+1)
					c, err := in.Meet(ctx, Meeting{Key: "x", Own: groupOf(rest...)})
					if err != nil {
						return fmt.Errorf("without the dead rank: %w", err)
					}
					return members(ctx, c, rest)
				}))
				nothingLeft(t, ranks)
			})
		}
	}
}
