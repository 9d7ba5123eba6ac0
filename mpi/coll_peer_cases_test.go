package mpi_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/weft-mpi/weft/mpi"
)

type peerKind struct {
	name string
	t    *mpi.Datatype
}

// peerKinds are the predefined types: integers, other ones that are no pairs, pairs.
var peerKinds = []peerKind{
	{"int8", mpi.TypeInt8}, {"uint8", mpi.TypeUint8}, {"int16", mpi.TypeInt16}, {"uint16", mpi.TypeUint16},
	{"int32", mpi.TypeInt32}, {"uint32", mpi.TypeUint32}, {"int64", mpi.TypeInt64}, {"uint64", mpi.TypeUint64},
	{"bool", mpi.TypeBool}, {"byte", mpi.TypeByte}, {"float32", mpi.TypeFloat32}, {"float64", mpi.TypeFloat64},
	{"complex64", mpi.TypeComplex64}, {"complex128", mpi.TypeComplex128},
	{"float_int", mpi.TypeFloatInt}, {"double_int", mpi.TypeDoubleInt}, {"long_int", mpi.TypeLongInt}, {"2int", mpi.Type2Int}, {"short_int", mpi.TypeShortInt},
}

// tamer draws types that C MPIs get right: without empty parts, with aligned displacements,
// and with bounds around their data. Types of one shape have one signature, in whatever
// layout.
type tamer struct {
	shape, layout *rand.Rand
	kinds         []peerKind
}

func (d *tamer) draw(depth int) *mpi.Datatype {
	if depth == 0 {
		return d.kinds[d.shape.IntN(len(d.kinds))].t
	}
	old := d.draw(depth - 1)
	n, blocklen := 1+d.shape.IntN(3), 1+d.shape.IntN(3)
	if d.shape.IntN(3) == 0 {
		return d.structure(depth, n, blocklen, old)
	}
	_, extent := old.Extent()
	step, shift := blocklen+d.layout.IntN(3), d.layout.IntN(5)-2
	lens, disps, bytes := slices.Repeat([]int{blocklen}, n), d.layout.Perm(n), make([]int, n)
	for i := range disps {
		disps[i] = disps[i]*step + shift
		bytes[i] = disps[i] * extent
	}
	sizes, starts := []int{n + d.layout.IntN(3), step}, []int{0, d.layout.IntN(step - blocklen + 1)}
	parts := 1 + d.layout.IntN(3)
	switch d.layout.IntN(8) {
	case 0:
		return get(mpi.TypeVector(n, blocklen, step, old))
	case 1:
		return get(mpi.TypeHvector(n, blocklen, up(step*extent), old))
	case 2:
		return get(mpi.TypeIndexed(lens, disps, old))
	case 3:
		return get(mpi.TypeHindexedBlock(blocklen, bytes, old))
	case 4:
		return get(mpi.TypeSubarray(sizes, []int{n, blocklen}, starts, mpi.OrderC, old))
	case 5:
		slices.Reverse(sizes)
		slices.Reverse(starts)
		return get(mpi.TypeSubarray(sizes, []int{blocklen, n}, starts, mpi.OrderFortran, old))
	case 6:
		return get(mpi.TypeDarray(parts, d.layout.IntN(parts), []int{parts * n * blocklen}, []mpi.Dist{mpi.DistributeCyclic},
			[]int{blocklen}, []int{parts}, mpi.OrderC, old))
	default:
		return get(get(mpi.TypeContiguous(n*blocklen, old)).Dup())
	}
}

// structure draws fields in any order in memory. Bounds of its own keep out what C MPIs
// make of those of the fields.
func (d *tamer) structure(depth, n, blocklen int, old *mpi.Datatype) *mpi.Datatype {
	types, lens, disps := []*mpi.Datatype{old}, slices.Repeat([]int{blocklen}, n), make([]int, n)
	for len(types) < n {
		types = append(types, d.draw(depth-1))
	}
	first := 16 * (d.layout.IntN(5) - 2)
	at := first
	for _, i := range d.layout.Perm(n) {
		lo, hi := touched(types[i], blocklen)
		disps[i] = up(at - lo)
		at = disps[i] + hi + d.layout.IntN(20)
	}
	return get(mpi.TypeResized(get(mpi.TypeStruct(lens, disps, types)), first, up(at-first)))
}

// touched is where the data of elements are that have no lesser extent than data.
func touched(t *mpi.Datatype, count int) (lo, hi int) {
	if count == 0 {
		return 0, 0
	}
	_, extent := t.Extent()
	lo, size := t.TrueExtent()
	return lo, lo + (count-1)*extent + size
}

// up is n or the next number that 16 divides.
func up(n int) int { return (n + 15) &^ 15 }

// peerCases are the calls of n ranks.
func peerCases(n int) (all []*peerCase) {
	add := func(call string, o *mpi.Op, inPlace bool, kinds []peerKind, depth, most int) {
		p := &peerCase{call: call, op: o, root: len(all) % n, inPlace: inPlace, sides: make([][2]*peerSide, n)}
		for rank := range n {
			for role, counts := range p.blocks(rank, len(all), most) {
				p.sides[rank][role] = p.side(uint64(len(all)), uint64(2*rank+role), kinds, depth, counts)
			}
		}
		all = append(all, p)
	}
	for seed := range 10 {
		most, kinds := 1+seed%3, peerKinds
		if seed >= 7 { // long messages; MPICH 4.0 takes some of pairs or several kinds for truncated
			most, kinds = 100, peerKinds[seed-3:seed-2]
		}
		for _, call := range []string{"gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"} {
			add(call, nil, false, kinds, 2, most)
			add(call, nil, true, kinds, 2, most)
		}
		for _, call := range []string{"bcast", "put", "get"} {
			add(call, nil, false, kinds, 2, most)
		}
		add("accumulate", mpi.Sum, false, peerKinds[4:5], 2, most)
	}
	for i, o := range []*mpi.Op{mpi.Sum, mpi.Prod, mpi.Max, mpi.Min, mpi.LAnd, mpi.LOr, mpi.LXor, mpi.BAnd, mpi.BOr, mpi.BXor, mpi.MinLoc, mpi.MaxLoc} {
		kinds := [][]peerKind{peerKinds[:8], peerKinds[:9], slices.Concat(peerKinds[:8], peerKinds[9:10]), peerKinds[14:]}[[]int{0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3}[i]]
		for k := range kinds {
			for j, call := range []string{"reduce", "allreduce", "reduce_scatter_block", "reduce_scatter", "scan", "exscan"} {
				if place := i + j + k; place%2 == 0 || o == mpi.MinLoc || o == mpi.MaxLoc {
					add(call, o, place/2%2 == 0, kinds[k:k+1], 0, []int{3, 1, 150, 7}[len(all)%4])
				}
			}
		}
	}
	return all
}

// blocks are the lengths of what a rank sends and of what it receives: those of the forms
// with different ones are most at most, and others most.
func (p *peerCase) blocks(rank, seed, most int) [2][]int {
	n := len(p.sides)
	length := func(x int) int {
		if p.varies() {
			return (x + seed) % (most + 1)
		}
		return most
	}
	row, all := make([]int, n), make([]int, n)
	for i := range n {
		row[i], all[i] = length(3*i*rank+5*(i+rank)), length(5*i)
	}
	one := all[rank : rank+1]
	switch strings.TrimRight(p.call, "vw") {
	case "gather", "allgather":
		return [2][]int{one, all}
	case "scatter":
		return [2][]int{all, one}
	case "alltoall":
		return [2][]int{row, row}
	case "reduce_scatter_block", "reduce_scatter":
		if p.inPlace {
			one = all
		}
		return [2][]int{all, one}
	}
	return [2][]int{one, one}
}

// varies reports whether blocks of the call differ in length.
func (p *peerCase) varies() bool {
	return strings.HasSuffix(p.call, "v") || p.call == "alltoallw" || p.call == "reduce_scatter"
}

// side draws a side with blocks of some lengths. who is 0 to 31.
func (p *peerCase) side(seed, who uint64, kinds []peerKind, depth int, lengths []int) *peerSide {
	n := len(p.sides)
	s := &peerSide{counts: append(slices.Clone(lengths), make([]int, n-len(lengths))...), displs: make([]int, n)}
	for i := range n {
		s.displs[i] = s.count
		s.count += s.counts[i]
	}
	if p.varies() && p.op == nil && len(lengths) == n {
		s.displs, s.count = scattered(s.counts)
	}
	layout := rand.New(rand.NewPCG(seed, 1+who))
	draw := func(count int) (lo, hi int) {
		t := (&tamer{rand.New(rand.NewPCG(seed, 0)), layout, kinds}).draw(depth)
		ok(t.Commit())
		s.types = append(s.types, t)
		return touched(t, count)
	}
	at := 16 * layout.IntN(3)
	if p.call == "alltoallw" {
		for i, count := range s.counts {
			lo, hi := draw(count)
			s.displs[i] = up(max(at, lo) - lo)
			at = s.displs[i] + max(0, hi)
		}
	} else {
		lo, hi := draw(s.count)
		s.origin = up(max(at, lo) - lo)
		at = s.origin + max(0, hi)
	}
	s.mem = make([]byte, up(at+16*layout.IntN(3)+1))
	for i := range s.mem {
		s.mem[i] = p.fill(layout, s.types[0])
	}
	return s
}

// fill draws a byte: for operators such that numbers are often equal, or 0 and false.
func (p *peerCase) fill(rng *rand.Rand, t *mpi.Datatype) byte {
	x := rng.Uint32()
	switch b := byte(x); {
	case t == mpi.TypeBool:
		return b & 1
	case p.op == mpi.MinLoc || p.op == mpi.MaxLoc:
		return []byte{0, 0, 0, 0x40, 0xc0}[b%5]
	case p.op == mpi.LAnd || p.op == mpi.LOr || p.op == mpi.LXor:
		return b & byte(x>>8) & byte(x>>16) & 4
	default:
		return b
	}
}
