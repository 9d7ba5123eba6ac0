package mpi_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// wrongCall is a call on Bufs that is refused: its class, and words of the error.
type wrongCall struct {
	what  string
	class mpi.Class
	say   string
	error
}

// badBufCalls are wrong calls by rank 1 of 3: of each both forms. The other ranks call
// nothing.
func badBufCalls(c *mpi.Comm) (all []wrongCall) {
	s := make([]int32, 60)
	x, y := mpi.Of(s[:3]), mpi.Of(s[30:39])
	in, ones, sum := mpi.BufInPlace, []int{1, 1, 1}, mpi.Sum
	add := func(what string, class mpi.Class, say string, err error) func(mpi.Request, error) {
		all = append(all, wrongCall{what, class, say, err})
		return func(r mpi.Request, err error) {
			if err == nil && !r.Null() {
				stop(err)
			}
			all = append(all, wrongCall{"nonblocking " + what, class, say, err})
		}
	}

	for _, root := range []int{-1, 3, math.MinInt, mpi.Root, mpi.ProcNull} {
		add("Bcast: root", mpi.ErrRoot, "root", c.Bcast(x, root))(c.Ibcast(x, root))
		add("Gather: root", mpi.ErrRoot, "root", c.Gather(x, y, root))(c.Igather(x, y, root))
		add("Gatherv: root", mpi.ErrRoot, "root", c.Gatherv(x, y, ones, nil, root))(c.Igatherv(x, y, ones, nil, root))
		add("Scatter: root", mpi.ErrRoot, "root", c.Scatter(x, y, root))(c.Iscatter(x, y, root))
		add("Scatterv: root", mpi.ErrRoot, "root", c.Scatterv(x, y, ones, nil, root))(c.Iscatterv(x, y, ones, nil, root))
		add("Reduce: root", mpi.ErrRoot, "root", c.Reduce(sum, x, y, root))(c.Ireduce(sum, x, y, root))
	}

	// Bufs that can't be used, as each argument where it is significant.
	raw, twice := get(mpi.TypeContiguous(3, mpi.TypeInt32)), get(mpi.TypeIndexed([]int{2, 2}, []int{0, 1}, mpi.TypeInt32))
	ok(twice.Commit())
	for _, b := range []struct {
		what  string
		class mpi.Class
		say   string
		mpi.Buf
		sends bool // it can be sent
	}{
		{"not committed", mpi.ErrType, "not committed", mpi.As(raw, s, 1), false},
		{"a negative count", mpi.ErrCount, "-1 elements", mpi.As(mpi.TypeInt32, s, -1), false},
		{"outside", mpi.ErrBuffer, "touch the bytes", mpi.As(mpi.TypeInt32, s, 61), false},
		{"a view outside", mpi.ErrArg, "stride", mpi.Strided(s, 3, 1, -1), false},
		{"no type", mpi.ErrType, "no datatype", mpi.As(nil, s, 1), false},
		{"pointers", mpi.ErrType, "pointer", mpi.OfStructs([]*int{nil}), false},
		{"more bytes than memory has", mpi.ErrCount, "more bytes than any memory", mpi.Strided(s, 1<<60, 1, 0), false},
		{"elements that overlap", mpi.ErrType, "overlap", mpi.As(twice, s, 1), true},
	} {
		bad := b.Buf
		as := func(arg string) string { return arg + ": " }
		if !b.sends {
			add("Bcast "+b.what, b.class, b.say, c.Bcast(bad, 1))(c.Ibcast(bad, 1))
			add("Gather "+b.what, b.class, as("send"), c.Gather(bad, y, 0))(c.Igather(bad, y, 0))
			add("Gatherv "+b.what, b.class, as("send"), c.Gatherv(bad, y, ones, nil, 0))(c.Igatherv(bad, y, ones, nil, 0))
			add("Scatter "+b.what, b.class, as("send"), c.Scatter(bad, y, 1))(c.Iscatter(bad, y, 1))
			add("Scatterv "+b.what, b.class, as("send"), c.Scatterv(bad, y, ones, nil, 1))(c.Iscatterv(bad, y, ones, nil, 1))
			add("Allgather "+b.what, b.class, as("send"), c.Allgather(bad, y))(c.Iallgather(bad, y))
			add("Allgatherv "+b.what, b.class, as("send"), c.Allgatherv(bad, y, ones, nil))(c.Iallgatherv(bad, y, ones, nil))
			add("Alltoall "+b.what, b.class, as("send"), c.Alltoall(bad, y))(c.Ialltoall(bad, y))
			add("Alltoallv "+b.what, b.class, as("send"), c.Alltoallv(bad, ones, nil, y, ones, nil))(c.Ialltoallv(bad, ones, nil, y, ones, nil))
			add("Alltoallw "+b.what, b.class, "send[2]: ", c.Alltoallw([]mpi.Buf{x, x, bad}, []mpi.Buf{{}, x, {}}))(c.Ialltoallw([]mpi.Buf{x, x, bad}, []mpi.Buf{{}, {}, {}}))
			add("Reduce "+b.what, b.class, as("send"), c.Reduce(sum, bad, y, 0))(c.Ireduce(sum, bad, y, 0))
			add("Scan "+b.what, b.class, as("send"), c.Scan(sum, bad, y))(c.Iscan(sum, bad, y))
		}
		add("Bcast to "+b.what, b.class, b.say, c.Bcast(bad, 0))(c.Ibcast(bad, 0))
		add("Gather to "+b.what, b.class, b.say, c.Gather(x, bad, 1))(c.Igather(x, bad, 1))
		add("Gatherv to "+b.what, b.class, as("recv"), c.Gatherv(x, bad, ones, nil, 1))(c.Igatherv(x, bad, ones, nil, 1))
		add("Scatter to "+b.what, b.class, as("recv"), c.Scatter(x, bad, 0))(c.Iscatter(x, bad, 0))
		add("Scatterv to "+b.what, b.class, as("recv"), c.Scatterv(x, bad, ones, nil, 0))(c.Iscatterv(x, bad, ones, nil, 0))
		add("Allgather to "+b.what, b.class, as("recv"), c.Allgather(in, bad))(c.Iallgather(in, bad))
		add("Alltoall to "+b.what, b.class, as("recv"), c.Alltoall(x, bad))(c.Ialltoall(x, bad))
		add("Alltoallv to "+b.what, b.class, as("recv"), c.Alltoallv(x, ones, nil, bad, ones, nil))(c.Ialltoallv(x, ones, nil, bad, ones, nil))
		add("Alltoallw to "+b.what, b.class, "recv[0]: ", c.Alltoallw([]mpi.Buf{in}, []mpi.Buf{bad, {}, {}}))(c.Ialltoallw([]mpi.Buf{in}, []mpi.Buf{bad, {}, {}}))
		add("Exscan to "+b.what, b.class, as("recv"), c.Exscan(sum, x, bad))(c.Iexscan(sum, x, bad))
		add("ReduceScatterBlock to "+b.what, b.class, as("recv"), c.ReduceScatterBlock(sum, x, bad))(c.IreduceScatterBlock(sum, x, bad))
	}

	// In place where MPI does not have it.
	add("Bcast in place", mpi.ErrBuffer, "InPlace as buf", c.Bcast(in, 0))(c.Ibcast(in, 0))
	add("Gather in place elsewhere", mpi.ErrBuffer, "InPlace as send", c.Gather(in, y, 0))(c.Igather(in, y, 0))
	add("Scatter in place elsewhere", mpi.ErrBuffer, "InPlace as recv", c.Scatter(x, in, 0))(c.Iscatter(x, in, 0))
	add("Scatter of InPlace", mpi.ErrBuffer, "InPlace as send", c.Scatter(in, x, 1))(c.Iscatter(in, x, 1))
	add("Reduce in place elsewhere", mpi.ErrBuffer, "InPlace as send", c.Reduce(sum, in, y, 0))(c.Ireduce(sum, in, y, 0))
	add("Allgather into InPlace", mpi.ErrBuffer, "InPlace as recv", c.Allgather(x, in))(c.Iallgather(x, in))
	add("Allreduce into InPlace", mpi.ErrBuffer, "InPlace as recv", c.Allreduce(sum, in, in))(c.Iallreduce(sum, in, in))
	add("Alltoallv into InPlace", mpi.ErrBuffer, "InPlace as recv", c.Alltoallv(x, ones, nil, in, ones, nil))(c.Ialltoallv(x, ones, nil, in, ones, nil))
	add("Alltoallw into InPlace", mpi.ErrBuffer, "recv[1]: mpi.Buf: BufInPlace stands for", c.Alltoallw([]mpi.Buf{in}, []mpi.Buf{x, in, x}))(c.Ialltoallw([]mpi.Buf{{}, {}, {}}, []mpi.Buf{{}, in, {}}))

	// Too little room, and what can't be cut.
	pairs, column := mpi.As(mpi.TypeDoubleInt, s, 3), mpi.Strided(s[40:], 3, 1, 4)
	add("Gather: short", mpi.ErrBuffer, "recv has 12 bytes, the result 36", c.Gather(column, x, 1))(c.Igather(column, x, 1))
	add("Allreduce: short", mpi.ErrBuffer, "recv has 2 elements, the result 3", c.Allreduce(sum, x, mpi.Strided(s[40:], 2, 1, 4)))(c.Iallreduce(sum, x, mpi.Of(s[40:42])))
	add("Scatterv: short", mpi.ErrBuffer, "recv has 12 bytes, the root's own block 20", c.Scatterv(mpi.Of(s[:7]), column, []int{1, 5, 1}, nil, 1))(c.Iscatterv(mpi.Of(s[:7]), column, []int{1, 5, 1}, nil, 1))
	add("Alltoall of one column", mpi.ErrCount, "the 1 elements of send can't be cut", c.Alltoall(column, y))(c.Ialltoall(column, y))
	add("Alltoall in one column", mpi.ErrCount, "the 1 elements of recv can't be cut", c.Alltoall(in, column))(c.Ialltoall(in, column))
	add("ReduceScatterBlock of one column", mpi.ErrCount, "the 1 elements of send can't be cut", c.ReduceScatterBlock(sum, column, x))(c.IreduceScatterBlock(sum, column, x))
	add("ReduceScatter of one column", mpi.ErrCount, "send has 1 elements, the counts are of 0 in all", c.ReduceScatter(sum, column, x, []int{0, 0, 0}))(c.IreduceScatter(sum, column, x, []int{0, 0, 0}))
	add("ReduceScatter to columns", mpi.ErrCount, "a block has 1 elements, which is no whole number of elements of recv: they have 3 each", c.ReduceScatter(sum, x, column, ones))(c.IreduceScatter(sum, x, column, ones))
	add("Gather to pairs", mpi.ErrCount, "a block has 8 bytes, which is no whole number of elements of recv: they have 12 each", c.Gather(mpi.Of(s[58:]), pairs, 1))(c.Igather(mpi.Of(s[58:]), pairs, 1))
	add("Alltoall to pairs", mpi.ErrCount, "a block has 4 bytes, which is no whole number of elements of recv", c.Alltoall(mpi.Of(s[57:]), pairs))(c.Ialltoall(mpi.Of(s[57:]), pairs))
	add("Scatterv to pairs", mpi.ErrCount, "no whole number of elements of recv", c.Scatterv(mpi.Of(s[57:]), pairs, ones, nil, 1))(c.Iscatterv(mpi.Of(s[57:]), pairs, ones, nil, 1))
	add("Reduce to columns", mpi.ErrCount, "a block has 2 elements, which is no whole number of elements of recv: they have 3 each", c.Reduce(sum, mpi.Of(s[:2]), column, 1))(c.Ireduce(sum, mpi.Of(s[:2]), column, 1))
	add("Scatter of 9 to 2", mpi.ErrCount, "send has 36 bytes: 3 ranks get 8 each", c.Scatter(y, mpi.Of(s[:2]), 1))(c.Iscatter(y, mpi.Of(s[:2]), 1))

	// Blocks of the v-forms count elements of the type.
	two := get(mpi.TypeVector(2, 1, 2, mpi.TypeInt32))
	ok(two.Commit())
	four := mpi.As(two, s, 4)
	for _, v := range []struct {
		what  string
		class mpi.Class
		say   string
		n, d  []int
		sends bool
	}{
		{"too few counts", mpi.ErrArg, "2 counts", []int{1, 1}, nil, true},
		{"a negative count", mpi.ErrCount, "is -1", []int{1, 1, -1}, nil, true},
		{"a block beyond the end", mpi.ErrBuffer, "which has 4", []int{1, 1, 3}, []int{0, 1, 2}, true},
		{"the largest numbers", mpi.ErrBuffer, "which has 4", []int{math.MaxInt, 1, 1}, []int{math.MaxInt, 0, 1}, true},
		{"blocks that overlap", mpi.ErrBuffer, "overlap in recv", []int{1, 2, 1}, []int{0, 1, 2}, false},
	} {
		add("Gatherv: "+v.what, v.class, v.say, c.Gatherv(mpi.Of(s[40:42]), four, v.n, v.d, 1))(c.Igatherv(mpi.Of(s[40:42]), four, v.n, v.d, 1))
		add("Allgatherv: "+v.what, v.class, v.say, c.Allgatherv(mpi.Of(s[40:42]), four, v.n, v.d))(c.Iallgatherv(mpi.Of(s[40:42]), four, v.n, v.d))
		add("Alltoallv to "+v.what, v.class, v.say, c.Alltoallv(mpi.Of(s[40:46]), []int{2, 2, 2}, nil, four, v.n, v.d))(c.Ialltoallv(mpi.Of(s[40:46]), []int{2, 2, 2}, nil, four, v.n, v.d))
		if v.sends {
			add("Scatterv: "+v.what, v.class, v.say, c.Scatterv(four, y, v.n, v.d, 1))(c.Iscatterv(four, y, v.n, v.d, 1))
			add("Alltoallv of "+v.what, v.class, v.say, c.Alltoallv(four, v.n, v.d, y, ones, nil))(c.Ialltoallv(four, v.n, v.d, y, ones, nil))
		}
	}
	add("Gatherv: another count than is sent", mpi.ErrCount, "send has 4 bytes, counts[1], which is the root's own, is for 8", c.Gatherv(mpi.Of(s[40:41]), four, ones, nil, 1))(c.Igatherv(mpi.Of(s[40:41]), four, ones, nil, 1))
	add("Alltoallv: another count of its own", mpi.ErrCount, "sends itself 4 bytes and receives 8", c.Alltoallv(mpi.Of(s[40:43]), ones, nil, four, ones, nil))(c.Ialltoallv(mpi.Of(s[40:43]), ones, nil, four, ones, nil))

	// Lists of Bufs.
	add("Alltoallw of 2", mpi.ErrArg, "send has 2 Bufs for 3 ranks", c.Alltoallw([]mpi.Buf{x, x}, []mpi.Buf{y, {}, {}}))(c.Ialltoallw([]mpi.Buf{x, x}, []mpi.Buf{y, {}, {}}))
	add("Alltoallw to none", mpi.ErrArg, "recv has 0 Bufs for 3 ranks", c.Alltoallw([]mpi.Buf{in}, nil))(c.Ialltoallw([]mpi.Buf{x, x, x}, nil))
	add("Alltoallw: another length of its own", mpi.ErrCount, "sends itself 12 bytes and receives 36", c.Alltoallw([]mpi.Buf{x, x, x}, []mpi.Buf{{}, y, {}}))(c.Ialltoallw([]mpi.Buf{x, x, x}, []mpi.Buf{{}, y, {}}))
	add("Alltoallw: the same to two", mpi.ErrBuffer, "two Bufs of recv overlap", c.Alltoallw([]mpi.Buf{in}, []mpi.Buf{y, x, y}))(c.Ialltoallw([]mpi.Buf{in}, []mpi.Buf{y, x, y}))

	// Memory that is sent and received into.
	rows := func(at int) mpi.Buf { return mpi.Strided(s[at:], 3, 2, 5) }
	for what, b := range ordered(map[string][2]mpi.Buf{"the same": {column, column}, "elements between": {rows(0), rows(1)},
		"a slice and a view": {mpi.Of(s[7:13]), rows(0)}, "a view and a slice": {rows(0), mpi.Of(s[7:13])}}) {
		add("Allreduce: "+what, mpi.ErrBuffer, "overlap", c.Allreduce(sum, b[0], b[1]))(c.Iallreduce(sum, b[0], b[1]))
		add("Alltoallw: "+what, mpi.ErrBuffer, "overlap", c.Alltoallw([]mpi.Buf{b[0], {}, {}}, []mpi.Buf{{}, {}, b[1]}))(c.Ialltoallw([]mpi.Buf{b[0], {}, {}}, []mpi.Buf{{}, {}, b[1]}))
	}
	add("Gatherv: a block is sent", mpi.ErrBuffer, "overlap", c.Gatherv(mpi.As(two, s[4:], 1), four, ones, []int{0, 2, 3}, 1))(c.Igatherv(mpi.As(two, s[9:], 1), four, ones, []int{0, 1, 3}, 1))
	add("Scatter: overlap", mpi.ErrBuffer, "overlap", c.Scatter(mpi.As(two, s, 3), mpi.Of(s[5:7]), 1))(c.Iscatter(mpi.As(two, s, 3), mpi.Of(s[6:8]), 1))
	return all
}

func TestBadBufsOfCollectivesAreAnsweredWithTheirClass(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			if c.Rank() == 1 {
				for _, r := range badBufCalls(c) {
					want(t, r.what, r.error, r.class)
					if r.error != nil && !strings.Contains(r.Error(), r.say) {
						t.Errorf("%s: %q does not say %q", r.what, r.Error(), r.say)
					}
				}
			}
			// None of these was a call.
			sum := []int{0}
			if ok(c.Allreduce(mpi.Sum, mpi.Of([]int{c.Rank()}), mpi.Of(sum))); sum[0] != 3 {
				t.Errorf("the sum of the ranks is %d", sum[0])
			}
		})
	})
}

// Views between one another's elements do not overlap, nor do blocks in the gaps of
// others.
func TestBufsMayLieBetweenOneAnother(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			matrix := make([]int32, 600) // of 200 by 3: columns of input, results, and nothing
			for i := range 200 {
				matrix[3*i], matrix[3*i+2] = int32(i+me), -1
			}
			column := func(i int) mpi.Buf { return mpi.Strided(matrix[i:], 200, 1, 3) }
			ok(c.Allreduce(mpi.Sum, column(0), column(1)))
			for i := range 200 {
				if got := matrix[3*i : 3*i+3]; !slices.Equal(got, []int32{int32(i + me), int32(3*i + 3), -1}) {
					t.Fatalf("row %d is %v", i, got)
				}
			}
			two := get(mpi.TypeVector(2, 1, 2, mpi.TypeInt32))
			ok(two.Commit())
			b := []int32{int32(me), 0, int32(me + 10), 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			// Elements 0, 2, 3 and 4 begin at 0, 6, 9 and 12: what is sent is in the first.
			ok(c.Allgatherv(mpi.As(two, b, 1), mpi.As(two, b, 5), []int{1, 1, 1}, []int{2, 3, 4}))
			want := []int32{int32(me), 0, int32(me + 10), 0, 7, 0, 0, 0, 10, 1, 0, 11, 2, 0, 12, 0}
			if !slices.Equal(b, want) {
				t.Errorf("%v, want %v", b, want)
			}
			// What rank r sends rank i is in rows of its own, between those that it receives.
			for i := range matrix {
				matrix[i] = int32(1000*me + i)
			}
			var send, recv []mpi.Buf
			for i := range 3 {
				send, recv = append(send, mpi.Strided(matrix[i:], 10, 1, 6)), append(recv, mpi.Strided(matrix[3+i:], 10, 1, 6))
			}
			ok(c.Alltoallw(send, recv))
			for i, got := range matrix {
				want := int32(1000*me + i)
				if from := i%6 - 3; i < 60 && from >= 0 {
					want = int32(1000*from + i - i%6 + me)
				}
				if got != want {
					t.Errorf("element %d is %d, not %d", i, got, want)
				}
			}
		})
	})
}
