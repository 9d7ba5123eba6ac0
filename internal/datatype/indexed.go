package datatype

import "slices"

// Indexed is a list of blocks: lens[i] elements of t, disps[i] extents of t from
// the origin (MPI_Type_indexed, MPI-4.0 §5.1.2). The lists are copied.
func Indexed(lens, disps []int, t *Type) (*Type, error) {
	const c = call("Indexed")
	if err := first(c.counts(1, "lens", lens), c.equallyLong(2, "disps", len(disps), "lens", len(lens)), c.oldType(3, t)); err != nil {
		return nil, err
	}
	return c.blocks(blockList{len(lens), lens, 0, disps, t.ub - t.lb, 2}, t,
		&args{CombinerIndexed, list(len(lens), lens, disps), nil, []*Type{t}})
}

// HIndexed is Indexed with displacements in bytes (MPI_Type_create_hindexed,
// MPI-4.0 §5.1.2).
func HIndexed(lens, disps []int, t *Type) (*Type, error) {
	const c = call("HIndexed")
	if err := first(c.counts(1, "lens", lens), c.equallyLong(2, "disps", len(disps), "lens", len(lens)), c.oldType(3, t)); err != nil {
		return nil, err
	}
	return c.blocks(blockList{len(lens), lens, 0, disps, 1, 2}, t,
		&args{CombinerHIndexed, list(len(lens), lens), list2(disps), []*Type{t}})
}

// IndexedBlock is a list of blocks of blocklen elements of t each, disps[i] extents
// of t from the origin (MPI_Type_create_indexed_block, MPI-4.0 §5.1.2). The list is
// copied.
func IndexedBlock(blocklen int, disps []int, t *Type) (*Type, error) {
	const c = call("IndexedBlock")
	if err := first(c.count(1, "blocklen", blocklen), c.oldType(3, t)); err != nil {
		return nil, err
	}
	return c.blocks(blockList{len(disps), nil, blocklen, disps, t.ub - t.lb, 2}, t,
		&args{CombinerIndexedBlock, list2([]int{len(disps), blocklen}, disps), nil, []*Type{t}})
}

// HIndexedBlock is IndexedBlock with displacements in bytes
// (MPI_Type_create_hindexed_block, MPI-4.0 §5.1.2).
func HIndexedBlock(blocklen int, disps []int, t *Type) (*Type, error) {
	const c = call("HIndexedBlock")
	if err := first(c.count(1, "blocklen", blocklen), c.oldType(3, t)); err != nil {
		return nil, err
	}
	return c.blocks(blockList{len(disps), nil, blocklen, disps, 1, 2}, t,
		&args{CombinerHIndexedBlock, []int{len(disps), blocklen}, list2(disps), []*Type{t}})
}

// list is a count and then some lists, in new memory.
func list(count int, lists ...[]int) []int {
	return list2(append([][]int{{count}}, lists...)...)
}

// list2 is some lists, one after another, in new memory.
func list2(lists ...[]int) []int { return slices.Concat(lists...) }

// blockList is the blocks of an indexed type.
type blockList struct {
	count int
	lens  []int // elements of each block; nil if all have blocklen
	blen  int
	disps []int
	unit  int // bytes of a displacement of 1
	pos   int // of disps among the call's arguments
}

func (b *blockList) len(i int) int {
	if b.lens == nil {
		return b.blen
	}
	return b.lens[i]
}

// blocks makes an indexed type.
func (c call) blocks(b blockList, t *Type, from *args) (*Type, error) {
	var k checked
	var m marks
	extent := t.ub - t.lb
	disps, lens := make([]int, 0, b.count), make([]int, 0, b.count)
	for i, d := range b.disps {
		l := b.len(i)
		if l == 0 {
			continue
		}
		at, inBlock := k.mul(d, b.unit), k.mul(l-1, extent)
		m.put(&k, t, k.add(at, min(0, inBlock)), k.add(at, max(0, inBlock)))
		if k.over {
			return nil, c.badItemValue(b.pos, "disps", i, d, ErrTooLarge)
		}
		disps, lens = append(disps, at), append(lens, l)
	}
	var p place
	switch {
	case len(disps) == 0 || t.place.node == nil:
	case t.op == opRun && k.mul(t.n, traits[t.kind].extent) == extent:
		for i, l := range lens {
			disps[i], lens[i] = k.add(disps[i], t.at), k.mul(l, t.n)
		}
		if !k.over {
			p = k.runs(t.kind, disps, lens)
		}
	default:
		p = k.seq(k.repeated(disps, lens, extent, t.place))
	}
	return k.newType(c, b.pos, "disps", p, m.bounds(&k), from)
}

// repeated is lens[i] copies of a place at each displacement. Blocks of equal
// length share a node.
func (k *checked) repeated(disps, lens []int, extent int, p place) []place {
	made := map[int]place{}
	parts := make([]place, len(disps))
	for i, l := range lens {
		block, ok := made[l]
		if !ok {
			block = k.rep(l, extent, p)
			made[l] = block
		}
		parts[i] = k.shifted(block, disps[i])
	}
	return parts
}
