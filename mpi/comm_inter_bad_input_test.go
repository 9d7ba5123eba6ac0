package mpi_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// badBetween calls refused for every wrong call on an intercommunicator of 3 local and
// 2 remote ranks, as badCollectives does.
func badBetween(x *mpi.Comm, refused func(what string, class mpi.Class, err error) func(mpi.Request, error)) {
	b := make([]int32, 40)
	in, ones, three := mpi.InPlace[int32](), []int{1, 1}, []int{1, 1, 1}
	one, y := b[:1], b[20:]
	for what, root := range map[string]int{"2": 2, "AnySource": mpi.AnySource, "Root-1": mpi.Root - 1, "MinInt": math.MinInt, "1<<32": 1 << 32} {
		refused("Bcast: root "+what, mpi.ErrRoot, mpi.Bcast(x, one, root))(mpi.Ibcast(x, one, root))
		refused("Gather: root "+what, mpi.ErrRoot, mpi.Gather(x, one, y, root))(mpi.Igather(x, one, y, root))
		refused("Gatherv: root "+what, mpi.ErrRoot, mpi.Gatherv(x, one, y, ones, nil, root))(mpi.Igatherv(x, one, y, ones, nil, root))
		refused("Scatter: root "+what, mpi.ErrRoot, mpi.Scatter(x, one, y, root))(mpi.Iscatter(x, one, y, root))
		refused("Scatterv: root "+what, mpi.ErrRoot, mpi.Scatterv(x, one, y, ones, nil, root))(mpi.Iscatterv(x, one, y, ones, nil, root))
		refused("Reduce: root "+what, mpi.ErrRoot, mpi.Reduce(x, mpi.Sum, one, y, root))(mpi.Ireduce(x, mpi.Sum, one, y, root))
	}
	// Where MPI has no such call, or none in place.
	refused("Scan", mpi.ErrComm, mpi.Scan(x, mpi.Sum, one, y))(mpi.Iscan(x, mpi.Sum, one, y))
	refused("Scan in place", mpi.ErrComm, mpi.Scan(x, mpi.Sum, in, y))(mpi.Iscan(x, mpi.Sum, in, y))
	refused("Exscan", mpi.ErrComm, mpi.Exscan(x, mpi.Sum, one, nil))(mpi.Iexscan(x, mpi.Sum, one, nil))
	refused("Bcast in place", mpi.ErrBuffer, mpi.Bcast(x, in, 0))(mpi.Ibcast(x, in, 0))
	refused("Bcast in place at the root", mpi.ErrBuffer, mpi.Bcast(x, in, mpi.Root))(mpi.Ibcast(x, in, mpi.Root))
	refused("Gather in place", mpi.ErrBuffer, mpi.Gather(x, in, nil, 1))(mpi.Igather(x, in, nil, 1))
	refused("Gatherv in place", mpi.ErrBuffer, mpi.Gatherv(x, in, nil, nil, nil, 1))(mpi.Igatherv(x, in, nil, nil, nil, 1))
	refused("Scatter in place", mpi.ErrBuffer, mpi.Scatter(x, nil, in, 1))(mpi.Iscatter(x, nil, in, 1))
	refused("Scatterv in place", mpi.ErrBuffer, mpi.Scatterv(x, nil, in, nil, nil, 1))(mpi.Iscatterv(x, nil, in, nil, nil, 1))
	refused("Reduce in place", mpi.ErrBuffer, mpi.Reduce(x, mpi.Sum, in, nil, 1))(mpi.Ireduce(x, mpi.Sum, in, nil, 1))
	for _, bufs := range [][2][]int32{{in, y[:2]}, {y[:2], in}, {in, in}} {
		s, r := bufs[0], bufs[1]
		refused("Gather in place at the root", mpi.ErrBuffer, mpi.Gather(x, s, r, mpi.Root))(mpi.Igather(x, s, r, mpi.Root))
		refused("Gatherv in place at the root", mpi.ErrBuffer, mpi.Gatherv(x, s, r, ones, nil, mpi.Root))(mpi.Igatherv(x, s, r, ones, nil, mpi.Root))
		refused("Scatter in place at the root", mpi.ErrBuffer, mpi.Scatter(x, s, r, mpi.Root))(mpi.Iscatter(x, s, r, mpi.Root))
		refused("Scatterv in place at the root", mpi.ErrBuffer, mpi.Scatterv(x, s, r, ones, nil, mpi.Root))(mpi.Iscatterv(x, s, r, ones, nil, mpi.Root))
		refused("Reduce in place at the root", mpi.ErrBuffer, mpi.Reduce(x, mpi.Sum, s, r, mpi.Root))(mpi.Ireduce(x, mpi.Sum, s, r, mpi.Root))
		refused("Allgather in place", mpi.ErrBuffer, mpi.Allgather(x, s, r))(mpi.Iallgather(x, s, r))
		refused("Allgatherv in place", mpi.ErrBuffer, mpi.Allgatherv(x, s, r, ones, nil))(mpi.Iallgatherv(x, s, r, ones, nil))
		refused("Alltoall in place", mpi.ErrBuffer, mpi.Alltoall(x, s, r))(mpi.Ialltoall(x, s, r))
		refused("Alltoallv in place", mpi.ErrBuffer, mpi.Alltoallv(x, s, ones, nil, r, ones, nil))(mpi.Ialltoallv(x, s, ones, nil, r, ones, nil))
		refused("Allreduce in place", mpi.ErrBuffer, mpi.Allreduce(x, mpi.Sum, s, r))(mpi.Iallreduce(x, mpi.Sum, s, r))
	}
	refused("ReduceScatterBlock in place", mpi.ErrBuffer, mpi.ReduceScatterBlock(x, mpi.Sum, in, y[:3]))(mpi.IreduceScatterBlock(x, mpi.Sum, in, y[:3]))
	refused("ReduceScatter in place", mpi.ErrBuffer, mpi.ReduceScatter(x, mpi.Sum, in, y[:3], ones))(mpi.IreduceScatter(x, mpi.Sum, in, y[:3], ones))
	refused("ReduceScatterBlock into InPlace", mpi.ErrBuffer, mpi.ReduceScatterBlock(x, mpi.Sum, y[:3], in))(mpi.IreduceScatterBlock(x, mpi.Sum, y[:3], in))

	for what, op := range map[string]*mpi.Op{"nil": nil, "BAnd of another type": (*mpi.Op)(mpi.NewOp(func(a, b bool) bool { return a }))} {
		refused("Reduce: operator "+what, mpi.ErrOp, mpi.Reduce(x, op, one, nil, 0))(mpi.Ireduce(x, op, one, nil, 0))
		refused("Reduce at the root: operator "+what, mpi.ErrOp, mpi.Reduce(x, op, nil, one, mpi.Root))(mpi.Ireduce(x, op, nil, one, mpi.Root))
		refused("Allreduce: operator "+what, mpi.ErrOp, mpi.Allreduce(x, op, one, y))(mpi.Iallreduce(x, op, one, y))
		refused("ReduceScatterBlock: operator "+what, mpi.ErrOp, mpi.ReduceScatterBlock(x, op, b[:3], y))(mpi.IreduceScatterBlock(x, op, b[:3], y))
	}

	// Numbers of elements that can't be cut, short buffers, common memory.
	refused("Gather of 3", mpi.ErrCount, mpi.Gather(x, nil, b[:3], mpi.Root))(mpi.Igather(x, nil, b[:3], mpi.Root))
	refused("Scatter of 3", mpi.ErrCount, mpi.Scatter(x, b[:3], nil, mpi.Root))(mpi.Iscatter(x, b[:3], nil, mpi.Root))
	refused("Allgather of 3", mpi.ErrCount, mpi.Allgather(x, one, y[:3]))(mpi.Iallgather(x, one, y[:3]))
	refused("Alltoall of 3", mpi.ErrCount, mpi.Alltoall(x, b[:3], y[:2]))(mpi.Ialltoall(x, b[:3], y[:2]))
	refused("Alltoall to 3", mpi.ErrCount, mpi.Alltoall(x, b[:2], y[:3]))(mpi.Ialltoall(x, b[:2], y[:3]))
	refused("ReduceScatterBlock of 2", mpi.ErrCount, mpi.ReduceScatterBlock(x, mpi.Sum, b[:2], y))(mpi.IreduceScatterBlock(x, mpi.Sum, b[:2], y))
	refused("Allreduce: short", mpi.ErrBuffer, mpi.Allreduce(x, mpi.Sum, b[:3], y[:2]))(mpi.Iallreduce(x, mpi.Sum, b[:3], y[:2]))
	refused("ReduceScatterBlock: short", mpi.ErrBuffer, mpi.ReduceScatterBlock(x, mpi.Sum, b[:6], y[:1]))(mpi.IreduceScatterBlock(x, mpi.Sum, b[:6], y[:1]))
	refused("Allgather: overlapping", mpi.ErrBuffer, mpi.Allgather(x, b[:2], b[1:3]))(mpi.Iallgather(x, b[:2], b[1:3]))
	refused("Alltoall: overlapping", mpi.ErrBuffer, mpi.Alltoall(x, b[:2], b[1:3]))(mpi.Ialltoall(x, b[:2], b[1:3]))
	refused("Allreduce: overlapping", mpi.ErrBuffer, mpi.Allreduce(x, mpi.Sum, b[:2], b[1:3]))(mpi.Iallreduce(x, mpi.Sum, b[:2], b[1:3]))
	refused("Allgatherv: overlapping", mpi.ErrBuffer, mpi.Allgatherv(x, one, b[:2], ones, nil))(mpi.Iallgatherv(x, one, b[:2], ones, nil))
	refused("Alltoallv: overlapping", mpi.ErrBuffer, mpi.Alltoallv(x, b, ones, nil, b, ones, nil))(mpi.Ialltoallv(x, b, ones, nil, b, ones, nil))

	for _, tc := range []struct {
		what           string
		class          mpi.Class
		counts, displs []int
	}{
		{"counts of the local group", mpi.ErrArg, three, nil},
		{"no counts", mpi.ErrArg, nil, nil},
		{"displacements of the local group", mpi.ErrArg, ones, []int{0, 1, 2}},
		{"negative count", mpi.ErrCount, []int{1, -1}, nil},
		{"block beyond the end", mpi.ErrBuffer, []int{1, 6}, nil},
	} {
		n, d, y := tc.counts, tc.displs, y[:6]
		refused("Gatherv: "+tc.what, tc.class, mpi.Gatherv(x, nil, y, n, d, mpi.Root))(mpi.Igatherv(x, nil, y, n, d, mpi.Root))
		refused("Scatterv: "+tc.what, tc.class, mpi.Scatterv(x, y, nil, n, d, mpi.Root))(mpi.Iscatterv(x, y, nil, n, d, mpi.Root))
		refused("Allgatherv: "+tc.what, tc.class, mpi.Allgatherv(x, one, y, n, d))(mpi.Iallgatherv(x, one, y, n, d))
		refused("Alltoallv of "+tc.what, tc.class, mpi.Alltoallv(x, y, n, d, b[:2], ones, nil))(mpi.Ialltoallv(x, y, n, d, b[:2], ones, nil))
		refused("Alltoallv to "+tc.what, tc.class, mpi.Alltoallv(x, b[:2], ones, nil, y, n, d))(mpi.Ialltoallv(x, b[:2], ones, nil, y, n, d))
	}
	refused("Gatherv: overlapping blocks", mpi.ErrBuffer, mpi.Gatherv(x, nil, y, ones, []int{3, 3}, mpi.Root))(mpi.Igatherv(x, nil, y, ones, []int{3, 3}, mpi.Root))

	// The remote group has no rank 2, though the local one has.
	refused("Send", mpi.ErrRank, mpi.Send(x, one, 2, 0))(mpi.Isend(x, one, 2, 0))
	refused("Recv", mpi.ErrRank, second(mpi.Recv(x, one, 2, 0)))(mpi.Irecv(x, one, 2, 0))
	refused("Send to Root", mpi.ErrRank, mpi.Send(x, one, mpi.Root, 0))(mpi.SendInit(x, one, mpi.Root, 0))
	refused("Probe", mpi.ErrRank, second(mpi.Probe(x, 2, 0)))(mpi.Request{}, second(mpi.PrecvInit(x, one, 1, 2, 0)))
}

func TestBadArgumentsOnAnIntercommunicatorAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 5, func(w *mpi.World, c *mpi.Comm) {
			s := pair{3, 2}.connect(w, c)
			if s.at == 0 {
				badBetween(s.x, func(what string, class mpi.Class, err error) func(mpi.Request, error) {
					want(t, what, err, class)
					return func(r mpi.Request, err error) {
						want(t, "nonblocking "+what, err, class)
						if !r.Null() {
							t.Errorf("nonblocking %s: a request", what)
						}
					}
				})
				if err := mpi.Send(s.x, none, 2, 0); !strings.Contains(fmt.Sprint(err), "remote group of the communicator of 2 ranks") {
					t.Errorf("Send: %v", err)
				}
			}
			d, err := s.x.SplitType(mpi.TypeShared, 0)
			if want(t, "SplitType", err, mpi.ErrComm); d != nil {
				t.Error("SplitType has made one")
			}
			_, err = mpi.IntercommCreate(s.x, 0, c, 0, 0)
			want(t, "IntercommCreate of one", err, mpi.ErrComm)
			_, err = s.local.Merge(false)
			want(t, "Merge of a group", err, mpi.ErrComm)
			sum := []int{0} // none of these was a call
			if ok(mpi.Allreduce(s.x, mpi.Sum, []int{1}, sum)); sum[0] != s.x.RemoteSize() {
				t.Errorf("the remote group has %d ranks, want %d", sum[0], s.x.RemoteSize())
			}
		})
	})
}

// Where a rank makes a mistake no rank gets an intercommunicator, and all can go on.
func TestAWrongArgumentFailsIntercommCreateAtAllRanks(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			at, me := c.Rank()/2, c.Rank()
			local, freed := get(c.Split(at, 0)), get(c.Dup())
			ok(freed.Free())
			theirs := []int{2, 0}[at]
			for _, tc := range []struct {
				what            string
				class           mpi.Class // at all ranks that learn why
				leader          int
				peer            *mpi.Comm
				remote, tag     int
				only, elsewhere int // the mistake is of this rank alone, unless it is -1
			}{
				{"a local leader too many", mpi.ErrRank, 2, c, theirs, 0, -1, 0},
				{"a negative local leader", mpi.ErrRank, -1, c, theirs, 0, -1, 0},
				{"a local leader too many, at one rank", mpi.ErrRank, 2, c, theirs, 0, 1, 0},
				{"a local leader too many, at the other group's last rank", mpi.ErrRank, 2, c, theirs, 0, 3, 0},
				{"no peer", mpi.ErrComm, 0, nil, theirs, 0, -1, 0},
				{"a freed peer", mpi.ErrComm, 0, freed, theirs, 0, -1, 0},
				{"a remote leader too many", mpi.ErrRank, 0, c, 4, 0, -1, 0},
				{"no process as remote leader", mpi.ErrRank, 0, c, mpi.ProcNull, 0, -1, 0},
				{"any rank as remote leader", mpi.ErrRank, 0, c, mpi.AnySource, 0, -1, 0},
				{"a remote leader of its own", mpi.ErrRank, 0, c, 2 - theirs + 1, 0, -1, 0},
				{"itself as remote leader", mpi.ErrRank, 0, c, 2 - theirs, 0, -1, 0},
				{"a negative tag", mpi.ErrTag, 0, c, theirs, -1, -1, 0},
				{"any tag", mpi.ErrTag, 0, c, theirs, mpi.AnyTag, -1, 0},
			} {
				if tc.only >= 0 && tc.only != me {
					tc.leader = tc.elsewhere
				}
				x, err := mpi.IntercommCreate(local, tc.leader, tc.peer, tc.remote, tc.tag)
				if tc.only < 0 || tc.only/2 == at {
					want(t, fmt.Sprintf("rank %d: %s", me, tc.what), err, tc.class)
				}
				if err == nil || x != nil {
					t.Errorf("rank %d: %s: %v, %v", me, tc.what, x, err)
				}
				ok(c.Barrier())
			}
			isBetween(t, get(mpi.IntercommCreate(local, 0, c, theirs, 0)), [2][]int{{0, 1}, {2, 3}}, at)
		})
	})
}

// The death of a rank fails what the other group's ranks wait for, and collective calls
// of both groups.
func TestTheDeathOfARemoteRankFailsWhatNeedsIt(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, p := range []pair{{1, 1}, {1, 3}, {3, 2}} {
			for what, wait := range ordered(map[string]func(x *mpi.Comm, failing int) error{
				"Recv":    func(x *mpi.Comm, failing int) error { return second(mpi.Recv(x, none, failing, 1)) },
				"Send":    func(x *mpi.Comm, failing int) error { return mpi.Send(x, make([]byte, 1<<20), failing, 1) },
				"Probe":   func(x *mpi.Comm, failing int) error { return second(mpi.Probe(x, failing, 1)) },
				"Barrier": func(x *mpi.Comm, failing int) error { return x.Barrier() },
				// A rank that needs nothing of the dead one fails in the next call.
				"Allgather": func(x *mpi.Comm, failing int) error {
					return cmp.Or(mpi.Allgather(x, []int{1}, make([]int, x.RemoteSize())), x.Barrier())
				},
				"Iallreduce": func(x *mpi.Comm, failing int) error {
					return cmp.Or(second(mpi.Wait(begin(mpi.Iallreduce(x, mpi.Sum, []int{1}, []int{0})))), x.Barrier())
				},
				"Dup":   func(x *mpi.Comm, failing int) error { return second(x.Dup()) },
				"Merge": func(x *mpi.Comm, failing int) error { return second(x.Merge(false)) },
			}) {
				t.Run(fmt.Sprintf("%d+%d/%s", p.a, p.b, what), func(t *testing.T) {
					bad := errors.New("bad luck")
					err := try(t, fabric, p.a+p.b, func(w *mpi.World, c *mpi.Comm) error {
						var s half
						if err := attempt(func() { s = p.connect(w, c); ok(s.x.Barrier()) }); err != nil {
							return err
						}
						failing := p.b - 1 // of the second group
						if s.at == 1 {
							if s.x.Rank() == failing {
								return bad
							}
							failing = 0 // who waits in the first group fails, and these ranks with it
						}
						err := wait(s.x, failing)
						want(t, fmt.Sprintf("rank %d in %s", c.Rank(), what), err, mpi.ErrProcFailed)
						return err
					})
					if !errors.Is(err, bad) || !errors.Is(err, mpi.ErrProcFailed) {
						t.Errorf("Run = %v: want the failure and what followed from it", err)
					}
				})
			}
		}
	})
}

// Counts that do not go together are told with the rank of the remote group, at one rank
// at least; and then all learn of it.
func TestCountsThatDifferBetweenGroupsNameTheRemoteRank(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, nonblocking := range []bool{false, true} {
			act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
				s := pair{1, 3}.connect(w, c)
				x := duel[int]{half: s, trial: trial[int]{form: form{nonblocking: nonblocking}}}
				n, root := 4, 0
				if s.at == 0 {
					root = mpi.Root
				} else if s.x.Rank() == 1 {
					n = 3
				}
				in, out := make([]int, n), make([]int, 12)
				err := attempt(func() {
					x.call(func() error { return mpi.Gather(s.x, in, out, root) }, func() (mpi.Request, error) { return mpi.Igather(s.x, in, out, root) })
				})
				var length *mpi.LengthError
				if got := errors.As(err, &length); got != (s.at == 0) || got && (length.Rank != 1 || !length.Remote || !strings.Contains(err.Error(), "rank 1 of the remote group sends 24 bytes")) {
					t.Errorf("rank %d of group %d: %v", s.x.Rank(), s.at, err)
				}
				if err == nil {
					err = s.x.Barrier()
				}
				want(t, "the call, or the next one,", err, mpi.ErrCount)
				ok(c.Barrier())
			})
		}
	})
}
