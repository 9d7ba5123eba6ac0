package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The model of calls of neighborhoods: each block is announced by a message of its own,
// with its rank, slot and length, whose tag tells it from others of the two ranks.

// portion is what a rank gives to a call, or gets: blocks of units. A unit is four bytes, and
// in a gapped block has one in the middle that belongs to nobody.
type portion struct {
	counts, displs []int // nil displs: one block after another
	gapped         []bool
	per            int // bytes of memory from a unit to the next
	mem            []byte
}

// untouched is where nothing comes.
const untouched = 255

// newPortion places blocks: in any order with room between them, or evenly, as calls have them
// that are told no counts. Bufs may be gapped, each in its way if every block is one.
func newPortion(rng *rand.Rand, counts []int, even, bufs, each bool) *portion {
	s := &portion{counts: counts, per: 4 + btoi(bufs)}
	gapped, end := bufs && rng.IntN(2) == 0, 0
	if !each && !gapped {
		s.per = 4
	}
	for range counts {
		s.gapped = append(s.gapped, gapped)
		gapped = gapped != (each && rng.IntN(2) == 0)
	}
	if s.displs = make([]int, len(counts)); even || rng.IntN(3) == 0 && !each {
		for _, n := range counts {
			end += n
		}
		s.displs = nil
	} else {
		for _, slot := range rng.Perm(len(counts)) {
			end += rng.IntN(2)
			s.displs[slot] = end
			end += counts[slot]
		}
	}
	s.mem = slices.Repeat([]byte{untouched}, s.per*end)
	return s
}

// at is the place of a byte of a block.
func (s *portion) at(slot, k int) int {
	first := 0
	if s.displs != nil {
		first = s.displs[slot]
	} else {
		first = countOf(s.counts[:slot])
	}
	if s.gapped[slot] {
		return s.per*first + 5*(k/4) + k%4 + k%4/2
	}
	return s.per*first + k
}

// unit is the type of one.
func unit(gapped bool) *mpi.Datatype {
	t := get(mpi.TypeContiguous(4, mpi.TypeUint8))
	if gapped {
		t = get(mpi.TypeVector(2, 2, 3, mpi.TypeUint8))
	}
	ok(t.Commit())
	return t
}

// whole is all memory in one Buf, each a Buf for each block.
func (s *portion) whole() mpi.Buf {
	gapped := len(s.gapped) > 0 && s.gapped[0]
	return mpi.As(unit(gapped), s.mem, len(s.mem)/s.per)
}

func (s *portion) each() (all []mpi.Buf) {
	for slot, n := range s.counts {
		if all = append(all, mpi.Buf{}); n > 0 {
			all[slot] = mpi.As(unit(s.gapped[slot]), s.mem[s.per*s.displs[slot]:], n)
		}
	}
	return all
}

// times are counts in units, in elements.
func times(n int, list []int) (all []int) {
	for _, v := range list {
		all = append(all, n*v)
	}
	return all
}

// hood is a rank's neighborhood, by slots.
type hood struct {
	c              *mpi.Comm
	seed           uint64
	grid           bool
	sources, dests []int
}

// parcel is where a block comes from, and its length.
type parcel struct{ rank, slot, n byte }

// byte is one of a block, in each start another.
func (e parcel) byte(start, k int) byte { return [...]byte{e.rank, e.slot, byte(start), byte(k)}[k%4] }

// mark is the tag of the message for a slot: which edge it is of those that the two ranks
// have.
func (h *hood) mark(list []int, slot, crossed int) (tag int) {
	if h.grid {
		return slot ^ crossed
	}
	for _, rank := range list[:slot] {
		tag += btoi(rank == list[slot])
	}
	return tag
}

// announce sends what a call will send by messages, and returns what each slot gets.
func (h *hood) announce(blocks []parcel) []parcel {
	got, rs := make([]parcel, len(h.sources)), []mpi.Request(nil)
	room := make([][]byte, len(h.sources))
	for slot, from := range h.sources {
		room[slot] = make([]byte, 3)
		rs = append(rs, *begin(mpi.Irecv(h.c, room[slot], from, h.mark(h.sources, slot, 0))))
	}
	for slot, to := range h.dests {
		e := blocks[min(slot, len(blocks)-1)]
		rs = append(rs, *begin(mpi.Isend(h.c, []byte{e.rank, e.slot, e.n}, to, h.mark(h.dests, slot, 1))))
	}
	ok(mpi.Waitall(rs, nil))
	for slot, m := range room {
		got[slot] = parcel{m[0], m[1], m[2]}
	}
	return got
}

// try makes a call, a persistent one three times with new bytes.
func (h *hood) try(name string, f form) {
	all := rand.New(rand.NewPCG(h.seed, 7))
	rng := rand.New(rand.NewPCG(h.seed, uint64(100+h.c.Rank())))
	each, gathers := strings.HasSuffix(name, "w"), strings.Contains(name, "gather")
	bufs, even := each || rng.IntN(2) == 0, !each && !strings.HasSuffix(name, "v")
	n := all.IntN(4) // of an even call

	var counts, into []int
	var blocks []parcel
	for slot := range max(len(h.dests), 1) {
		if !gathers && len(h.dests) == 0 || gathers && slot > 0 {
			break
		}
		if !even {
			n = rng.IntN(4)
		}
		counts, blocks = append(counts, n), append(blocks, parcel{byte(h.c.Rank()), byte(slot), byte(n)})
	}
	come := h.announce(blocks)
	for slot, e := range come {
		switch {
		case h.sources[slot] != mpi.ProcNull:
			into = append(into, int(e.n))
		case even:
			into = append(into, n)
		default:
			into = append(into, rng.IntN(4)) // nothing comes
		}
	}
	out, in := newPortion(rng, counts, even || gathers, bufs, each), newPortion(rng, into, even, bufs, each)
	a, elem := nearby{c: h.c, out: out.mem, in: in.mem}, 4
	if bufs {
		name, elem = "Comm."+name, 1
	}
	a.n, a.at, a.m, a.to = times(elem, counts), times(elem, out.displs), times(elem, into), times(elem, in.displs)
	switch {
	case each:
		a.each, a.into = out.each(), in.each()
	case bufs:
		a.send, a.recv = out.whole(), in.whole()
	}
	var r request
	if f.persistent {
		r = get(a.call(name, f))
		for _, list := range [][]int{a.n, a.at, a.m, a.to} {
			clear(list) // it has been copied
		}
		clear(a.each)
		clear(a.into)
	}
	for start := range 1 + 2*btoi(f.persistent) {
		for slot, e := range blocks {
			for k := range 4 * counts[slot] {
				out.mem[out.at(slot, k)] = e.byte(start, k)
			}
		}
		given := slices.Clone(out.mem)
		for i := range in.mem {
			in.mem[i] = untouched
		}
		want := slices.Clone(in.mem)
		for slot, e := range come {
			for k := range 4 * int(e.n) {
				want[in.at(slot, k)] = e.byte(start, k)
			}
		}
		switch {
		case f.persistent:
			ok(r.Start())
			get(r.Wait())
		case f.nonblocking:
			r = get(a.call(name, f))
			get(mpi.Wait(&r))
		default:
			get(a.call(name, f))
		}
		if !slices.Equal(in.mem, want) || !slices.Equal(out.mem, given) {
			stop(fmt.Errorf("%s, seed %d, start %d: rank %d of %d, from %v, to %v: got %v, want %v; sent %v, now %v", inForm(name, f), h.seed, start,
				h.c.Rank(), h.c.Size(), h.sources, h.dests, in.mem, want, given, out.mem))
		}
	}
	if f.persistent {
		ok(r.Free())
	}
}

// drawHood makes a communicator with a random topology of up to all ranks of c, or nil at
// ranks that are left over.
func drawHood(c *mpi.Comm, seed uint64) *hood {
	rng := rand.New(rand.NewPCG(seed, 1))
	h := &hood{seed: seed}
	switch seed % 3 {
	case 0:
		o := mpi.CartOptions{}
		for h.grid = true; o.Dims == nil; {
			size := 1
			for range 1 + rng.IntN(3) {
				n := 1 + rng.IntN(3)
				size *= n
				o.Dims, o.Periodic = append(o.Dims, n), append(o.Periodic, rng.IntN(2) == 0)
			}
			if size > c.Size() {
				o = mpi.CartOptions{}
			}
		}
		if h.c = get(c.CartCreate(o)); h.c == nil {
			return nil
		}
		h.sources, h.dests = h.c.Neighbors(), h.c.Neighbors()
	case 1:
		near := make([][]int, 1+rng.IntN(c.Size()))
		for range rng.IntN(3 * len(near)) {
			a, b := rng.IntN(len(near)), rng.IntN(len(near))
			if near[a] = append(near[a], b); a != b {
				near[b] = append(near[b], a)
			}
		}
		o := mpi.GraphOptions{}
		for _, list := range near {
			rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			o.Edges = append(o.Edges, list...)
			o.Index = append(o.Index, len(o.Edges))
		}
		if h.c = get(c.GraphCreate(o)); h.c == nil {
			return nil
		}
		h.sources, h.dests = near[h.c.Rank()], near[h.c.Rank()]
	case 2:
		g := neighborsIn(randomEdges(c.Size(), seed), c.Rank(), false)
		own := rand.New(rand.NewPCG(seed, uint64(c.Rank())))
		own.Shuffle(len(g.Dests), func(i, j int) { g.Dests[i], g.Dests[j] = g.Dests[j], g.Dests[i] })
		h.c, h.sources, h.dests = get(c.DistGraphAdjacent(g)), g.Sources, g.Dests
	}
	return h
}

// Each slot gets what a message for it says, and all other memory stays as it was.
func TestNeighborhoodsGetWhatMessagesAnnounce(t *testing.T) {
	withTypesToo(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range []int{2, 5, 6} {
			if n == 6 && fabric != "mem" {
				continue
			}
			if opts != nil {
				opts = append(opts, mpi.WithChecks())
			}
			act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
				for seed := range uint64(24) {
					h := drawHood(c, seed)
					if h == nil {
						continue
					}
					for _, name := range []string{"NeighborAllgather", "NeighborAllgatherv", "NeighborAlltoall", "NeighborAlltoallv", "NeighborAlltoallw"} {
						for _, f := range notInPlace {
							h.try(name, f)
							h.seed += 1000
						}
					}
					ok(h.c.Free())
				}
			}, opts...)
		}
	})
}
