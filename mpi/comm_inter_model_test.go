package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// pair is the numbers of ranks of two groups.
type pair struct{ a, b int }

// pairs runs a test with intercommunicators of several sizes, each in a subtest. The
// ranks of the job are in neither group side by side, nor in their order.
func pairs(t *testing.T, f func(t *testing.T, fabric string, p pair)) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, p := range []pair{{1, 1}, {1, 3}, {3, 2}, {4, 4}} {
			if testing.Short() && team == nil && p.a+p.b > 5 {
				continue
			}
			t.Run(fmt.Sprintf("%d+%d", p.a, p.b), func(t *testing.T) { f(t, fabric, p) })
		}
	})
}

// worlds are the ranks of the job in the two groups: from the highest on, in turns.
func (p pair) worlds() (w [2][]int) {
	size := [2]int{p.a, p.b}
	for r, side := p.a+p.b-1, 0; r >= 0; side = 1 - side {
		if len(w[side]) < size[side] {
			w[side] = append(w[side], r)
			r--
		}
	}
	return w
}

// half is one rank's view of an intercommunicator.
type half struct {
	w        *mpi.World
	x, local *mpi.Comm
	at       int // which of the groups the rank is in
	worlds   [2][]int
}

// connect makes the intercommunicator, by the last rank of each group.
func (p pair) connect(w *mpi.World, c *mpi.Comm) half {
	s := half{w: w, worlds: p.worlds()}
	for i, r := range append(append([]int(nil), s.worlds[0]...), s.worlds[1]...) {
		if r == c.Rank() && i >= p.a {
			s.at = 1
		}
	}
	s.local = get(c.Split(s.at, -c.Rank()))
	theirs := s.worlds[1-s.at]
	s.x = get(mpi.IntercommCreate(s.local, s.local.Size()-1, c, theirs[len(theirs)-1], 5))
	return s
}

// onBoth runs a test with the ranks of intercommunicators.
func onBoth(t *testing.T, f func(s half), opts ...mpi.Option) {
	pairs(t, func(t *testing.T, fabric string, p pair) {
		act(t, fabric, p.a+p.b, func(w *mpi.World, c *mpi.Comm) { f(p.connect(w, c)) }, opts...)
	})
}

// duel is a rank's part in a call between two groups: rank r of group s has the number
// 50s+r in the model.
type duel[T mpi.Scalar] struct {
	trial[T]
	half
	rootSide, rootRank int
}

const numbers = 50 // of a group in the model

// size is how many ranks a group has.
func (x *duel[T]) size(side int) int { return len(x.worlds[side]) }

// me is this rank's number in the model.
func (x *duel[T]) me() int { return numbers*x.at + x.c.Rank() }

// them are the numbers of the remote group.
func (x *duel[T]) them() (all []int) {
	for r := range x.size(1 - x.at) {
		all = append(all, numbers*(1-x.at)+r)
	}
	return all
}

// sum combines n elements, from at on, of the ranks of the remote group.
func (x *duel[T]) sum(at, n int) (v []T) {
	for i, r := range x.them() {
		if i == 0 {
			v = x.vector(r, at, n)
			continue
		}
		for k := range v {
			v[k] = x.fold(v[k], x.element(r, at+k))
		}
	}
	return v
}

// roots makes f for every root, with what this rank passes as root.
func (x *duel[T]) roots(f func()) {
	for x.rootSide = range 2 {
		for x.rootRank = range x.size(x.rootSide) {
			x.root = mpi.ProcNull
			switch {
			case x.rootSide != x.at:
				x.root = x.rootRank
			case x.rootRank == x.c.Rank():
				x.root = mpi.Root
			}
			f()
		}
	}
}

// lead is the root's number in the model.
func (x *duel[T]) lead() int { return numbers*x.rootSide + x.rootRank }

// all makes one of each call that has no root. The blocks of the two groups differ in
// length.
func (x *duel[T]) all() {
	c, them, me := x.c, x.them(), x.c.Rank()
	n, in := x.n+3*x.at*x.n, x.n+3*(1-x.at)*x.n

	recv, want := x.room(len(them)*in), []T(nil)
	for _, r := range them {
		want = append(want, x.vector(r, 0, in)...)
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Iallgather[T], mpi.AllgatherInit[T])(c, x.vector(x.me(), 0, n), recv))
	} else {
		ok(mpi.Allgather(c, x.vector(x.me(), 0, n), recv))
	}
	x.check("Allgather", recv, want)

	out, want := []T(nil), []T(nil)
	for i, r := range them {
		out = append(out, x.vector(x.me(), i*n, n)...)
		want = append(want, x.vector(r, me*in, in)...)
	}
	recv = x.room(len(them) * in)
	if x.nonblocking {
		x.end(either(x.form, mpi.Ialltoall[T], mpi.AlltoallInit[T])(c, out, recv))
	} else {
		ok(mpi.Alltoall(c, out, recv))
	}
	x.check("Alltoall", recv, want)

	x.irregular()

	recv = x.room(x.n)
	if x.nonblocking {
		x.end(either(x.form, mpi.Iallreduce[T, *mpi.Op], mpi.AllreduceInit[T, *mpi.Op])(c, x.op, x.vector(x.me(), 0, x.n), recv))
	} else {
		ok(mpi.Allreduce(c, x.op, x.vector(x.me(), 0, x.n), recv))
	}
	x.check("Allreduce", recv, x.sum(0, x.n))

	whole := x.size(0) * x.size(1) * x.n // is cut into blocks of other lengths in the two groups
	mine := whole / c.Size()
	recv = x.room(mine)
	if x.nonblocking {
		x.end(either(x.form, mpi.IreduceScatterBlock[T, *mpi.Op], mpi.ReduceScatterBlockInit[T, *mpi.Op])(c, x.op, x.vector(x.me(), 0, whole), recv))
	} else {
		ok(mpi.ReduceScatterBlock(c, x.op, x.vector(x.me(), 0, whole), recv))
	}
	x.check("ReduceScatterBlock", recv, x.sum(me*mine, mine))

	counts := uneven(c.Size(), mine)
	recv = x.room(counts[me])
	if x.nonblocking {
		x.end(either(x.form, mpi.IreduceScatter[T, *mpi.Op], mpi.ReduceScatterInit[T, *mpi.Op])(c, x.op, x.vector(x.me(), 0, whole), recv, counts))
	} else {
		ok(mpi.ReduceScatter(c, x.op, x.vector(x.me(), 0, whole), recv, counts))
	}
	x.check("ReduceScatter", recv, x.sum(countOf(counts[:me]), counts[me]))

	if x.nonblocking {
		x.end(either(x.form, c.Ibarrier, c.BarrierInit)())
	} else {
		ok(c.Barrier())
	}
}

// irregular makes Allgatherv and Alltoallv.
func (x *duel[T]) irregular() {
	c, them, me := x.c, x.them(), x.c.Rank()
	mine := lengths(c.Size(), x.n, x.at)[me]
	counts := lengths(len(them), x.n, 1-x.at)
	displs, total := scattered(counts)
	want := make([]T, total)
	for i, r := range them {
		copy(want[displs[i]:], x.vector(r, 0, counts[i]))
	}
	recv := x.room(total)
	if x.nonblocking {
		r, err := either(x.form, mpi.Iallgatherv[T], mpi.AllgathervInit[T])(c, x.vector(x.me(), 0, mine), recv, counts, displs)
		clear(counts)
		clear(displs)
		x.end(r, err)
	} else {
		ok(mpi.Allgatherv(c, x.vector(x.me(), 0, mine), recv, counts, displs))
	}
	x.check("Allgatherv", recv, want)

	between := func(from, to int) int { return (7*from + 3*to) % (x.n + 1) }
	sendcounts, recvcounts := make([]int, len(them)), make([]int, len(them))
	for i, r := range them {
		sendcounts[i], recvcounts[i] = between(x.me(), r), between(r, x.me())
	}
	sdispls, sends := scattered(sendcounts)
	rdispls, recvs := scattered(recvcounts)
	out, want := make([]T, sends), make([]T, recvs)
	for i, r := range them {
		copy(out[sdispls[i]:], x.vector(x.me(), 100*r, sendcounts[i]))
		copy(want[rdispls[i]:], x.vector(r, 100*x.me(), recvcounts[i]))
	}
	recv = x.room(recvs)
	if x.nonblocking {
		r, err := either(x.form, mpi.Ialltoallv[T], mpi.AlltoallvInit[T])(c, out, sendcounts, sdispls, recv, recvcounts, rdispls)
		clear(sendcounts)
		clear(rdispls)
		x.end(r, err)
	} else {
		ok(mpi.Alltoallv(c, out, sendcounts, sdispls, recv, recvcounts, rdispls))
	}
	x.check("Alltoallv", recv, want)
}

// call makes a call of either form.
func (x *duel[T]) call(blocking func() error, nonblocking func() (mpi.Request, error)) {
	if x.nonblocking {
		x.end(nonblocking())
		return
	}
	ok(blocking())
}

// rooted makes one of each call that has a root. What is not significant is nil.
func (x *duel[T]) rooted() {
	c, n, me, root := x.c, x.n, x.c.Rank(), x.root
	here, away := root == mpi.Root, root >= 0
	those := x.them() // who has the blocks, as the root sees it
	counts := lengths(len(those), n, x.rootSide)
	displs, total := scattered(counts)
	var one, some int // lengths of this rank's own blocks
	var input []T
	if away {
		one, some = n, lengths(c.Size(), n, x.rootSide)[me]
		input = x.vector(x.me(), 0, n)
	}
	var many, gaps, blocks, sum, whole []T // what the root has or gets
	if here {
		many, gaps = x.room(len(those)*n), x.room(total)
		whole = make([]T, total)
		for i, r := range those {
			blocks = append(blocks, x.vector(r, 0, n)...)
			copy(whole[displs[i]:], x.vector(r, 0, counts[i]))
		}
		sum = x.sum(0, n)
	} else {
		counts, displs = nil, nil
	}

	buf, want := x.room(one), []T(nil)
	if here {
		buf = x.vector(x.me(), 0, n)
		want = buf
	} else if away {
		want = x.vector(x.lead(), 0, n)
	}
	x.call(func() error { return mpi.Bcast(c, buf, root) }, func() (mpi.Request, error) { return either(x.form, mpi.Ibcast[T], mpi.BcastInit[T])(c, buf, root) })
	x.check("Bcast", buf, want)

	x.call(func() error { return mpi.Gather(c, input, many, root) }, func() (mpi.Request, error) {
		return either(x.form, mpi.Igather[T], mpi.GatherInit[T])(c, input, many, root)
	})
	x.check("Gather", many, blocks)

	recv := x.room(one)
	x.call(func() error { return mpi.Scatter(c, blocks, recv, root) }, func() (mpi.Request, error) {
		return either(x.form, mpi.Iscatter[T], mpi.ScatterInit[T])(c, blocks, recv, root)
	})
	x.check("Scatter", recv, input)

	mine := input[:some]
	x.call(func() error { return mpi.Gatherv(c, mine, gaps, counts, displs, root) },
		func() (mpi.Request, error) {
			return either(x.form, mpi.Igatherv[T], mpi.GathervInit[T])(c, mine, gaps, counts, displs, root)
		})
	x.check("Gatherv", gaps, whole)

	recv = x.room(some)
	x.call(func() error { return mpi.Scatterv(c, whole, recv, counts, displs, root) },
		func() (mpi.Request, error) {
			return either(x.form, mpi.Iscatterv[T], mpi.ScattervInit[T])(c, whole, recv, counts, displs, root)
		})
	x.check("Scatterv", recv, mine)

	recv = x.room(len(sum))
	x.call(func() error { return mpi.Reduce(c, x.op, input, recv, root) }, func() (mpi.Request, error) {
		return either(x.form, mpi.Ireduce[T, *mpi.Op], mpi.ReduceInit[T, *mpi.Op])(c, x.op, input, recv, root)
	})
	x.check("Reduce", recv, sum)
}
