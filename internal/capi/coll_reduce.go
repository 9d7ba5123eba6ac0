package capi

import "github.com/weft-mpi/weft/mpi"

func reduce(a *Args) error {
	if s := a.slices(3); s != nil {
		return s.reduce(a)
	}
	return a.reduceBufs()
}

func (a *Args) reduceBufs() error { return (*mpi.Comm).Reduce(a.reduced()) }

func ireduce(a *Args) error    { return a.at(7).request((*mpi.Comm).Ireduce(a.reduced())) }
func reduceInit(a *Args) error { return a.at(8).request((*mpi.Comm).ReduceInit(a.reduced())) }

func (a *Args) reduced() (c *mpi.Comm, o *mpi.Op, send, recv mpi.Buf, root int) {
	c, root = a.comm(6), a.int(5)
	leads, follows := rooted(c, root)
	if follows {
		send = a.memory(0, 2, 3)
	}
	if leads {
		recv = a.memory(1, 2, 3)
	}
	if o = mpi.Sum; leads || follows { // any will do where it means nothing
		o = a.operator(4, 3)
	}
	return c, o, send, recv, root
}

func allreduce(a *Args) error {
	if s := a.slices(3); s != nil {
		return s.allreduce(a)
	}
	return a.allreduceBufs()
}

func (a *Args) allreduceBufs() error { return (*mpi.Comm).Allreduce(a.combined()) }

func iallreduce(a *Args) error    { return a.at(6).request((*mpi.Comm).Iallreduce(a.combined())) }
func allreduceInit(a *Args) error { return a.at(7).request((*mpi.Comm).AllreduceInit(a.combined())) }

func scan(a *Args) error     { return (*mpi.Comm).Scan(a.combined()) }
func iscan(a *Args) error    { return a.at(6).request((*mpi.Comm).Iscan(a.combined())) }
func scanInit(a *Args) error { return a.at(7).request((*mpi.Comm).ScanInit(a.combined())) }

func (a *Args) combined() (c *mpi.Comm, o *mpi.Op, send, recv mpi.Buf) {
	return a.comm(5), a.operator(4, 3), a.memory(0, 2, 3), a.memory(1, 2, 3)
}

func exscan(a *Args) error     { return (*mpi.Comm).Exscan(a.combinedBelow()) }
func iexscan(a *Args) error    { return a.at(6).request((*mpi.Comm).Iexscan(a.combinedBelow())) }
func exscanInit(a *Args) error { return a.at(7).request((*mpi.Comm).ExscanInit(a.combinedBelow())) }

// combinedBelow is combined for a call that gives rank 0 no result.
func (a *Args) combinedBelow() (c *mpi.Comm, o *mpi.Op, send, recv mpi.Buf) {
	c, send = a.comm(5), a.memory(0, 2, 3)
	if c.Rank() > 0 || a.words[0] == inPlace {
		recv = a.memory(1, 2, 3)
	}
	return c, a.operator(4, 3), send, recv
}

func reduceScatterBlock(a *Args) error { return (*mpi.Comm).ReduceScatterBlock(a.shared()) }

func ireduceScatterBlock(a *Args) error {
	return a.at(6).request((*mpi.Comm).IreduceScatterBlock(a.shared()))
}

func reduceScatterBlockInit(a *Args) error {
	return a.at(7).request((*mpi.Comm).ReduceScatterBlockInit(a.shared()))
}

// shared reads a call whose input is a block for each rank, in recv if it is in place.
func (a *Args) shared() (c *mpi.Comm, o *mpi.Op, send, recv mpi.Buf) {
	c = a.comm(5)
	blocks := 1
	if a.words[0] == inPlace {
		blocks = c.Size()
	}
	return c, a.operator(4, 3), a.many(c.Size(), 0, 2, 3), a.many(blocks, 1, 2, 3)
}

func reduceScatter(a *Args) error  { return (*mpi.Comm).ReduceScatter(a.sharedv()) }
func ireduceScatter(a *Args) error { return a.at(6).request((*mpi.Comm).IreduceScatter(a.sharedv())) }

func reduceScatterInit(a *Args) error {
	return a.at(7).request((*mpi.Comm).ReduceScatterInit(a.sharedv()))
}

// sharedv is shared for blocks of different lengths.
func (a *Args) sharedv() (c *mpi.Comm, o *mpi.Op, send, recv mpi.Buf, counts []int) {
	c = a.comm(5)
	counts = a.counts(2, c.Size())
	all, mine := 0, 0
	for i, n := range counts {
		if all = min(all+min(n, mostElements), mostElements); i == c.Rank() {
			mine = n
		}
	}
	switch {
	case a.words[1] == inPlace:
		recv = mpi.BufInPlace
	case a.words[0] == inPlace:
		recv = a.array(1, all, 3)
	default:
		recv = a.array(1, mine, 3)
	}
	if send = mpi.BufInPlace; a.words[0] != inPlace {
		send = a.array(0, all, 3)
	}
	return c, a.operator(4, 3), send, recv, counts
}

func reduceLocal(a *Args) error {
	return a.operator(4, 3).ReduceLocal(a.memory(0, 2, 3), a.memory(1, 2, 3))
}
