package mpi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/mpi"
)

// The model of collective calls on Bufs: which bytes of each rank's memory are sent, by
// the list that MPI defines a datatype by, and which bytes of another rank's memory they
// come to. All ranks make everything from one seed.

// format is how a rank has its data: units of as many packed bytes as those of all others,
// each some elements of a type.
type format struct {
	drawnType
	per int // elements of the type in a unit
}

// place is memory with some elements, and where each packed byte of them is.
type place struct {
	format
	count, origin int
	mem           []byte
	where         []int
}

// bufTrial is one rank's part in calls on Bufs.
type bufTrial struct {
	c *mpi.Comm
	form
	seed          int
	n             int       // units in a block
	base          drawnType // of a unit, without overlaps
	group, others []int     // numbers of the ranks of the local group, and of those that data come from and go to
	me            int       // this rank's number
	count         int       // calls so far
	made          [][]byte  // what may be buffers of the next call
}

// drawUnit draws a type that has data and does not overlap, with few bytes.
func drawUnit(seed int) drawnType {
	return rapid.Custom(func(rt *rapid.T) drawnType {
		d := drawType(rt, 3)
		if len(d.m.data()) == 0 || repeats(d.m) {
			d = drawnType{mpi.TypeFloat64, typemap{{8, 0}}}
		}
		if err := d.t.Commit(); err != nil {
			rt.Fatal(err)
		}
		return d
	}).Example(seed)
}

// repeats reports whether a list has a byte twice.
func repeats(m typemap) bool {
	seen := map[int]bool{}
	for _, e := range m.data() {
		for i := range e.size {
			if seen[e.disp+i] {
				return true
			}
			seen[e.disp+i] = true
		}
	}
	return false
}

// size is how many bytes of data the list has.
func (m typemap) size() (n int) {
	for _, e := range m.data() {
		n += e.size
	}
	return n
}

// rng is for what a rank has in the call: the same numbers wherever they are drawn.
func (x *bufTrial) rng(rank int, role uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(x.seed)<<32|uint64(x.count), uint64(rank)<<8|role))
}

// format draws how a rank has its data. The elements do not overlap if nothing may be sent
// twice or received into a byte twice.
func (x *bufTrial) format(rng *rand.Rand) format {
	var d drawnType
	size := x.base.m.size()
	switch rng.IntN(4) {
	case 0: // bytes
		return format{drawnType{mpi.TypePacked, typemap{{1, 0}}}, size}
	case 1: // pieces in any order, with gaps
		lens, disps, at := []int(nil), []int(nil), rng.IntN(9)-4
		for rest := size; rest > 0; {
			n := 1 + rng.IntN(rest)
			lens, disps = append(lens, n), append(disps, at)
			at, rest = at+n+rng.IntN(3), rest-n
		}
		rng.Shuffle(len(lens), func(i, j int) { lens[i], lens[j], disps[i], disps[j] = lens[j], lens[i], disps[j], disps[i] })
		for i, n := range lens {
			d.m = append(d.m, typemap{{1, 0}}.block(n, disps[i])...)
		}
		d.t = get(mpi.TypeHindexed(lens, disps, mpi.TypePacked))
	case 2: // the same elements farther apart
		lo, hi := x.base.m.span()
		d.m = x.base.m.within(lo-2, hi+rng.IntN(5))
		d.t = get(mpi.TypeResized(x.base.t, lo-2, d.m[len(d.m)-1].disp-lo+2))
	default:
		d = x.base
	}
	if repeats(d.m.block(5, 0)) { // the elements would overlap
		lo, hi := d.m.span()
		d.t, d.m = get(mpi.TypeResized(d.t, lo, -(hi-lo))), d.m.within(lo, lo-(hi-lo))
	}
	ok(d.t.Commit())
	return format{d, 1}
}

// place makes memory with n units, full of bytes that are the rank's own.
func (x *bufTrial) place(rng *rand.Rand, n int) *place {
	p := &place{format: x.format(rng)}
	p.count = n * p.per
	lb, ub := p.m.bounds()
	one := p.m.data()
	lo, hi := 0, 0
	for i := range p.count {
		for _, e := range one {
			at := e.disp + i*(ub-lb)
			lo, hi = min(lo, at), max(hi, at+e.size)
		}
	}
	p.origin = rng.IntN(4) - lo
	p.mem, p.where = make([]byte, p.origin+hi+rng.IntN(4)), make([]int, 0, n*x.unit())
	for i, v := 0, rng.Uint64(); i < len(p.mem); i++ {
		p.mem[i] = byte(v >> 56)
		v = v*6364136223846793005 + 1442695040888963407
	}
	for i := range p.count {
		for _, e := range one {
			for k := range e.size {
				p.where = append(p.where, p.origin+e.disp+i*(ub-lb)+k)
			}
		}
	}
	x.made = append(x.made, p.mem)
	return p
}

func (p *place) buf() mpi.Buf { return mpi.As(p.t, p.mem, p.count).At(p.origin) }

// get is the packed bytes from the byte at on.
func (p *place) get(at, n int) []byte {
	b := make([]byte, n)
	for i, w := range p.where[at : at+n] {
		b[i] = p.mem[w]
	}
	return b
}

func (p *place) put(at int, b []byte) {
	for i, v := range b {
		p.mem[p.where[at+i]] = v
	}
}

// elements turns a number of units into elements of the place's type.
func (p *place) elements(units []int) []int {
	all := make([]int, len(units))
	for i, n := range units {
		all[i] = n * p.per
	}
	return all
}

// blocks turns numbers of units into numbers of bytes.
func (x *bufTrial) blocks(units []int) []int {
	all := make([]int, len(units))
	for i, n := range units {
		all[i] = n * x.unit()
	}
	return all
}

// unit is how many bytes a unit has.
func (x *bufTrial) unit() int { return x.base.m.size() }

// Roles of places in a call.
const (
	sends = iota
	receives
	one // one of several for one rank
)

// sent is what a rank sends: n units.
func (x *bufTrial) sent(rank, n int) *place { return x.place(x.rng(rank, sends), n) }

// room is where this rank receives n units.
func (x *bufTrial) room(n int) *place { return x.place(x.rng(x.me, receives), n) }

// call makes a call of either form. want is what p's memory has to be afterwards: the
// blocks are put to it before the call, in a copy.
func (x *bufTrial) call(name string, blocking func() error, nonblocking func() (mpi.Request, error), rooms []*place, want [][]byte) {
	if x.nonblocking {
		r := get(nonblocking())
		if r.Null() {
			stop(fmt.Errorf("%s: the null request", name))
		}
		if x.persistent {
			again(r, x.made)
		} else {
			get(mpi.Wait(&r))
		}
	} else {
		ok(blocking())
	}
	for i, p := range rooms {
		if !bytes.Equal(p.mem, want[i]) {
			stop(fmt.Errorf("%s, seed %d, %d units of %d bytes, %+v: rank %d of %d, %d elements of %v from %d on: memory %d is\n%v, want\n%v", name, x.seed, x.n, x.unit(),
				x.form, x.c.Rank(), x.c.Size(), p.count, p.t, p.origin, i, p.mem, want[i]))
		}
	}
	x.count++
	x.made = nil
}

// expect is a copy of p's memory with blocks put to it: at[i] is a packed byte.
func (p *place) expect(blocks [][]byte, at []int) []byte {
	q := *p
	q.mem = slices.Clone(p.mem)
	for i, b := range blocks {
		q.put(at[i], b)
	}
	return q.mem
}
