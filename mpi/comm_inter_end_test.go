package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A rank that dies before it has called IntercommCreate, a leader or another one, fails
// it at the ranks of both groups.
func TestADeathFailsIntercommCreateInBothGroups(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for failing := range 5 {
			t.Run(fmt.Sprint(failing), func(t *testing.T) {
				bad := errors.New("bad luck")
				err := try(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) error {
					color := c.Rank() / 3
					local, err := c.Split(color, 0)
					if err != nil {
						return err
					}
					if c.Rank() == failing {
						return bad
					}
					x, err := mpi.IntercommCreate(local, 0, c, 3-3*color, 7)
					if x != nil {
						t.Errorf("rank %d gets one", c.Rank())
					}
					want(t, fmt.Sprintf("rank %d without rank %d", c.Rank(), failing), err, mpi.ErrProcFailed)
					return err
				})
				if !errors.Is(err, bad) || !errors.Is(err, mpi.ErrProcFailed) {
					t.Errorf("Run = %v: want the failure and what followed from it", err)
				}
			})
		}
	})
}

// If the other group does not come, the context of one rank ends the call at all ranks
// of its group, and the other group's call later. The next calls match again.
func TestIntercommCreateEndsWithItsContext(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			color := c.Rank() / 2
			local := get(c.Split(color, 0))
			if color == 0 {
				ctx, cancel := context.WithCancel(local.Context())
				if c.Rank() == 1 {
					local = local.WithContext(ctx)
					go cancel()
				}
				x, err := mpi.IntercommCreate(local, 0, c, 2, 7)
				want(t, fmt.Sprintf("rank %d", c.Rank()), err, mpi.ErrCanceled)
				if x != nil {
					t.Errorf("rank %d gets one", c.Rank())
				}
				cancel()
			}
			ok(c.Barrier())
			if color == 1 {
				_, err := mpi.IntercommCreate(local, 0, c, 0, 7)
				want(t, fmt.Sprintf("rank %d, later,", c.Rank()), err, mpi.ErrCanceled)
			}
			again := get(c.Split(color, 0))
			isBetween(t, get(mpi.IntercommCreate(again, 0, c, 2-2*color, 7)), [2][]int{{0, 1}, {2, 3}}, color)
		})
	})
}

// A communicator may be freed before what was made of it, and an intercommunicator can
// be what leaders speak over.
func TestAnIntercommunicatorOutlivesItsGroupsAndJoinsOthers(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			color := c.Rank() / 2
			local := get(c.Split(color, 0))
			x := get(mpi.IntercommCreate(local, 1, c, []int{3, 1}[color], 7))
			y := get(mpi.IntercommCreate(local, 0, x, 0, 7))
			ok(x.Free())
			ok(local.Free())
			isBetween(t, y, [2][]int{{0, 1}, {2, 3}}, color)
			m := get(y.Merge(color == 1))
			ok(y.Free())
			hasRanks(t, w, m, []int{0, 1, 2, 3})
			want(t, "Send on a freed one", mpi.Send(y, none, 0, 0), mpi.ErrComm)
			want(t, "Merge of a freed one", second(y.Merge(false)), mpi.ErrComm)
		})
	})
}

// A rank alone may be a group, as Self is, and the job's communicator a group that has
// nobody left for another one.
func TestSelfIsAGroupOfAnIntercommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			self := w.Self().WithContext(c.Context())
			if me := c.Rank(); me != 1 {
				x := get(mpi.IntercommCreate(self, 0, c, 2-me, 1))
				isBetween(t, x, [2][]int{{0}, {2}}, me/2)
				hasRanks(t, w, get(x.Merge(me == 0)), []int{2, 0})
			}
			_, err := mpi.IntercommCreate(c, 0, c, 1, 1)
			want(t, "IntercommCreate of all ranks", err, mpi.ErrRank)
			ok(c.Barrier())
		})
	})
}

// A wildcard receive gets what the remote group sends, while messages of the local group
// go by elsewhere, and ends when all remote ranks are gone.
func TestAWildcardWaitsForTheRemoteGroup(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		bad := errors.New("bad luck")
		err := try(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) error {
			var s half
			err := attempt(func() {
				s = pair{3, 2}.connect(w, c)
				if s.at == 1 {
					ok(mpi.Send(s.x, []int{s.x.Rank()}, 0, 8))
					get(mpi.Recv(s.x, []int{0}, 0, 9))
					return
				}
				if s.x.Rank() > 0 {
					ok(mpi.Send(s.local, []int{-1}, 0, 8))
					return
				}
				for range 2 {
					in := []int{-1}
					if st := get(mpi.Recv(s.x, in, mpi.AnySource, mpi.AnyTag)); in[0] != st.Source {
						t.Errorf("%d from rank %d", in[0], st.Source)
					}
				}
				for range 2 {
					get(mpi.Recv(s.local, []int{0}, mpi.AnySource, 8))
				}
				for r := range 2 {
					ok(mpi.Send(s.x, []int{0}, r, 9))
				}
				_, err := mpi.Recv(s.x, []int{0}, mpi.AnySource, 8)
				for errors.Is(err, mpi.ErrProcFailedPending) {
					get(s.x.AckFailed(5)) // the others may live
					_, err = mpi.Recv(s.x, []int{0}, mpi.AnySource, 8)
				}
				want(t, "a receive from a dead group", err, mpi.ErrProcFailed)
			})
			if err == nil && s.at == 1 {
				return bad
			}
			return err
		})
		if !errors.Is(err, bad) {
			t.Errorf("Run = %v: want the failure", err)
		}
	})
}

// What the ranks of a group give differently, and a rank in both groups, fail the call
// at all ranks, and all can go on.
func TestRanksThatDisagreeGetNoCommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			color := c.Rank() / 2
			local := get(c.Split(color, 0))
			x, err := mpi.IntercommCreate(local, local.Rank()*(1-color), c, 2-2*color, 7)
			if want(t, "leaders that differ", err, mpi.ErrRank); x != nil {
				t.Errorf("rank %d gets one", c.Rank())
			}
			x = get(mpi.IntercommCreate(local, 0, c, 2-2*color, 8))
			m, err := x.Merge(c.Rank() == 1)
			if want(t, "one high rank of a group", err, mpi.ErrArg); m != nil {
				t.Errorf("rank %d gets one", c.Rank())
			}
			hasRanks(t, w, get(x.Merge(c.Rank() < 2)), []int{2, 3, 0, 1})

			// Ranks 1 and 2 are in both of two groups of three, and call in both.
			var join []func()
			for side, first := range []int{0, 1} {
				of := mpi.Undefined
				if r := c.Rank(); r >= first && r < first+3 {
					of = 0
				}
				group := get(c.Split(of, 0))
				if group == nil {
					continue
				}
				join = append(join, aside(func() {
					x, err := mpi.IntercommCreate(group, []int{0, 2}[side], c, []int{3, 0}[side], 9)
					if want(t, fmt.Sprintf("rank %d in group %d of two that overlap", c.Rank(), side), err, mpi.ErrGroup); x != nil {
						t.Errorf("rank %d gets one", c.Rank())
					}
				}))
			}
			for _, wait := range join {
				wait()
			}
			ok(c.Barrier())
		})
	})
}
