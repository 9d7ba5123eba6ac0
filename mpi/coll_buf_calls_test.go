package mpi_test

import (
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// unusable is a Buf that no call may look at.
var unusable = func() mpi.Buf {
	t, err := mpi.TypeContiguous(3, mpi.TypeInt8)
	if err != nil {
		panic(err)
	}
	return mpi.As(t, []byte{1}, -1)
}()

// between is how many units go from one rank to another in a v-form, or come back.
func (x *bufTrial) between(a, b int) int { return (a*b + 5*a + 5*b + x.seed) % (x.n + 1) }

// length is how many units a rank has in a v-form.
func (x *bufTrial) length(rank int) int { return (5*rank + x.seed) % (x.n + 1) }

// rows is n units for each rank of a list, one rank's after another's.
func (x *bufTrial) rows(ranks []int) (at []int) {
	for i := range ranks {
		at = append(at, i*x.n*x.unit())
	}
	return at
}

// at is this rank's place in its group.
func (x *bufTrial) at() int { return slices.Index(x.group, x.me) }

// moves makes one of each call without a root that moves elements.
func (x *bufTrial) moves() {
	c, bytes := x.c, x.n*x.unit()
	var blocks [][]byte
	for _, r := range x.others {
		blocks = append(blocks, x.sent(r, x.n).get(0, bytes))
	}
	mine, room := x.sent(x.me, x.n), x.room(len(x.others)*x.n)
	send := mine.buf()
	if x.inPlace {
		room.put(x.at()*bytes, mine.get(0, bytes))
		send = mpi.BufInPlace
	}
	x.call("Allgather", func() error { return c.Allgather(send, room.buf()) },
		func() (mpi.Request, error) { return either(x.form, c.Iallgather, c.AllgatherInit)(send, room.buf()) }, []*place{room}, [][]byte{room.expect(blocks, x.rows(x.others))})

	blocks = nil
	for _, r := range x.others {
		blocks = append(blocks, x.sent(r, len(x.group)*x.n).get(x.at()*bytes, bytes))
	}
	mine, room = x.sent(x.me, len(x.others)*x.n), x.room(len(x.others)*x.n)
	send = mine.buf()
	if x.inPlace {
		room.put(0, mine.get(0, len(x.others)*bytes))
		send = mpi.BufInPlace
	}
	x.call("Alltoall", func() error { return c.Alltoall(send, room.buf()) },
		func() (mpi.Request, error) { return either(x.form, c.Ialltoall, c.AlltoallInit)(send, room.buf()) }, []*place{room}, [][]byte{room.expect(blocks, x.rows(x.others))})

	x.allgatherv()
	x.alltoallv()
	x.alltoallw()
}

func (x *bufTrial) allgatherv() {
	c := x.c
	var blocks [][]byte
	var counts []int
	for _, r := range x.others {
		counts = append(counts, x.length(r))
		blocks = append(blocks, x.sent(r, x.length(r)).get(0, x.length(r)*x.unit()))
	}
	displs, total := scattered(counts)
	mine, room := x.sent(x.me, x.length(x.me)), x.room(total)
	send := mine.buf()
	if x.inPlace {
		room.put(displs[x.at()]*x.unit(), blocks[x.at()])
		send = mpi.BufInPlace
	}
	n, d := room.elements(counts), room.elements(displs)
	x.call("Allgatherv", func() error { return c.Allgatherv(send, room.buf(), n, d) }, func() (mpi.Request, error) {
		defer clear(n)
		return either(x.form, c.Iallgatherv, c.AllgathervInit)(send, room.buf(), n, d)
	}, []*place{room}, [][]byte{room.expect(blocks, x.blocks(displs))})
}

// row is the numbers of units that go from a rank to others, and where they are.
func (x *bufTrial) row(rank int, others []int) (counts, displs []int, total int) {
	for _, r := range others {
		counts = append(counts, x.between(rank, r))
	}
	displs, total = scattered(counts)
	return counts, displs, total
}

func (x *bufTrial) alltoallv() {
	c := x.c
	var blocks [][]byte
	for _, r := range x.others {
		counts, displs, total := x.row(r, x.group)
		blocks = append(blocks, x.sent(r, total).get(displs[x.at()]*x.unit(), counts[x.at()]*x.unit()))
	}
	counts, displs, total := x.row(x.me, x.others)
	mine, room := x.sent(x.me, total), x.room(total)
	send, n, d := mine.buf(), mine.elements(counts), mine.elements(displs)
	if x.inPlace {
		for i, at := range x.blocks(displs) {
			room.put(at, mine.get(at, counts[i]*x.unit()))
		}
		send, n, d = mpi.BufInPlace, nil, nil
	}
	rn, rd := room.elements(counts), room.elements(displs)
	x.call("Alltoallv", func() error { return c.Alltoallv(send, n, d, room.buf(), rn, rd) }, func() (mpi.Request, error) {
		defer clear(rd)
		return either(x.form, c.Ialltoallv, c.AlltoallvInit)(send, n, d, room.buf(), rn, rd)
	}, []*place{room}, [][]byte{room.expect(blocks, x.blocks(displs))})
}

// alltoallw has another type for each pair and direction.
func (x *bufTrial) alltoallw() {
	c := x.c
	sent := func(from, to int) *place { return x.place(x.rng(from, uint64(one+2*to)), x.between(from, to)) }
	var send, recv []mpi.Buf
	var rooms []*place
	var want [][]byte
	for _, r := range x.others {
		bytes := x.between(x.me, r) * x.unit()
		mine, room := sent(x.me, r), x.place(x.rng(x.me, uint64(one+2*r+1)), x.between(r, x.me))
		if x.inPlace {
			room.put(0, mine.get(0, bytes))
		}
		send, recv, rooms = append(send, mine.buf()), append(recv, room.buf()), append(rooms, room)
		want = append(want, room.expect([][]byte{sent(r, x.me).get(0, bytes)}, []int{0}))
	}
	if x.inPlace {
		send = []mpi.Buf{mpi.BufInPlace}
	}
	x.call("Alltoallw", func() error { return c.Alltoallw(send, recv) }, func() (mpi.Request, error) {
		defer clear(recv)
		return either(x.form, c.Ialltoallw, c.AlltoallwInit)(send, recv)
	}, rooms, want)
}

// rooted makes the calls with a root, which is passed as root. here: this rank is it;
// away: this rank gives it data or gets some. others are those that give or get, as the
// root sees it.
func (x *bufTrial) rooted(lead, root int, here, away bool, others []int) {
	c, bytes := x.c, x.n*x.unit()
	b, rooms, want := unusable, []*place(nil), [][]byte(nil)
	switch {
	case here:
		b = x.sent(x.me, x.n).buf()
	case away:
		room := x.room(x.n)
		b, rooms = room.buf(), []*place{room}
		want = [][]byte{room.expect([][]byte{x.sent(lead, x.n).get(0, bytes)}, []int{0})}
	}
	x.call("Bcast", func() error { return c.Bcast(b, root) }, func() (mpi.Request, error) { return either(x.form, c.Ibcast, c.BcastInit)(b, root) }, rooms, want)

	x.gathered("Gather", func(int) int { return x.n }, here, away, others,
		func(send, recv mpi.Buf, _, _ []int) error { return c.Gather(send, recv, root) },
		func(send, recv mpi.Buf, _, _ []int) (mpi.Request, error) {
			return either(x.form, c.Igather, c.GatherInit)(send, recv, root)
		})
	x.gathered("Gatherv", x.length, here, away, others,
		func(send, recv mpi.Buf, n, d []int) error { return c.Gatherv(send, recv, n, d, root) },
		func(send, recv mpi.Buf, n, d []int) (mpi.Request, error) {
			defer clear(n)
			return either(x.form, c.Igatherv, c.GathervInit)(send, recv, n, d, root)
		})
	x.scattered("Scatter", func(int) int { return x.n }, lead, here, away, others,
		func(send, recv mpi.Buf, _, _ []int) error { return c.Scatter(send, recv, root) },
		func(send, recv mpi.Buf, _, _ []int) (mpi.Request, error) {
			return either(x.form, c.Iscatter, c.ScatterInit)(send, recv, root)
		})
	x.scattered("Scatterv", x.length, lead, here, away, others,
		func(send, recv mpi.Buf, n, d []int) error { return c.Scatterv(send, recv, n, d, root) },
		func(send, recv mpi.Buf, n, d []int) (mpi.Request, error) {
			defer clear(n)
			return either(x.form, c.Iscatterv, c.ScattervInit)(send, recv, n, d, root)
		})
}

// spread says where the blocks of ranks are: with gaps in a v-form.
func (x *bufTrial) spread(name string, length func(rank int) int, ranks []int) (counts, displs []int, total int) {
	for _, r := range ranks {
		counts, displs = append(counts, length(r)), append(displs, total)
		total += length(r)
	}
	if name == "Gatherv" || name == "Scatterv" {
		displs, total = scattered(counts)
	}
	return counts, displs, total
}

func (x *bufTrial) gathered(name string, length func(rank int) int, here, away bool, others []int,
	blocking func(send, recv mpi.Buf, n, d []int) error, nonblocking func(send, recv mpi.Buf, n, d []int) (mpi.Request, error)) {
	send, recv := unusable, unusable
	var rooms []*place
	var want [][]byte
	var n, d []int
	if away {
		send = x.sent(x.me, length(x.me)).buf()
	}
	if here {
		counts, displs, total := x.spread(name, length, others)
		room := x.room(total)
		recv, rooms, n, d = room.buf(), []*place{room}, room.elements(counts), room.elements(displs)
		var blocks [][]byte
		for i, r := range others {
			blocks = append(blocks, x.sent(r, counts[i]).get(0, counts[i]*x.unit()))
		}
		if x.inPlace {
			room.put(displs[x.at()]*x.unit(), blocks[x.at()])
			send = mpi.BufInPlace
		}
		want = [][]byte{room.expect(blocks, x.blocks(displs))}
	}
	x.call(name, func() error { return blocking(send, recv, n, d) },
		func() (mpi.Request, error) { return nonblocking(send, recv, n, d) }, rooms, want)
}

func (x *bufTrial) scattered(name string, length func(rank int) int, lead int, here, away bool, others []int,
	blocking func(send, recv mpi.Buf, n, d []int) error, nonblocking func(send, recv mpi.Buf, n, d []int) (mpi.Request, error)) {
	send, recv := unusable, unusable
	var rooms []*place
	var want [][]byte
	var n, d []int
	counts, displs, total := x.spread(name, length, others)
	whole := x.sent(lead, total)
	if here {
		send, n, d = whole.buf(), whole.elements(counts), whole.elements(displs)
	}
	if away {
		i := slices.Index(others, x.me)
		room := x.room(counts[i])
		recv, rooms = room.buf(), []*place{room}
		want = [][]byte{room.expect([][]byte{whole.get(displs[i]*x.unit(), counts[i]*x.unit())}, []int{0})}
	}
	if here && x.inPlace {
		recv, rooms, want = mpi.BufInPlace, nil, nil
	}
	x.call(name, func() error { return blocking(send, recv, n, d) },
		func() (mpi.Request, error) { return nonblocking(send, recv, n, d) }, rooms, want)
}
