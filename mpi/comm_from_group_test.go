package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestCreateGroupIsForItsRanksOnly(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 4} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					for _, ranks := range [][]int{{0}, {n - 1, 0}, {n - 1, n / 2, 0, n / 4}, {n / 2}} {
						slices.Sort(ranks)
						ranks = slices.Compact(ranks)
						slices.Reverse(ranks)
						g := get(c.Group().Incl(ranks...))
						if !slices.Contains(ranks, c.Rank()) {
							want(t, "CreateGroup of others", second(c.CreateGroup(g, 3)), mpi.ErrGroup)
							continue
						}
						d := get(c.CreateGroup(g, 3))
						if d.Rank() != g.Rank() || d.Size() != len(ranks) || sum(d, 1) != len(ranks) || get(g.Compare(d.Group())) != mpi.Ident {
							t.Errorf("rank %d of %d in a communicator of %v", d.Rank(), d.Size(), ranks)
						}
						part := get(d.CreateGroup(get(d.Group().Incl(d.Rank())), 0)) // within one that is a part
						if part.Size() != 1 || part.Rank() != 0 {
							t.Errorf("rank %d of %d alone", part.Rank(), part.Size())
						}
						ok(d.Free())
					}
					ok(c.Barrier())
				})
			})
		}
	})
}

func TestCreateGroupTakesHandlerAndContextOfItsParent(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		h := mpi.NewErrhandler(func(_ *mpi.Comm, err error) error { return err })
		ok(c.SetErrhandler(h))
		ok(c.SetInfo(hint("mpi_assert_no_any_tag", "true")))
		ctx := context.WithValue(t.Context(), t, 1)
		d := get(c.WithContext(ctx).CreateGroup(c.Group(), 0))
		if d.Errhandler() != h || d.Context() != ctx || get(d.Info()).Len() != 0 {
			t.Errorf("the handler %v, the context %v, the hints %v", d.Errhandler(), d.Context(), get(d.Info()))
		}
		e := get(mpi.CommCreateFromGroup(c.Group(), "", mpi.CommOptions{Context: ctx, Info: hint("mpi_assert_no_any_tag", "true")}))
		if v, _ := get(e.Info()).Get("mpi_assert_no_any_tag"); e.Errhandler() == h || e.Context() != ctx || v != "true" {
			t.Errorf("of a group: the handler %v, the context %v, the hint %q", e.Errhandler(), e.Context(), v)
		}
		ok(w.Self().SetErrhandler(h))
		if f := of(c.Group(), c, ""); f.Errhandler() != h {
			t.Error("a communicator of a group has another handler than Self")
		}
	})
}

func TestCreationsFromGroupsRefuseWrongArguments(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		all, me, other := c.Group(), get(c.Group().Incl(c.Rank())), get(c.Group().Incl(1-c.Rank()))
		part := get(c.CreateGroup(me, 0))
		for what, call := range map[string]struct {
			err   error
			class mpi.Class
		}{
			"a nil group":              {second(c.CreateGroup(nil, 0)), mpi.ErrGroup},
			"a group of nobody":        {second(c.CreateGroup(mpi.GroupEmpty, 0)), mpi.ErrGroup},
			"a group of others":        {second(c.CreateGroup(other, 0)), mpi.ErrGroup},
			"more than the parent":     {second(part.CreateGroup(all, 0)), mpi.ErrGroup},
			"a negative tag":           {second(c.CreateGroup(me, -1)), mpi.ErrTag},
			"a wildcard tag":           {second(c.CreateGroup(me, mpi.AnyTag)), mpi.ErrTag},
			"nil, from group":          {second(mpi.CommCreateFromGroup(nil, "", mpi.CommOptions{})), mpi.ErrGroup},
			"others, from group":       {second(mpi.CommCreateFromGroup(other, "", mpi.CommOptions{})), mpi.ErrGroup},
			"a long tag":               {second(mpi.CommCreateFromGroup(me, strings.Repeat("x", mpi.MaxStringTag+1), mpi.CommOptions{})), mpi.ErrArg},
			"a wrong hint":             {second(mpi.CommCreateFromGroup(me, "", mpi.CommOptions{Info: hint("mpi_assert_no_any_tag", "x")})), mpi.ErrInfoValue},
			"nil, from groups":         {second(mpi.IntercommCreateFromGroups(nil, 0, me, 0, "", mpi.CommOptions{})), mpi.ErrGroup},
			"nobody, from groups":      {second(mpi.IntercommCreateFromGroups(mpi.GroupEmpty, 0, me, 0, "", mpi.CommOptions{})), mpi.ErrGroup},
			"no remote group":          {second(mpi.IntercommCreateFromGroups(me, 0, nil, 0, "", mpi.CommOptions{})), mpi.ErrGroup},
			"an empty remote group":    {second(mpi.IntercommCreateFromGroups(me, 0, mpi.GroupEmpty, 0, "", mpi.CommOptions{})), mpi.ErrGroup},
			"groups that overlap":      {second(mpi.IntercommCreateFromGroups(me, 0, all, 0, "", mpi.CommOptions{})), mpi.ErrGroup},
			"a wrong local leader":     {second(mpi.IntercommCreateFromGroups(me, 1, other, 0, "", mpi.CommOptions{})), mpi.ErrRank},
			"a wrong remote leader":    {second(mpi.IntercommCreateFromGroups(me, 0, other, 1, "", mpi.CommOptions{})), mpi.ErrRank},
			"a negative remote leader": {second(mpi.IntercommCreateFromGroups(me, 0, other, -1, "", mpi.CommOptions{})), mpi.ErrRank},
		} {
			want(t, what, call.err, call.class)
		}
		for _, g := range []*mpi.Group{mpi.GroupEmpty, get(me.Difference(all)), new(mpi.Group)} {
			if d, err := mpi.CommCreateFromGroup(g, "", mpi.CommOptions{}); d != nil || err != nil {
				t.Errorf("a communicator of nobody: %v, %v", d, err)
			}
		}
		ok(c.Barrier())
	})
}

// One that can't take part for a reason of its own makes the creation fail at all.
func TestAWrongHintAtOneRankFailsTheCreationAtAll(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			before := mpi.Reserved(w)
			for guilty := range 3 {
				o := within(c)
				if c.Rank() == guilty {
					o.Info = hint("mpi_assert_no_any_tag", "perhaps")
				}
				_, err := mpi.CommCreateFromGroup(c.Group(), fmt.Sprint(guilty), o)
				want(t, "CommCreateFromGroup", err, mpi.ErrInfoValue)
			}
			if sum(of(c.Group(), c, "0"), 1) != 3 { // the tag can be used again
				t.Error("the ranks do not add up")
			}
			ok(c.Barrier())
			if n := mpi.Reserved(w); n != before {
				t.Errorf("%d context ids are reserved, %d before", n, before)
			}
		})
	})
}

// The parent is a part of what tells creations apart, and so is the tag.
func TestCreationsAtOnceDoNotMix(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			parents := []*mpi.Comm{c, get(c.Dup()), get(c.Dup())}
			var joins []func()
			type made struct{ parent, tag int }
			all := make(map[made]*mpi.Comm)
			got := make(chan func(), 9)
			for p, parent := range parents {
				for tag := range 3 {
					joins = append(joins, aside(func() {
						d := get(parent.CreateGroup(parent.Group(), tag))
						got <- func() { all[made{p, tag}] = d }
					}))
				}
			}
			rand.Shuffle(len(joins), func(i, j int) { joins[i], joins[j] = joins[j], joins[i] })
			for _, join := range joins {
				join()
				(<-got)()
			}
			// Each sends its name to the next on every one.
			next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
			for m, d := range all {
				ok(mpi.Send(d, []int{m.parent, m.tag}, next, 0))
			}
			for m, d := range all {
				in := []int{-1, -1}
				if get(mpi.Recv(d, in, last, 0)); in[0] != m.parent || in[1] != m.tag {
					t.Errorf("the communicator %v has a message of %v", m, in)
				}
			}
			ok(c.Barrier())
		})
	})
}

func TestCyclesOfCreateGroupLeaveNothing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		cycles := 1000
		if testing.Short() || team != nil {
			cycles = 100
		}
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			before, known := mpi.Reserved(w), mpi.Known(w)
			g := get(c.Group().Incl(2, 0))
			for range cycles {
				if c.Rank() == 1 {
					break
				}
				d := get(c.CreateGroup(g, 7))
				ok(d.Barrier())
				ok(d.Free())
			}
			ok(c.Barrier())
			if n, k := mpi.Reserved(w), mpi.Known(w); n != before || k != known {
				t.Errorf("%d context ids are reserved and %d communicators known, %d and %d before", n, k, before, known)
			}
		})
	})
}

// A rank that dies, or gives up, is waited for by nobody.
func TestACreationEndsWithItsRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		given := newSignal()
		err := try(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
			return attempt(func() {
				if c.Rank() == 0 {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, err := mpi.CommCreateFromGroup(c.Group(), "given up", mpi.CommOptions{Context: ctx})
					want(t, "a creation with a context that has ended", err, mpi.ErrCanceled)
					given.give()
					ok(c.Barrier())
					stop(errors.New("it dies"))
				}
				if c.Rank() == 1 {
					given.take()
				}
				_, err := mpi.CommCreateFromGroup(c.Group(), "given up", within(c))
				want(t, "a creation that another gives up", err, mpi.ErrCanceled)
				ok(c.Barrier())
				want(t, "a creation with a dead rank", second(c.CreateGroup(c.Group(), 1)), mpi.ErrProcFailed)
			})
		})
		if err == nil {
			t.Error("nobody has died")
		}
	})
}

// The remote group is told by the leaders; others need not know it.
func TestIntercommunicatorsOfGroups(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			s := get(w.NewSession())
			all := get(s.Group(mpi.PsetWorld))
			mine, other, leader, its := get(all.Incl(3, 1)), get(all.Incl(0, 4, 2)), 1, 2
			if c.Rank()%2 == 0 {
				mine, other, leader, its = other, mine, its, leader
			}
			if mine.Rank() != leader {
				other, its = nil, 99
			}
			for round := range 3 {
				x := get(mpi.IntercommCreateFromGroups(mine, leader, other, its, fmt.Sprint(round), within(c)))
				if x.Rank() != mine.Rank() || x.Size() != mine.Size() || get(x.Group().Compare(mine)) != mpi.Ident {
					t.Errorf("rank %d of %d in the local group", x.Rank(), x.Size())
				}
				want(t, "CreateGroup on it", second(x.CreateGroup(mine, 0)), mpi.ErrComm)
				ok(x.Free())
			}
			if mine.Rank() == leader {
				other, its = mine, 0 // of both sides
			}
			_, err := mpi.IntercommCreateFromGroups(mine, leader, other, its, "wrong", within(c))
			want(t, "groups that overlap", err, mpi.ErrGroup)
			ok(s.Finalize())
			ok(c.Barrier())
		})
	})
}
