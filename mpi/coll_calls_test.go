package mpi_test

import "github.com/weft-mpi/weft/mpi"

// moves makes one of each call that moves elements, and checks it.
func (x *trial[T]) moves() {
	c, n, p, me := x.c, x.n, x.c.Size(), x.c.Rank()
	mine := x.vector(me, 0, n)

	send, recv := x.buffers(mine, p*n, me*n)
	if x.nonblocking {
		x.end(either(x.form, mpi.Iallgather[T], mpi.AllgatherInit[T])(c, send, recv))
	} else {
		ok(mpi.Allgather(c, send, recv))
	}
	x.check("Allgather", recv, x.all(n))

	out := make([]T, 0, p*n) // rank i's block is different from all others
	want := make([]T, 0, p*n)
	for i := range p {
		out = append(out, x.vector(me, i*n, n)...)
		want = append(want, x.vector(i, me*n, n)...)
	}
	send, recv = x.buffers(out, p*n, 0)
	if x.nonblocking {
		x.end(either(x.form, mpi.Ialltoall[T], mpi.AlltoallInit[T])(c, send, recv))
	} else {
		ok(mpi.Alltoall(c, send, recv))
	}
	x.check("Alltoall", recv, want)

	x.allgatherv()
	x.alltoallv()
	for x.root = range p {
		x.rooted(mine)
	}
}

func (x *trial[T]) allgatherv() {
	c, p, me := x.c, x.c.Size(), x.c.Rank()
	counts := lengths(p, x.n, 1)
	displs, total := scattered(counts)
	want := make([]T, total)
	for i := range p {
		copy(want[displs[i]:], x.vector(i, 0, counts[i]))
	}
	send, recv := x.buffers(x.vector(me, 0, counts[me]), total, displs[me])
	if x.nonblocking {
		r, err := either(x.form, mpi.Iallgatherv[T], mpi.AllgathervInit[T])(c, send, recv, counts, displs)
		clear(counts)
		clear(displs)
		x.end(r, err)
	} else {
		ok(mpi.Allgatherv(c, send, recv, counts, displs))
	}
	x.check("Allgatherv", recv, want)
}

// alltoallv has between two ranks blocks of one length, so that it works in place.
func (x *trial[T]) alltoallv() {
	c, p, me := x.c, x.c.Size(), x.c.Rank()
	counts := make([]int, p)
	for i := range counts {
		counts[i] = (i*me + i + me) % (x.n + 1)
	}
	displs, total := scattered(counts)
	out, want := make([]T, total), make([]T, total)
	for i := range p {
		copy(out[displs[i]:], x.vector(me, 100*i, counts[i]))
		copy(want[displs[i]:], x.vector(i, 100*me, counts[i]))
	}
	send, recv := x.buffers(out, total, 0)
	sendcounts, sdispls := counts, displs
	if x.inPlace {
		sendcounts, sdispls = nil, nil
	}
	if x.nonblocking {
		r, err := either(x.form, mpi.Ialltoallv[T], mpi.AlltoallvInit[T])(c, send, sendcounts, sdispls, recv, counts, displs)
		clear(counts)
		clear(displs)
		x.end(r, err)
	} else {
		ok(mpi.Alltoallv(c, send, sendcounts, sdispls, recv, counts, displs))
	}
	x.check("Alltoallv", recv, want)
}

// rooted makes the calls with a root. Where an argument is not significant, it is nil.
func (x *trial[T]) rooted(mine []T) {
	c, n, p, me, root := x.c, x.n, x.c.Size(), x.c.Rank(), x.root
	here := me == root

	buf := x.room(n)
	if here {
		copy(buf, mine)
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Ibcast[T], mpi.BcastInit[T])(c, buf, root))
	} else {
		ok(mpi.Bcast(c, buf, root))
	}
	x.check("Bcast", buf, x.vector(root, 0, n))

	send, recv, want := mine, []T(nil), []T(nil)
	if here {
		send, recv = x.buffers(mine, p*n, me*n)
		want = x.all(n)
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Igather[T], mpi.GatherInit[T])(c, send, recv, root))
	} else {
		ok(mpi.Gather(c, send, recv, root))
	}
	x.check("Gather", recv, want)

	send, recv, want = nil, x.room(n), x.vector(root, me*n, n)
	if here {
		send = x.vector(root, 0, p*n)
		if x.inPlace {
			recv, want = mpi.InPlace[T](), nil
		}
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Iscatter[T], mpi.ScatterInit[T])(c, send, recv, root))
	} else {
		ok(mpi.Scatter(c, send, recv, root))
	}
	x.check("Scatter", recv, want)

	counts := lengths(p, n, root)
	displs, total := scattered(counts)
	mine = x.vector(me, 0, counts[me])
	whole := make([]T, total)
	for i := range p {
		copy(whole[displs[i]:], x.vector(i, 0, counts[i]))
	}
	send, recv, want = mine, nil, nil
	myCounts, myDispls := counts, displs
	if here {
		send, recv = x.buffers(mine, total, displs[me])
		want = whole
	} else {
		myCounts, myDispls = nil, nil
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Igatherv[T], mpi.GathervInit[T])(c, send, recv, myCounts, myDispls, root))
	} else {
		ok(mpi.Gatherv(c, send, recv, myCounts, myDispls, root))
	}
	x.check("Gatherv", recv, want)

	send, recv, want = nil, x.room(counts[me]), mine
	if here {
		send = whole
		if x.inPlace {
			recv, want = mpi.InPlace[T](), nil
		}
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Iscatterv[T], mpi.ScattervInit[T])(c, send, recv, myCounts, myDispls, root))
	} else {
		ok(mpi.Scatterv(c, send, recv, myCounts, myDispls, root))
	}
	x.check("Scatterv", recv, want)
}

// reductions makes one of each call with an operator, and checks it.
func (x *trial[T]) reductions() {
	c, n, p, me := x.c, x.n, x.c.Size(), x.c.Rank()
	mine := x.vector(me, 0, n)

	send, recv := x.buffers(mine, n, 0)
	if x.nonblocking {
		x.end(either(x.form, mpi.Iallreduce[T, *mpi.Op], mpi.AllreduceInit[T, *mpi.Op])(c, x.op, send, recv))
	} else {
		ok(mpi.Allreduce(c, x.op, send, recv))
	}
	x.check("Allreduce", recv, x.folded(p-1, 0, n))

	send, recv = x.buffers(mine, n, 0)
	if x.nonblocking {
		x.end(either(x.form, mpi.Iscan[T, *mpi.Op], mpi.ScanInit[T, *mpi.Op])(c, x.op, send, recv))
	} else {
		ok(mpi.Scan(c, x.op, send, recv))
	}
	x.check("Scan", recv, x.folded(me, 0, n))

	send, recv = x.buffers(mine, n, 0)
	want := mine // of rank 0 in place
	switch {
	case me > 0:
		want = x.folded(me-1, 0, n)
	case !x.inPlace:
		recv, want = nil, nil
	}
	if x.nonblocking {
		x.end(either(x.form, mpi.Iexscan[T, *mpi.Op], mpi.ExscanInit[T, *mpi.Op])(c, x.op, send, recv))
	} else {
		ok(mpi.Exscan(c, x.op, send, recv))
	}
	x.check("Exscan", recv, want)

	input, size := x.vector(me, 0, p*n), n
	if x.inPlace {
		size = p * n
	}
	send, recv = x.buffers(input, size, 0)
	if x.nonblocking {
		x.end(either(x.form, mpi.IreduceScatterBlock[T, *mpi.Op], mpi.ReduceScatterBlockInit[T, *mpi.Op])(c, x.op, send, recv))
	} else {
		ok(mpi.ReduceScatterBlock(c, x.op, send, recv))
	}
	x.check("ReduceScatterBlock", recv[:n], x.folded(p-1, me*n, n))

	counts := lengths(p, n, 2)
	total, before := countOf(counts), countOf(counts[:me])
	size = counts[me]
	if x.inPlace {
		size = total
	}
	send, recv = x.buffers(x.vector(me, 0, total), size, 0)
	if x.nonblocking {
		x.end(either(x.form, mpi.IreduceScatter[T, *mpi.Op], mpi.ReduceScatterInit[T, *mpi.Op])(c, x.op, send, recv, counts))
	} else {
		ok(mpi.ReduceScatter(c, x.op, send, recv, counts))
	}
	x.check("ReduceScatter", recv[:counts[me]], x.folded(p-1, before, counts[me]))

	for x.root = range p {
		send, recv, want = mine, nil, nil
		if me == x.root {
			send, recv = x.buffers(mine, n, 0)
			want = x.folded(p-1, 0, n)
		}
		if x.nonblocking {
			x.end(either(x.form, mpi.Ireduce[T, *mpi.Op], mpi.ReduceInit[T, *mpi.Op])(c, x.op, send, recv, x.root))
		} else {
			ok(mpi.Reduce(c, x.op, send, recv, x.root))
		}
		x.check("Reduce", recv, want)
	}
}
