package datatype

import "fmt"

// Dist is how a dimension of an array is distributed over processes. The values are those
// of MPI-5's ABI.
type Dist int

const (
	// DistributeNone gives the dimension to one process (MPI_DISTRIBUTE_NONE).
	DistributeNone Dist = 16
	// DistributeBlock gives each process one block (MPI_DISTRIBUTE_BLOCK).
	DistributeBlock Dist = 17
	// DistributeCyclic deals out blocks in turns (MPI_DISTRIBUTE_CYCLIC).
	DistributeCyclic Dist = 18
)

// DistributeDfltDarg is the block length that a distribution has by itself: of
// DistributeBlock as much as is needed for all elements, of DistributeCyclic 1
// (MPI_DISTRIBUTE_DFLT_DARG). It is no block length, as MPI-5's 19 would be.
const DistributeDfltDarg = -1

func (d Dist) String() string {
	switch d {
	case DistributeBlock:
		return "block"
	case DistributeCyclic:
		return "cyclic"
	case DistributeNone:
		return "none"
	}
	return fmt.Sprintf("Dist(%d)", int(d))
}

// Darray is the part that one of size processes has of an array of gsizes elements
// of t, which is distributed over a grid of psizes processes, in each dimension as
// distribs and dargs (the block lengths) say. Its extent is that of the whole array.
// The ranks of processes are in row-major order of the grid, whatever the order of
// the array (MPI_Type_create_darray, MPI-4.0 §5.1.4). The part may be empty. The
// lists are copied.
func Darray(size, rank int, gsizes []int, distribs []Dist, dargs, psizes []int, order Order, t *Type) (*Type, error) {
	const c = call("Darray")
	err := first(c.grid(size, rank, gsizes, psizes), c.equallyLong(4, "distribs", len(distribs), "gsizes", len(gsizes)),
		c.equallyLong(5, "dargs", len(dargs), "gsizes", len(gsizes)), c.order(7, order), c.oldType(8, t))
	if err != nil {
		return nil, err
	}
	coords := make([]int, len(psizes))
	for i, rest := len(psizes)-1, rank; i >= 0; i-- {
		coords[i], rest = rest%psizes[i], rest/psizes[i]
	}
	var k checked
	p, step := t.place, t.ub-t.lb
	err = order.dims(len(gsizes), func(dim int) error {
		d := dealt{gsizes[dim], psizes[dim], coords[dim], distribs[dim], dargs[dim]}
		if err := d.check(c, dim); err != nil {
			return err
		}
		p = d.part(&k, step, p)
		step = k.mul(step, gsizes[dim])
		if err := k.err(); err != nil {
			return c.badItemValue(3, "gsizes", dim, gsizes[dim], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	dists := make([]int, len(distribs))
	for i, d := range distribs {
		dists[i] = int(d)
	}
	ints := list2([]int{size, rank, len(gsizes)}, gsizes, dists, dargs, psizes, []int{int(order)})
	return k.newType(c, 3, "gsizes", p, bounds{0, step, true, true}, &args{CombinerDarray, ints, nil, []*Type{t}})
}

// grid checks the processes of a distributed array.
func (c call) grid(size, rank int, gsizes, psizes []int) error {
	switch {
	case size < 1:
		return hint(c.badValue(1, "size", size, ErrValue), "give the number of processes in the grid")
	case rank < 0 || rank >= size:
		return hint(c.badValue(2, "rank", rank, ErrOutside), "give 0 to %d", size-1)
	case len(gsizes) == 0:
		return hint(c.bad(3, "gsizes", ErrValue), "an array has at least one dimension")
	}
	for i, g := range gsizes {
		if g < 1 {
			return hint(c.badItemValue(3, "gsizes", i, g, ErrValue), "a dimension has at least one element")
		}
	}
	if err := c.equallyLong(6, "psizes", len(psizes), "gsizes", len(gsizes)); err != nil {
		return err
	}
	var k checked
	processes := 1
	for i, n := range psizes {
		if n < 1 {
			return hint(c.badItemValue(6, "psizes", i, n, ErrValue), "a dimension has at least one process")
		}
		processes = k.mul(processes, n)
	}
	if k.over || processes != size {
		return hint(c.bad(6, "psizes", ErrValue), "their product is the number of processes, %d", size)
	}
	return nil
}

// dealt is a dimension of an array that is dealt out.
type dealt struct {
	elements, processes, process int
	dist                         Dist
	darg                         int
}

func (d *dealt) check(c call, dim int) error {
	switch {
	case d.dist != DistributeBlock && d.dist != DistributeCyclic && d.dist != DistributeNone:
		return hint(c.badItemValue(4, "distribs", dim, int(d.dist), ErrValue), "give DistributeBlock, DistributeCyclic or DistributeNone")
	case d.dist == DistributeNone && d.processes != 1:
		return hint(c.badItemValue(6, "psizes", dim, d.processes, ErrValue), "a dimension that is not distributed has one process")
	case d.darg == DistributeDfltDarg || d.dist == DistributeNone:
		return nil
	case d.darg < 1:
		return hint(c.badItemValue(5, "dargs", dim, d.darg, ErrValue), "give 1 or more, or DistributeDfltDarg")
	case d.dist == DistributeBlock && d.darg < ceil(d.elements, d.processes):
		return hint(c.badItemValue(5, "dargs", dim, d.darg, ErrOutside), "blocks that hold %d elements on %d processes have %d or more",
			d.elements, d.processes, ceil(d.elements, d.processes))
	}
	return nil
}

// ceil is a/b rounded up, of numbers above 0.
func ceil(a, b int) int { return (a-1)/b + 1 }

// part is what the process has of the dimension, whose neighbours are copies of p
// step bytes apart.
func (d *dealt) part(k *checked, step int, p place) place {
	block := d.darg
	switch {
	case d.dist == DistributeNone:
		block = d.elements
	case block == DistributeDfltDarg && d.dist == DistributeCyclic:
		block = 1
	case block == DistributeDfltDarg:
		block = ceil(d.elements, d.processes)
	}
	// Blocks are numbered in the order of the array. This process has those whose
	// number leaves process as the remainder.
	blocks, short := ceil(d.elements, block), d.elements%block // the last block may be short
	if d.process >= blocks {
		return place{}
	}
	mine := (blocks-1-d.process)/d.processes + 1
	whole := mine
	if hasLast := (blocks-1)%d.processes == d.process; hasLast && short > 0 {
		whole--
	}
	var parts []place
	start := k.mul(k.mul(d.process, block), step)
	round := 0
	if mine > 1 {
		round = k.mul(k.mul(d.processes, block), step)
	}
	if whole > 0 {
		parts = append(parts, k.shifted(k.rep(whole, round, k.rep(block, step, p)), start))
	}
	if whole < mine {
		parts = append(parts, k.shifted(k.rep(short, step, p), k.add(start, k.mul(whole, round))))
	}
	return k.seq(parts)
}
