package datatype

import "slices"

// Contiguous is count elements of t, one extent apart (MPI_Type_contiguous,
// MPI-4.0 §5.1.2).
func Contiguous(count int, t *Type) (*Type, error) {
	const c = call("Contiguous")
	if err := first(c.count(1, "count", count), c.oldType(2, t)); err != nil {
		return nil, err
	}
	return c.strided(1, 1, "count", count, 0, t, &args{CombinerContiguous, []int{count}, nil, []*Type{t}})
}

// Vector is count blocks of blocklen elements of t. Blocks begin stride extents of
// t apart (MPI_Type_vector, MPI-4.0 §5.1.2).
func Vector(count, blocklen, stride int, t *Type) (*Type, error) {
	const c = call("Vector")
	if err := first(c.count(1, "count", count), c.count(2, "blocklen", blocklen), c.oldType(4, t)); err != nil {
		return nil, err
	}
	var k checked
	bytes := k.mul(stride, t.ub-t.lb)
	if k.over && count > 1 && blocklen > 0 {
		return nil, c.badValue(3, "stride", stride, ErrTooLarge)
	}
	return c.strided(count, 2, "blocklen", blocklen, bytes, t, &args{CombinerVector, []int{count, blocklen, stride}, nil, []*Type{t}})
}

// HVector is Vector with the stride in bytes (MPI_Type_create_hvector, MPI-4.0
// §5.1.2).
func HVector(count, blocklen, stride int, t *Type) (*Type, error) {
	const c = call("HVector")
	if err := first(c.count(1, "count", count), c.count(2, "blocklen", blocklen), c.oldType(4, t)); err != nil {
		return nil, err
	}
	return c.strided(count, 2, "blocklen", blocklen, stride, t, &args{CombinerHVector, []int{count, blocklen}, []int{stride}, []*Type{t}})
}

// strided makes count blocks. The argument at pos is how many elements are in each.
func (c call) strided(count, pos int, arg string, blocklen, stride int, t *Type, from *args) (*Type, error) {
	var k checked
	var m marks
	if count == 0 || blocklen == 0 {
		return k.newType(c, pos, arg, place{}, bounds{}, from)
	}
	extent := t.ub - t.lb
	block := k.rep(blocklen, extent, t.place)
	if err := k.err(); err != nil {
		return nil, c.badValue(pos, arg, blocklen, err)
	}
	inBlock, inAll := k.mul(blocklen-1, extent), k.mul(count-1, stride)
	all := k.rep(count, stride, block)
	m.put(&k, t, k.add(min(0, inBlock), min(0, inAll)), k.add(max(0, inBlock), max(0, inAll)))
	return k.newType(c, 1, "count", all, m.bounds(&k), from)
}

// Resized is t with another lower bound and extent (MPI_Type_create_resized,
// MPI-4.0 §5.1.7). Both are in bytes; an extent may be below the true one, and
// negative. They are markers: bounds of types made of this one come from them.
func Resized(t *Type, lb, extent int) (*Type, error) {
	const c = call("Resized")
	if err := c.oldType(1, t); err != nil {
		return nil, err
	}
	var k checked
	return k.newType(c, 3, "extent", t.place, bounds{lb, k.add(lb, extent), true, true},
		&args{CombinerResized, nil, []int{lb, extent}, []*Type{t}})
}

// Dup is another type that equals t (MPI_Type_dup, MPI-4.0 §5.1.10); committed if t
// is.
func Dup(t *Type) (*Type, error) {
	const c = call("Dup")
	if err := c.oldType(1, t); err != nil {
		return nil, err
	}
	d := &Type{place: t.place, bounds: t.bounds, from: &args{CombinerDup, nil, nil, []*Type{t}}}
	d.prog.Store(t.prog.Load())
	return d, nil
}

// first is the first error of a list in the order of a call's arguments.
func first(errs ...error) error {
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
