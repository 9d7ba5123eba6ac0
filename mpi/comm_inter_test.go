package mpi_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestEveryCollectiveBetweenTwoGroupsGivesWhatTheModelGives(t *testing.T) {
	onBoth(t, func(s half) {
		for _, n := range []int{0, 1, 3, 700} {
			for _, f := range notInPlace {
				x := duel[word]{half: s, trial: trial[word]{c: s.x, form: f, n: n, element: letter, op: (*mpi.Op)(mpi.NewOp(join)), fold: join}}
				x.all()
				x.roots(x.rooted)
				y := duel[int32]{half: s, trial: trial[int32]{c: s.x, form: f, n: n, element: func(r, i int) int32 { return int32(r + i) }, op: mpi.Sum,
					fold: func(a, b int32) int32 { return a + b }}}
				y.all()
				y.roots(y.rooted)
			}
		}
	})
}

// isBetween checks that x joins these ranks of the job, in every kind of call: those of
// the group at here are in x.Group, and messages go to the other's.
func isBetween(t *testing.T, x *mpi.Comm, worlds [2][]int, here int) {
	t.Helper()
	mine, theirs := worlds[here], worlds[1-here]
	if !x.TestInter() || x.Size() != len(mine) || x.RemoteSize() != len(theirs) || x.Group().Size() != len(mine) || x.RemoteGroup().Size() != len(theirs) {
		stop(fmt.Errorf("%d ranks and %d remote ones (%t), want %v and %v", x.Size(), x.RemoteSize(), x.TestInter(), mine, theirs))
	}
	for r, world := range x.Group().All() {
		if mine[r] != world || x.Rank() == r && x.Group().Rank() != r {
			stop(fmt.Errorf("the local group has rank %d at %d, want %v; this is rank %d", world, r, mine, x.Rank()))
		}
	}
	for r, world := range x.RemoteGroup().All() {
		if theirs[r] != world {
			stop(fmt.Errorf("the remote group has rank %d at %d, want %v", world, r, theirs))
		}
	}
	me := mine[x.Rank()]
	all := make([]int, len(theirs))
	ok(mpi.Allgather(x, []int{me}, all))
	if !slices.Equal(all, theirs) {
		stop(fmt.Errorf("the remote ranks are %v, want %v", all, theirs))
	}
	for range 3 {
		ok(x.Barrier())
	}
	for k, recv := range receipts {
		out := make([]mpi.Request, len(theirs))
		for r := range theirs {
			out[r] = get(mpi.Isend(x, []int{100*me + k}, r, 3))
		}
		left := slices.Clone(theirs)
		for r := range theirs {
			in := []int{-1}
			st := recv(x, r, in)
			if st.Source < 0 || st.Source >= len(theirs) || in[0] != 100*left[st.Source]+k || st.Tag != 3 {
				stop(fmt.Errorf("way %d: %d comes from remote rank %d of %v", k, in[0], st.Source, left))
			}
			left[st.Source] = -1
		}
		ok(mpi.Waitall(out, nil))
		ok(x.Barrier()) // before wildcards of the next way
	}
}

// receipts receive a message of tag 3, that of a rank of the remote group or any rank's.
var receipts = []func(x *mpi.Comm, from int, in []int) mpi.Status{
	func(x *mpi.Comm, _ int, in []int) mpi.Status { return get(mpi.Recv(x, in, mpi.AnySource, mpi.AnyTag)) },
	func(x *mpi.Comm, from int, in []int) mpi.Status { return get(mpi.Recv(x, in, from, 3)) },
	func(x *mpi.Comm, _ int, in []int) mpi.Status {
		st := get(mpi.Probe(x, mpi.AnySource, 3))
		return get(mpi.Recv(x, in, st.Source, st.Tag))
	},
	func(x *mpi.Comm, from int, in []int) mpi.Status {
		m, st, err := mpi.Mprobe(x, from, mpi.AnyTag)
		ok(err)
		if got := get(mpi.Mrecv(&m, in)); got != st {
			stop(fmt.Errorf("Mprobe gives %+v, Mrecv %+v", st, got))
		}
		return st
	},
	func(x *mpi.Comm, _ int, in []int) mpi.Status {
		there, st, err := mpi.Iprobe(x, mpi.AnySource, 3)
		for !there && err == nil {
			there, st, err = mpi.Iprobe(x, mpi.AnySource, 3)
		}
		ok(err)
		return get(mpi.Recv(x, in, st.Source, 3))
	},
	func(x *mpi.Comm, from int, in []int) mpi.Status {
		r := get(mpi.RecvInit(x, in, from, 3))
		ok(mpi.Start(&r))
		st := get(mpi.Wait(&r))
		ok(mpi.RequestFree(&r))
		return st
	},
}

func TestMessagesOfAnIntercommunicatorGoToTheRemoteGroup(t *testing.T) {
	onBoth(t, func(s half) {
		isBetween(t, s.x, s.worlds, s.at)
		// Pairs of one number exchange messages; the larger group's others have nobody.
		to := s.x.Rank()
		if to >= s.x.RemoteSize() {
			to = mpi.ProcNull
		}
		in, want := []int{-1}, mpi.Status{Source: to, Tag: 4, Bytes: 8}
		if to == mpi.ProcNull {
			want = mpi.Status{Source: to, Tag: mpi.AnyTag}
		}
		for what, exchange := range ordered(map[string]func() (mpi.Status, error){
			"Sendrecv": func() (mpi.Status, error) { return mpi.Sendrecv(s.x, []int{7}, to, 4, in, to, 4) },
			"SendrecvReplace": func() (mpi.Status, error) {
				in[0] = 7
				return mpi.SendrecvReplace(s.x, in, to, 4, to, 4)
			},
			"Isendrecv": func() (mpi.Status, error) {
				return mpi.Wait(begin(mpi.Isendrecv(s.x, []int{7}, to, 4, in, to, 4)))
			},
		}) {
			if st := get(exchange()); st != want || to >= 0 && in[0] != 7 {
				t.Errorf("%s with %d: %d, %+v, want %+v", what, to, in[0], st, want)
			}
			in[0] = -1
		}
		if to == mpi.ProcNull {
			return
		}
		out := make([]int, 100)
		for i := range out {
			out[i] = 1000*s.at + i
		}
		got := make([]int, 100)
		send, recv := get(mpi.PsendInit(s.x, out, 4, to, 6)).Request, get(mpi.PrecvInit(s.x, got, 2, to, 6)).Request
		ok(mpi.Startall([]mpi.Request{send, recv}))
		ok(mpi.PreadyRange(0, 3, send))
		if st := get(mpi.Wait(&recv)); st.Source != to || got[0] != 1000*(1-s.at) || got[99] != got[0]+99 {
			t.Errorf("partitions %d to %d come from %d, want %d", got[0], got[99], st.Source, to)
		}
		get(mpi.Wait(&send))
	})
}

// Ranks of peer in neither group take no part, and two intercommunicators of the same
// leaders are told by their tags.
func TestIntercommunicatorsAreToldByTheirTags(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			color := []int{0, 0, mpi.Undefined, 1, 1}[c.Rank()]
			local := get(c.Split(color, 0))
			if local == nil {
				return
			}
			leaders := []int{1, 3}
			second := get(local.Dup())
			made := make([]*mpi.Comm, 2)
			var join []func()
			for i, tag := range []int{9, 0} {
				on := []*mpi.Comm{local, second}[i]
				join = append(join, aside(func() {
					made[i] = get(mpi.IntercommCreate(on, []int{1, 0}[color], c, leaders[1-color], tag))
				}))
			}
			for _, wait := range join {
				wait()
			}
			for i, x := range made {
				isBetween(t, x, [2][]int{{0, 1}, {3, 4}}, color)
				in := []int{-1}
				get(mpi.Sendrecv(x, []int{i}, x.Rank(), 1, in, x.Rank(), 1))
				if in[0] != i {
					t.Errorf("a message of communicator %d comes on number %d", in[0], i)
				}
				ok(x.Free())
			}
		})
	})
}

// The three groups of MPI's examples (MPI-4.0 §7.6.3): in a row, then in a ring.
func TestThreeGroupsInARowAndInARing(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			color := c.Rank() % 3
			local := get(c.Split(color, c.Rank()))
			sum := func(x *mpi.Comm) int {
				got := []int{0}
				ok(mpi.Allreduce(x, mpi.Sum, []int{c.Rank()}, got))
				return got[0]
			}
			sums := []int{0 + 3, 1 + 4, 2}
			for next, tag := range []int{1, 12} { // of groups 0 and 1, 1 and 2
				if other := map[int]int{next: next + 1, next + 1: next}; color == next || color == next+1 {
					x := get(mpi.IntercommCreate(local, 0, c, other[color], tag))
					if got, want := sum(x), sums[other[color]]; got != want {
						t.Errorf("group %d has %d of group %d, want %d", color, got, other[color], want)
					}
				}
			}
			after, before := (color+1)%3, (color+2)%3
			connect := map[int]func() *mpi.Comm{ // each pair's tag is its sum
				after:  func() *mpi.Comm { return get(mpi.IntercommCreate(local, 0, c, after, color+after)) },
				before: func() *mpi.Comm { return get(mpi.IntercommCreate(local, 0, c, before, color+before)) },
			}
			for _, pair := range [][2]int{{0, 1}, {1, 2}, {0, 2}} {
				if other := pair[0] + pair[1] - color; slices.Contains(pair[:], color) {
					if got, want := sum(connect[other]()), sums[other]; got != want {
						t.Errorf("in the ring group %d has %d of group %d, want %d", color, got, other, want)
					}
				}
			}
		})
	})
}

// Merge has the group first that is not high, and is the same at all ranks if both say
// the same.
func TestMergeOrdersTheGroups(t *testing.T) {
	onBoth(t, func(s half) {
		for _, high := range [][2]bool{{false, true}, {true, false}, {false, false}, {true, true}} {
			m := get(s.x.Merge(high[s.at]))
			first := 0
			switch {
			case high[0] && !high[1]:
				first = 1
			case high[0] == high[1]:
				if w := get(m.Group().Incl(0)); w.Translate([]int{0}, s.local.Group())[0] != mpi.Undefined {
					first = s.at
				} else {
					first = 1 - s.at
				}
			}
			hasRanks(t, s.w, m, append(slices.Clone(s.worlds[first]), s.worlds[1-first]...))
			if m.TestInter() || m.RemoteSize() != 0 || m.RemoteGroup() != nil {
				t.Error("what Merge has made has a remote group")
			}
			ok(m.Free())
		}
	})
}
