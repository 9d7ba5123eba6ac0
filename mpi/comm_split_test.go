package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// hasRanks checks that a communicator has these ranks of the job, in this order, in
// every kind of call.
func hasRanks(t *testing.T, w *mpi.World, c *mpi.Comm, worlds []int) {
	t.Helper()
	me, n := w.Comm().Rank(), len(worlds)
	at := slices.Index(worlds, me)
	if at < 0 || c == nil {
		if c != nil || at >= 0 {
			stop(fmt.Errorf("rank %d gets %v, want one of %v", me, c, worlds))
		}
		return
	}
	if c.Rank() != at || c.Size() != n {
		stop(fmt.Errorf("rank %d is %d of %d in %v", me, c.Rank(), c.Size(), worlds))
	}
	all := make([]int, n)
	ok(mpi.Allgather(c, []int{me}, all))
	if !slices.Equal(all, worlds) {
		stop(fmt.Errorf("the ranks are %v, want %v", all, worlds))
	}
	// A ring of messages, by a wildcard, a probe and a persistent request.
	right, left := (at+1)%n, (at+n-1)%n
	for k, recv := range []func(in []int) mpi.Status{
		func(in []int) mpi.Status { return get(mpi.Recv(c, in, mpi.AnySource, 3)) },
		func(in []int) mpi.Status {
			if st := get(mpi.Probe(c, left, mpi.AnyTag)); st.Source != left {
				stop(fmt.Errorf("Probe finds one of %d, want %d", st.Source, left))
			}
			return get(mpi.Recv(c, in, left, 3))
		},
		func(in []int) mpi.Status {
			r := get(mpi.RecvInit(c, in, left, 3))
			ok(mpi.Start(&r))
			st := get(mpi.Wait(&r))
			ok(mpi.RequestFree(&r))
			return st
		},
		func(in []int) mpi.Status {
			there, m, st, err := mpi.Improbe(c, left, 3)
			for !there && err == nil {
				there, m, st, err = mpi.Improbe(c, left, 3)
			}
			ok(err)
			get(mpi.Mrecv(&m, in))
			return st
		},
	} {
		s := get(mpi.Isend(c, []int{me*10 + k}, right, 3))
		in := make([]int, 1)
		if st := recv(in); st.Source != left || in[0] != worlds[left]*10+k {
			stop(fmt.Errorf("way %d: %d from %d, want %d from %d", k, in[0], st.Source, worlds[left]*10+k, left))
		}
		get(mpi.Wait(&s))
	}
	for range 4 { // the third one uses flags
		ok(c.Barrier())
	}
	g := c.Group()
	for r, world := range g.All() {
		if world != worlds[r] {
			stop(fmt.Errorf("the group has rank %d at %d, want %d", world, r, worlds[r]))
		}
	}
}

// Ranks of a color are together, in the order of key and then of their ranks; those
// of no color get nil.
func TestSplitSortsByKeyAndRank(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{1, 2, 3, 6} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					var even, odd []int
					for r := n - 1; r >= 0; r-- {
						if r%2 == 0 {
							even = append(even, r)
						} else {
							odd = append(odd, r)
						}
					}
					mine := map[int][]int{0: even, 1: odd}[c.Rank()%2]
					d := get(c.Split(c.Rank()%2, -c.Rank()))
					hasRanks(t, w, d, mine)
					hasRanks(t, w, get(d.Dup()), mine)
					// Of equal keys the order in the parent decides.
					hasRanks(t, w, get(d.Split(5, 0)), mine)
					color := 0
					if c.Rank() == 0 {
						color = mpi.Undefined
					}
					var rest []int
					for r := 1; r < n; r++ {
						rest = append(rest, r)
					}
					e := get(c.Split(color, c.Rank()))
					hasRanks(t, w, e, rest)
					if e != nil {
						ok(e.Free())
					}
				})
			})
		}
	})
}

// Create gives each group a communicator, in the group's order.
func TestCreateFollowsTheGroup(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			g := get(c.Group().Incl(3, 1, 4))
			hasRanks(t, w, get(c.Create(g)), []int{3, 1, 4})
			// Groups without a common rank at once; those outside give none.
			mine, worlds := mpi.GroupEmpty, []int{}
			switch c.Rank() {
			case 0, 2:
				mine, worlds = get(c.Group().Incl(2, 0)), []int{2, 0}
			case 3, 4:
				mine, worlds = get(c.Group().Incl(3, 4)), []int{3, 4}
			}
			hasRanks(t, w, get(c.Create(mine)), worlds)
		})
	})
}

// A wrong argument at one rank fails the call at all, with its class, and the parent
// remains usable.
func TestAWrongArgumentFailsACreationAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			odd := c.Rank() == 1
			color, group := 0, c.Group()
			if odd {
				color, group = -5, get(c.Group().Incl(2, 1, 0))
			}
			for range 2 {
				d, err := c.Split(color, 0)
				want(t, "Split", err, mpi.ErrArg)
				e, err := c.Create(group)
				want(t, "Create", err, mpi.ErrGroup)
				if d != nil || e != nil {
					t.Errorf("rank %d gets %v and %v", c.Rank(), d, e)
				}
				_, err = c.SplitType(mpi.SplitKind(map[bool]int{true: 77, false: int(mpi.TypeShared)}[odd]), 0)
				want(t, "SplitType", err, mpi.ErrArg)
				ok(c.Barrier())
			}
			failure := errors.New("no copy")
			kv := mpi.NewKeyval(func(c *mpi.Comm, v int) (int, bool, error) { return v, true, failure }, nil)
			if odd {
				ok(kv.Set(c, 1))
			}
			if _, err := c.Dup(); odd && !errors.Is(err, failure) || err == nil {
				t.Errorf("rank %d: Dup gives %v", c.Rank(), err)
			}
			if odd {
				ok(kv.Delete(c))
			}
			get(c.Dup())
		})
	})
}

// Ranks of one machine share memory where the fabric reaches it.
func TestSplitTypePutsNeighborsTogether(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.SplitType(mpi.TypeShared, -c.Rank()))
			switch fabric {
			case "mem", "shm":
				hasRanks(t, w, d, []int{3, 2, 1, 0})
			case "shm+tcp", "shm+verbs", "shm+verbs+tcp": // two hosts of two ranks
				first := c.Rank() &^ 1
				hasRanks(t, w, d, []int{first + 1, first})
			default:
				hasRanks(t, w, d, []int{c.Rank()})
			}
			if kind := mpi.SplitKind(mpi.Undefined); get(c.SplitType(kind, 0)) != nil {
				t.Error("a rank of no kind gets a communicator")
			}
		})
	})
}

// A duplicate that is being made can't be used, and can be used behind its request.
func TestIdupMakesADuplicate(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		begun := newSignal()
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			kv := mpi.NewKeyval(func(c *mpi.Comm, v int) (int, bool, error) { return v + 1, true, nil }, nil)
			ok(kv.Set(c, 5))
			var rs []mpi.Request
			var ds []*mpi.Comm
			if c.Rank() == 0 { // the others have begun none
				r, d, err := c.Idup()
				ok(err)
				want(t, "Send", mpi.Send(d, []byte{1}, 0, 0), mpi.ErrComm)
				rs, ds = append(rs, r), append(ds, d)
				begun.give()
				begun.give()
			} else {
				begun.take()
			}
			for range 4 - len(rs) {
				r, d, err := c.Idup()
				ok(err)
				rs, ds = append(rs, r), append(ds, d)
			}
			slices.Reverse(rs)
			ok(mpi.Waitall(rs, nil))
			for _, d := range ds {
				hasRanks(t, w, d, []int{0, 1, 2})
				if v, there, err := kv.Get(d); v != 6 || !there || err != nil {
					t.Errorf("the duplicate has %d, %t, %v", v, there, err)
				}
			}
		})
	})
}
