package comm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
)

// halves are the two sides of a job for Connect: what a rank needs of its own.
type halves struct {
	own, remote []int // ranks of the job
	c           *Comm // of own
	x           Connection
	led         int // the remote leader's rank in remote
}

// halve splits the job in two groups and returns what connects them. The leaders are the
// ranks of the groups that led gives, by group.
func halve(ctx context.Context, in *Instance, sides [2][]int, led [2]int) (h halves, err error) {
	side := 0
	if slices.Contains(sides[1], in.World.Rank) {
		side = 1
	}
	h.own, h.remote = sides[side], sides[1-side]
	h.led = led[1-side]
	h.c, err = in.World.Create(ctx, Spec{Group: groupOf(h.own...)})
	h.x = Connection{Leader: led[side], Peer: in.World, RemoteLeader: h.remote[h.led], Tag: 7}
	return h, err
}

// Two groups are connected, whichever ranks lead them, again and again with one tag,
// also over an intercommunicator as the peer.
func TestTwoGroupsAreConnected(t *testing.T) {
	for _, c := range []struct {
		sides [2][]int
		led   [2]int
	}{
		{[2][]int{{0}, {1}}, [2]int{}},
		{[2][]int{{0, 1}, {2, 3}}, [2]int{1, 0}},
		{[2][]int{{4, 1, 0}, {3, 2}}, [2]int{2, 1}},
		{[2][]int{{3}, {2, 0, 1}}, [2]int{0, 1}},
	} {
		t.Run(fmt.Sprint(c.sides, c.led), func(t *testing.T) {
			ranks := engines(t, len(c.sides[0])+len(c.sides[1]))
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				h, err := halve(ctx, in, c.sides, c.led)
				if err != nil {
					return err
				}
				for round := range 3 {
					d, err := h.c.Connect(ctx, h.x)
					if err != nil {
						return fmt.Errorf("connection %d: %w", round, err)
					}
					if err := between2(ctx, d, h.own, h.remote); err != nil {
						return err
					}
					h.x.Peer, h.x.RemoteLeader = d, h.led
				}
				return nil
			}))
			nothingLeft(t, ranks)
		})
	}
}

// What fails at one rank of either group, or differs between them, fails the call at all
// ranks of both, which connect with the same tag afterwards.
func TestAConnectionThatFailsAtOneRankFailsAtAll(t *testing.T) {
	const size = 5
	sides, failure := [2][]int{{0, 3, 4}, {1, 2}}, errors.New("no")
	for bad := range size {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			ranks := engines(t, size)
			errs := make([]error, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				h, err := halve(ctx, in, sides, [2]int{1, 1})
				if err != nil {
					return err
				}
				x, me := h.x, in.World.Rank
				if me == bad {
					x.Failed = failure
				}
				d, err := h.c.Connect(ctx, x)
				if errs[me] = err; err == nil || d != nil {
					return fmt.Errorf("rank %d gets %v", me, d)
				}
				if d, err = h.c.Connect(ctx, h.x); err != nil {
					return err
				}
				return between2(ctx, d, h.own, h.remote)
			}))
			nothingLeft(t, ranks)
			for rank, err := range errs {
				var told *CreationError
				if rank == bad && err != failure || rank != bad && (!errors.As(err, &told) || ranks[rank].connectedRank(told, sides) != bad) {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}

// connectedRank is the rank in the job that the error of a Connect names.
func (in *Instance) connectedRank(e *CreationError, sides [2][]int) int {
	if e.InJob {
		return e.Rank
	}
	if slices.Contains(sides[0], in.World.Rank) {
		return sides[0][e.Rank]
	}
	return sides[1][e.Rank]
}

// Ranks that give different leaders hear of it.
func TestRanksThatNameDifferentLeadersHearOfIt(t *testing.T) {
	ranks := engines(t, 3)
	for rank, err := range each(ranks, func(ctx context.Context, in *Instance) error {
		_, err := in.World.Connect(ctx, Connection{Leader: min(in.World.Rank, 1)})
		return err
	}) {
		if err == nil || rank == 2 && !errors.As(err, new(*LeaderError)) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	nothingLeft(t, ranks)
}

// Groups with a rank in common can't be connected.
func TestGroupsWithARankInCommonAreNotConnected(t *testing.T) {
	const size = 3
	for name, c := range map[string]struct {
		sides [2][]int
		led   [2]int
	}{"a member": {[2][]int{{0, 1}, {1, 2}}, [2]int{0, 1}}, "the leader": {[2][]int{{0, 1}, {1, 2}}, [2]int{1, 0}}} {
		t.Run(name, func(t *testing.T) {
			ranks := engines(t, size)
			noErrors(t, eachOrNone(ranks, func(ctx context.Context, in *Instance) error {
				errs := make(chan error)
				calls := 0
				for side, own := range c.sides {
					if slices.Contains(own, in.World.Rank) {
						calls++
						go func() {
							d, err := in.Meet(ctx, Meeting{Key: fmt.Sprint(side), Own: groupOf(own...)})
							if err == nil {
								_, err = d.Connect(ctx, Connection{Leader: c.led[side], Peer: in.World, RemoteLeader: c.sides[1-side][c.led[1-side]]})
								var both *OverlapError
								var told *CreationError
								if (errors.As(err, &both) && both.Rank == 1) || name == "the leader" && errors.As(err, &told) {
									err = nil
								} else {
									err = fmt.Errorf("rank %d, group %d: %w", in.World.Rank, side, err)
								}
							}
							errs <- err
						}()
					}
				}
				var err error
				for range calls {
					err = errors.Join(err, <-errs)
				}
				return err
			}))
			nothingLeft(t, ranks)
		})
	}
}

// A rank that dies, or whose context ends, ends the call at all ranks of both groups:
// before it has begun, and in the middle.
func TestARankThatGoesEndsAConnection(t *testing.T) {
	const size = 5
	sides := [2][]int{{0, 3, 4}, {1, 2}}
	for gone := range size {
		for _, how := range []string{"dies", "its context ends"} {
			t.Run(fmt.Sprint(gone, how), func(t *testing.T) {
				ranks := engines(t, size)
				var ready sync.WaitGroup
				ready.Add(size)
				errs := each(ranks, func(ctx context.Context, in *Instance) error {
					h, err := halve(ctx, in, sides, [2]int{0, 0})
					ready.Done()
					if err != nil {
						return err
					}
					ready.Wait()
					until := ctx
					switch {
					case in.World.Rank != gone:
					case how == "dies":
						for _, other := range ranks {
							if other != in {
								other.Fail(gone)
							}
						}
						return fabric.ErrPeerDown
					default:
						ended, cancel := context.WithCancel(ctx)
						cancel()
						until = ended
					}
					_, err = h.c.Connect(until, h.x)
					return err
				})
				for rank, err := range errs {
					if err == nil && how == "dies" {
						t.Errorf("rank %d is connected", rank)
					}
				}
				if how == "dies" {
					nothingLeft(t, slices.Delete(slices.Clone(ranks), gone, gone+1))
				}
			})
		}
	}
}

// While the leader waits for the other group, which does not come, a failure in its own
// ends the call; the other group hears of it when it comes.
func TestAConnectionEndsWhileItsLeaderWaits(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprint(dies), func(t *testing.T) {
			ranks := engines(t, 3)
			var ready, over sync.WaitGroup
			ready.Add(3)
			over.Add(2)
			for rank, err := range each(ranks, func(ctx context.Context, in *Instance) error {
				h, err := halve(ctx, in, [2][]int{{0, 1}, {2}}, [2]int{0, 0})
				ready.Done()
				if err != nil {
					return err
				}
				ready.Wait()
				until, cancel := context.WithCancel(ctx)
				defer cancel()
				switch in.World.Rank {
				case 1:
					go func() { // once the leader waits
						defer cancel()
						if ranks[0].Loop.WaitFor(expiry.Of(ctx), exchanging{ranks[0].letters}) == nil && dies {
							ranks[0].Fail(1)
							ranks[2].Fail(1)
						}
					}()
				case 2:
					over.Wait()
				}
				_, err = h.c.Connect(until, h.x)
				if in.World.Rank < 2 {
					over.Done()
				}
				return err
			}) {
				if err == nil {
					t.Errorf("rank %d is connected", rank)
				}
			}
			if !dies {
				nothingLeft(t, ranks)
			}
		})
	}
}

// exchanging is the condition that a leader waits for a letter.
type exchanging struct{ *letters }

func (l exchanging) Ready() (bool, error) {
	for j := range l.links {
		if j.waits != nil {
			return true, nil
		}
	}
	return false, nil
}
