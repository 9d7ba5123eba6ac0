package mpi_test

import (
	"math"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// badCollectives calls refused for every wrong call, with what the blocking form
// returned and then with what the nonblocking one did. The caller is rank 1 of 3. The
// other ranks need not call anything: a wrong call does nothing.
func badCollectives(c *mpi.Comm, refused func(what string, class mpi.Class, err error) func(mpi.Request, error)) {
	b := make([]int32, 30)
	x, y := b[:3], b[15:]
	in, ones := mpi.InPlace[int32](), []int{1, 1, 1}
	for what, root := range map[string]int{"-1": -1, "3": 3, "MinInt": math.MinInt, "1<<32": 1 << 32, "Root": mpi.Root, "ProcNull": mpi.ProcNull} {
		refused("Bcast: root "+what, mpi.ErrRoot, mpi.Bcast(c, x, root))(mpi.Ibcast(c, x, root))
		refused("Gather: root "+what, mpi.ErrRoot, mpi.Gather(c, x, y, root))(mpi.Igather(c, x, y, root))
		refused("Gatherv: root "+what, mpi.ErrRoot, mpi.Gatherv(c, x, y, ones, nil, root))(mpi.Igatherv(c, x, y, ones, nil, root))
		refused("Scatter: root "+what, mpi.ErrRoot, mpi.Scatter(c, x, y, root))(mpi.Iscatter(c, x, y, root))
		refused("Scatterv: root "+what, mpi.ErrRoot, mpi.Scatterv(c, x, y, ones, nil, root))(mpi.Iscatterv(c, x, y, ones, nil, root))
		refused("Reduce: root "+what, mpi.ErrRoot, mpi.Reduce(c, mpi.Sum, x, y, root))(mpi.Ireduce(c, mpi.Sum, x, y, root))
	}

	var z []complex64
	for what, op := range map[string]*mpi.Op{"nil": nil, "zero": new(mpi.Op), "of no function": (*mpi.Op)(mpi.NewOp[complex64](nil)),
		"Max": mpi.Max, "BAnd": mpi.BAnd, "of another type": (*mpi.Op)(mpi.NewOp(func(a, b complex128) complex128 { return a }))} {
		refused("Reduce: operator "+what, mpi.ErrOp, mpi.Reduce(c, op, z, z, 0))(mpi.Ireduce(c, op, z, z, 0))
		refused("Allreduce: operator "+what, mpi.ErrOp, mpi.Allreduce(c, op, z, z))(mpi.Iallreduce(c, op, z, z))
		refused("ReduceScatterBlock: operator "+what, mpi.ErrOp, mpi.ReduceScatterBlock(c, op, z, z))(mpi.IreduceScatterBlock(c, op, z, z))
		refused("ReduceScatter: operator "+what, mpi.ErrOp, mpi.ReduceScatter(c, op, z, z, ones))(mpi.IreduceScatter(c, op, z, z, ones))
		refused("Scan: operator "+what, mpi.ErrOp, mpi.Scan(c, op, z, z))(mpi.Iscan(c, op, z, z))
		refused("Exscan: operator "+what, mpi.ErrOp, mpi.Exscan(c, op, z, z))(mpi.Iexscan(c, op, z, z))
		refused("ReduceLocal: operator "+what, mpi.ErrOp, mpi.ReduceLocal(op, z, z))(mpi.Request{}, mpi.ReduceLocal(op, z, z))
	}

	// In place where MPI does not have it.
	refused("Bcast in place", mpi.ErrBuffer, mpi.Bcast(c, in, 0))(mpi.Ibcast(c, in, 0))
	refused("Gather in place elsewhere", mpi.ErrBuffer, mpi.Gather(c, in, y, 0))(mpi.Igather(c, in, y, 0))
	refused("Gatherv in place elsewhere", mpi.ErrBuffer, mpi.Gatherv(c, in, y, ones, nil, 0))(mpi.Igatherv(c, in, y, ones, nil, 0))
	refused("Scatter in place elsewhere", mpi.ErrBuffer, mpi.Scatter(c, x, in, 0))(mpi.Iscatter(c, x, in, 0))
	refused("Scatterv in place elsewhere", mpi.ErrBuffer, mpi.Scatterv(c, x, in, ones, nil, 0))(mpi.Iscatterv(c, x, in, ones, nil, 0))
	refused("Reduce in place elsewhere", mpi.ErrBuffer, mpi.Reduce(c, mpi.Sum, in, y, 0))(mpi.Ireduce(c, mpi.Sum, in, y, 0))
	for _, send := range [][]int32{x, in} {
		refused("Gather into InPlace", mpi.ErrBuffer, mpi.Gather(c, send, in, 1))(mpi.Igather(c, send, in, 1))
		refused("Gatherv into InPlace", mpi.ErrBuffer, mpi.Gatherv(c, send, in, ones, nil, 1))(mpi.Igatherv(c, send, in, ones, nil, 1))
		refused("Allgather into InPlace", mpi.ErrBuffer, mpi.Allgather(c, send, in))(mpi.Iallgather(c, send, in))
		refused("Allgatherv into InPlace", mpi.ErrBuffer, mpi.Allgatherv(c, send, in, ones, nil))(mpi.Iallgatherv(c, send, in, ones, nil))
		refused("Alltoall into InPlace", mpi.ErrBuffer, mpi.Alltoall(c, send, in))(mpi.Ialltoall(c, send, in))
		refused("Alltoallv into InPlace", mpi.ErrBuffer, mpi.Alltoallv(c, send, ones, nil, in, ones, nil))(mpi.Ialltoallv(c, send, ones, nil, in, ones, nil))
		refused("Reduce into InPlace", mpi.ErrBuffer, mpi.Reduce(c, mpi.Sum, send, in, 1))(mpi.Ireduce(c, mpi.Sum, send, in, 1))
		refused("Allreduce into InPlace", mpi.ErrBuffer, mpi.Allreduce(c, mpi.Sum, send, in))(mpi.Iallreduce(c, mpi.Sum, send, in))
		refused("ReduceScatterBlock into InPlace", mpi.ErrBuffer, mpi.ReduceScatterBlock(c, mpi.Sum, send, in))(mpi.IreduceScatterBlock(c, mpi.Sum, send, in))
		refused("ReduceScatter into InPlace", mpi.ErrBuffer, mpi.ReduceScatter(c, mpi.Sum, x, in, ones))(mpi.IreduceScatter(c, mpi.Sum, x, in, ones))
		refused("Scan into InPlace", mpi.ErrBuffer, mpi.Scan(c, mpi.Sum, send, in))(mpi.Iscan(c, mpi.Sum, send, in))
		refused("Exscan into InPlace", mpi.ErrBuffer, mpi.Exscan(c, mpi.Sum, send, in))(mpi.Iexscan(c, mpi.Sum, send, in))
	}
	refused("Scatter of InPlace", mpi.ErrBuffer, mpi.Scatter(c, in, x, 1))(mpi.Iscatter(c, in, x, 1))
	refused("Scatterv of InPlace", mpi.ErrBuffer, mpi.Scatterv(c, in, x, ones, nil, 1))(mpi.Iscatterv(c, in, x, ones, nil, 1))

	// A recv that is too short, or memory of send.
	for what, r := range map[string][2][]int32{"short": {b[20:22], b[20:28]}, "nil": {}, "overlapping": {b[2:], b[2:]}, "the same": {b, b}} {
		recv, many := r[0], r[1]
		refused("Gather: recv "+what, mpi.ErrBuffer, mpi.Gather(c, x, many, 1))(mpi.Igather(c, x, many, 1))
		refused("Allgather: recv "+what, mpi.ErrBuffer, mpi.Allgather(c, x, many))(mpi.Iallgather(c, x, many))
		refused("Alltoall: recv "+what, mpi.ErrBuffer, mpi.Alltoall(c, x, recv))(mpi.Ialltoall(c, x, recv))
		refused("Reduce: recv "+what, mpi.ErrBuffer, mpi.Reduce(c, mpi.Sum, x, recv, 1))(mpi.Ireduce(c, mpi.Sum, x, recv, 1))
		refused("Allreduce: recv "+what, mpi.ErrBuffer, mpi.Allreduce(c, mpi.Sum, x, recv))(mpi.Iallreduce(c, mpi.Sum, x, recv))
		refused("Scan: recv "+what, mpi.ErrBuffer, mpi.Scan(c, mpi.Sum, x, recv))(mpi.Iscan(c, mpi.Sum, x, recv))
		refused("Exscan: recv "+what, mpi.ErrBuffer, mpi.Exscan(c, mpi.Sum, x, recv))(mpi.Iexscan(c, mpi.Sum, x, recv))
		refused("ReduceScatterBlock: recv "+what, mpi.ErrBuffer, mpi.ReduceScatterBlock(c, mpi.Sum, b[:9], recv))(mpi.IreduceScatterBlock(c, mpi.Sum, b[:9], recv))
		refused("ReduceScatter: recv "+what, mpi.ErrBuffer, mpi.ReduceScatter(c, mpi.Sum, b[:9], recv, []int{3, 3, 3}))(mpi.IreduceScatter(c, mpi.Sum, b[:9], recv, []int{3, 3, 3}))
	}
	refused("Scatter: overlapping", mpi.ErrBuffer, mpi.Scatter(c, b[:6], b[5:7], 1))(mpi.Iscatter(c, b[:6], b[5:7], 1))

	// Numbers of elements that are no multiple of the ranks', or not the same.
	refused("Alltoall of 4", mpi.ErrCount, mpi.Alltoall(c, b[:4], y))(mpi.Ialltoall(c, b[:4], y))
	refused("Alltoall of 4 in place", mpi.ErrCount, mpi.Alltoall(c, in, b[:4]))(mpi.Ialltoall(c, in, b[:4]))
	refused("Allgather of 4 in place", mpi.ErrCount, mpi.Allgather(c, in, b[:4]))(mpi.Iallgather(c, in, b[:4]))
	refused("Gather of 4 in place", mpi.ErrCount, mpi.Gather(c, in, b[:4], 1))(mpi.Igather(c, in, b[:4], 1))
	refused("Scatter of 4 in place", mpi.ErrCount, mpi.Scatter(c, b[:4], in, 1))(mpi.Iscatter(c, b[:4], in, 1))
	refused("Scatter of 4", mpi.ErrCount, mpi.Scatter(c, b[:4], b[10:11], 1))(mpi.Iscatter(c, b[:4], b[10:11], 1))
	refused("ReduceScatterBlock of 4", mpi.ErrCount, mpi.ReduceScatterBlock(c, mpi.Sum, b[:4], y))(mpi.IreduceScatterBlock(c, mpi.Sum, b[:4], y))
	refused("ReduceScatterBlock of 4 in place", mpi.ErrCount, mpi.ReduceScatterBlock(c, mpi.Sum, in, b[:4]))(mpi.IreduceScatterBlock(c, mpi.Sum, in, b[:4]))
	for what, counts := range map[string][]int{"2 for 4": {1, 0, 1}, "more": {3, 1, 1}, "a negative one": {5, -1, 0}, "too large": {1, math.MaxInt, math.MaxInt}} {
		refused("ReduceScatter of "+what, mpi.ErrCount, mpi.ReduceScatter(c, mpi.Sum, b[:4], y, counts))(mpi.IreduceScatter(c, mpi.Sum, b[:4], y, counts))
	}
	refused("ReduceScatter of 6 in place", mpi.ErrCount, mpi.ReduceScatter(c, mpi.Sum, in, b[:4], []int{2, 2, 2}))(mpi.IreduceScatter(c, mpi.Sum, in, b[:4], []int{2, 2, 2}))
	refused("ReduceScatter of two blocks", mpi.ErrArg, mpi.ReduceScatter(c, mpi.Sum, b[:4], y, []int{2, 2}))(mpi.IreduceScatter(c, mpi.Sum, b[:4], y, []int{2, 2}))
	refused("ReduceLocal of 3 and 2", mpi.ErrCount, mpi.ReduceLocal(mpi.Sum, x, y[:2]))(mpi.Request{}, mpi.ReduceLocal(mpi.Sum, x, y[:2]))
	refused("ReduceLocal: overlapping", mpi.ErrBuffer, mpi.ReduceLocal(mpi.Sum, x, x))(mpi.Request{}, mpi.ReduceLocal(mpi.Sum, x, b[1:4]))

	// Blocks of the v-forms, in y, which has 15 elements.
	for _, tc := range []struct {
		what           string
		class          mpi.Class
		counts, displs []int
		sends          bool // refused as blocks of a send, too
	}{
		{"no counts", mpi.ErrArg, nil, nil, true},
		{"too few counts", mpi.ErrArg, []int{1, 1}, nil, true},
		{"too many counts", mpi.ErrArg, []int{1, 1, 1, 1}, []int{0, 1, 2}, true},
		{"too few displacements", mpi.ErrArg, ones, []int{0, 1}, true},
		{"negative count", mpi.ErrCount, []int{1, 1, -1}, nil, true},
		{"smallest count", mpi.ErrCount, []int{1, 1, math.MinInt}, []int{0, 1, 2}, true},
		{"negative displacement", mpi.ErrBuffer, ones, []int{-1, 1, 2}, true},
		{"displacement behind the end", mpi.ErrBuffer, ones, []int{0, 1, 15}, true},
		{"largest displacement", mpi.ErrBuffer, ones, []int{0, 1, math.MaxInt}, true},
		{"block beyond the end", mpi.ErrBuffer, []int{1, 1, 3}, []int{0, 1, 13}, true},
		{"blocks that are together too long", mpi.ErrBuffer, []int{5, 1, 10}, nil, true},
		{"largest counts", mpi.ErrBuffer, []int{math.MaxInt, 1, math.MaxInt}, nil, true},
		{"blocks that overlap", mpi.ErrBuffer, []int{1, 1, 2}, []int{7, 2, 6}, false},
		{"blocks at one place", mpi.ErrBuffer, ones, []int{3, 2, 3}, false},
		{"another count than is sent", mpi.ErrCount, []int{1, 2, 1}, nil, false},
	} {
		n, d := tc.counts, tc.displs
		refused("Gatherv: "+tc.what, tc.class, mpi.Gatherv(c, x[:1], y, n, d, 1))(mpi.Igatherv(c, x[:1], y, n, d, 1))
		refused("Allgatherv: "+tc.what, tc.class, mpi.Allgatherv(c, x[:1], y, n, d))(mpi.Iallgatherv(c, x[:1], y, n, d))
		refused("Alltoallv to "+tc.what, tc.class, mpi.Alltoallv(c, x, ones, nil, y, n, d))(mpi.Ialltoallv(c, x, ones, nil, y, n, d))
		if tc.sends {
			refused("Alltoallv of "+tc.what, tc.class, mpi.Alltoallv(c, y, n, d, x, ones, nil))(mpi.Ialltoallv(c, y, n, d, x, ones, nil))
			refused("Scatterv: "+tc.what, tc.class, mpi.Scatterv(c, y, x, n, d, 1))(mpi.Iscatterv(c, y, x, n, d, 1))
		}
	}
	d := []int{8, 4, 0}
	refused("Gatherv: send in a block", mpi.ErrBuffer, mpi.Gatherv(c, b[4:5], b[:9], ones, d, 1))(mpi.Igatherv(c, b[8:9], b[:9], ones, d, 1))
	refused("Allgatherv: send in a block", mpi.ErrBuffer, mpi.Allgatherv(c, b[:1], b[:9], ones, d))(mpi.Iallgatherv(c, b[8:9], b[:9], ones, d))
	refused("Alltoallv: blocks in blocks", mpi.ErrBuffer, mpi.Alltoallv(c, b, ones, []int{1, 2, 4}, b, ones, d))(mpi.Ialltoallv(c, b, ones, []int{0, 1, 2}, b, ones, d))
	refused("Scatterv: recv in a block", mpi.ErrBuffer, mpi.Scatterv(c, b[:9], b[8:9], ones, d, 1))(mpi.Iscatterv(c, b[:9], b[4:5], ones, d, 1))
	refused("Scatterv: recv too short", mpi.ErrBuffer, mpi.Scatterv(c, y, nil, ones, d, 1))(mpi.Iscatterv(c, y, nil, ones, d, 1))
}

func TestBadArgumentsOfCollectivesAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 1 {
				badCollectives(c, func(what string, class mpi.Class, err error) func(mpi.Request, error) {
					want(t, what, err, class)
					return func(r mpi.Request, err error) {
						want(t, "nonblocking "+what, err, class)
						if !r.Null() {
							t.Errorf("nonblocking %s: a request", what)
						}
					}
				})
			}
			// None of these was a call.
			sum := []int{0}
			if ok(mpi.Allreduce(c, mpi.Sum, []int{c.Rank()}, sum)); sum[0] != 3 {
				t.Errorf("the sum of the ranks is %d", sum[0])
			}
		})
	})
}

// Blocks in the gaps of others are no overlap, nor is what is not significant.
func TestBuffersMayLieBetweenOneAnother(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			b := []int{c.Rank(), -1, c.Rank() + 10, -1, c.Rank() + 20, -1, 7}
			ones := []int{1, 1, 1}
			ok(mpi.Alltoallv(c, b, ones, []int{0, 2, 4}, b, ones, []int{5, 3, 1}))
			for i := range 3 {
				if got, want := b[5-2*i], i+10*c.Rank(); got != want {
					t.Errorf("rank %d got %d of rank %d, want %d", c.Rank(), got, i, want)
				}
			}
			ok(mpi.Gatherv(c, b[6:], b, ones, []int{5, 3, 1}, 2))
			if c.Rank() == 2 && (b[1] != 7 || b[3] != 7 || b[5] != 7) {
				t.Errorf("the root has %v", b)
			}
			// An empty block may be anywhere.
			ok(mpi.Allgatherv(c, b[:0], nil, []int{0, 0, 0}, []int{-5, 99, 0}))
		})
	})
}

// Freed communicators and those of an ended World refuse collective calls.
func TestCollectivesOfNoCommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d, b := get(c.Dup()), []int{1}
			ok(d.Free())
			refused := func(c *mpi.Comm) {
				want(t, "Bcast", mpi.Bcast(c, b, 0), mpi.ErrComm)
				want(t, "Allreduce", mpi.Allreduce(c, mpi.Sum, b, []int{0}), mpi.ErrComm)
				want(t, "Exscan", mpi.Exscan(c, mpi.Sum, b, []int{0}), mpi.ErrComm)
				_, err := mpi.Iallgather(c, b, make([]int, 2))
				want(t, "Iallgather", err, mpi.ErrComm)
				_, err = c.Ibarrier()
				want(t, "Ibarrier", err, mpi.ErrComm)
			}
			refused(d)
			ok(c.Barrier())
			ok(w.Finalize())
			refused(c)
		})
	})
}
