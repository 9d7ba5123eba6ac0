package capi

import "github.com/weft-mpi/weft/mpi"

// Each collective call has a method of Args that reads its arguments, for all three forms,
// in the order in which the methods of mpi.Comm take them. Arguments that mean nothing at
// this rank are not looked at, as they may be anything.

// at is where a call puts its request.
type at struct {
	a *Args
	i int
}

func (a *Args) at(i int) at { return at{a, i} }

func (t at) request(r mpi.Request, err error) error { return t.a.setRequest(t.i, r, err) }

// rooted reports what the rank is in a call with that root: the root itself, and one of
// those that the root deals with. Within one group it is that at every rank.
func rooted(c *mpi.Comm, root int) (leads, follows bool) {
	if c.TestInter() {
		return root == mpi.Root, root >= 0
	}
	return root == c.Rank(), true
}

// peers is how many ranks this one deals with in a call without a root, or as the root.
func peers(c *mpi.Comm) int {
	if c.TestInter() {
		return c.RemoteSize()
	}
	return c.Size()
}

// many is blocks times as many elements as the arguments say.
func (a *Args) many(blocks, addr, count, typ int) mpi.Buf {
	if a.words[addr] == inPlace {
		return mpi.BufInPlace
	}
	return a.array(addr, times(blocks, a.count(count)), typ)
}

// array is n elements at an address.
func (a *Args) array(addr, n, typ int) mpi.Buf {
	t := types.get(a.words[typ])
	if t == nil {
		return mpi.Memory(nil, nil, n, 0)
	}
	lo, hi := t.span(n)
	return a.elements(a.words[addr], t, n, lo, hi)
}

// mostElements is more elements than any memory has, and few enough to add some.
const mostElements = 1 << 52

// times is n blocks of count elements.
func times(n, count int) int {
	switch {
	case count < 0:
		return count
	case count > mostElements/max(n, 1):
		return mostElements
	}
	return n * count
}

// spread is a buffer with n blocks: elements from the first that a block has to the last
// one, whether or not there is memory between the blocks, and the blocks' counts and
// displacements in it. A block without elements may be anywhere. A Buf that is in place has
// no blocks.
func (a *Args) spread(n, addr, counts, displs, typ int) (b mpi.Buf, lengths, places []int) {
	if a.words[addr] == inPlace {
		return mpi.BufInPlace, nil, nil
	}
	lengths, places = a.counts(counts, n), a.counts(displs, n)
	first, end := 0, 0
	for i := range min(len(lengths), len(places)) {
		switch at := places[i]; {
		case lengths[i] <= 0:
			places[i] = 0
		case at < -mostElements || at > mostElements || lengths[i] > mostElements:
			return a.array(addr, mostElements, typ), lengths, places
		default:
			first, end = min(first, at), max(end, at+lengths[i])
		}
	}
	t := types.get(a.words[typ])
	if t == nil {
		return mpi.As[byte](nil, nil, 0), lengths, places
	}
	for i := range places {
		places[i] -= first
	}
	lo, hi := t.span(end - first)
	return a.elements(a.words[addr]+uint64(first*t.extent), t, end-first, lo, hi), lengths, places
}

// wide is n blocks of types of their own, at displacements in bytes, which have 64 bits if
// they are addresses. One without elements is nothing, whatever its type is.
func (a *Args) wide(n, addr, counts, displs, typ int, addresses bool) []mpi.Buf {
	if a.words[addr] == inPlace {
		return []mpi.Buf{mpi.BufInPlace}
	}
	lengths, handles := a.counts(counts, n), array[uint64](a, typ, n)
	places := a.displacements(displs, n, addresses)
	bufs := make([]mpi.Buf, min(len(lengths), len(places), len(handles)))
	for i := range bufs {
		if lengths[i] == 0 {
			continue
		}
		t := types.get(handles[i])
		if t == nil {
			bufs[i] = mpi.As[byte](nil, nil, lengths[i])
			continue
		}
		lo, hi := t.span(lengths[i])
		bufs[i] = a.elements(a.words[addr]+uint64(places[i]), t, lengths[i], lo, hi)
	}
	return bufs
}

func (a *Args) displacements(i, n int, addresses bool) []int {
	if addresses {
		return a.aints(i, n)
	}
	return a.counts(i, n)
}

func barrier(a *Args) error  { return a.comm(0).Barrier() }
func ibarrier(a *Args) error { return a.at(1).request(a.comm(0).Ibarrier()) }

func barrierInit(a *Args) error { return a.at(2).request(a.comm(0).BarrierInit()) }

func bcast(a *Args) error {
	if s := a.slices(2); s != nil {
		return s.bcast(a)
	}
	return a.bcastBufs()
}

func (a *Args) bcastBufs() error { return (*mpi.Comm).Bcast(a.broadcast()) }

func ibcast(a *Args) error    { return a.at(5).request((*mpi.Comm).Ibcast(a.broadcast())) }
func bcastInit(a *Args) error { return a.at(6).request((*mpi.Comm).BcastInit(a.broadcast())) }

func (a *Args) broadcast() (c *mpi.Comm, b mpi.Buf, root int) {
	c, root = a.comm(4), a.int(3)
	if leads, follows := rooted(c, root); leads || follows {
		b = a.buf(0)
	}
	return c, b, root
}
