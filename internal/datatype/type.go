package datatype

import "sync/atomic"

// Type is a datatype: a typemap and an extent. It never changes, except that
// Commit prepares it, and is safe for concurrent use. Two types that are equal may
// have different pointers.
type Type struct {
	place        // of the typemap; empty for a type without elements
	bounds       // lb and ub
	from   *args // what the constructor was given

	// prog is the committed form: Commit stores it, everything that copies loads it.
	prog atomic.Pointer[program]

	pairs atomic.Uint32 // a cache of PairKind, 1 for none
}

// bounds are the lower and the upper bound of a typemap (MPI-4.0 §5.1.7). A
// marker is one that Resized, Subarray or Darray has set in the type or in a type
// that it is made of. Where there are markers they alone count.
type bounds struct {
	lb, ub       int
	lbSet, ubSet bool // lb and ub come from markers
}

var predefined = func() (types [lastKind + 1]*Type) {
	for kind := Bool; kind <= lastKind; kind++ {
		var k checked
		t := &Type{place: place{0, k.run(kind, 1)}, bounds: bounds{ub: traits[kind].extent}, from: &args{combiner: CombinerNamed}}
		t.commit()
		types[kind] = t
	}
	return types
}()

// Of returns the predefined type of a kind, which is committed, and nil if the
// kind is unknown.
func Of(k Kind) *Type {
	if !k.known() {
		return nil
	}
	return predefined[k]
}

// Size is the number of bytes of data in one element of the type, which are sent
// (MPI_Type_size, MPI-4.0 §5.1.5).
func (t *Type) Size() int {
	if t.place.node == nil {
		return 0
	}
	return t.place.size
}

// Extent returns the lower bound of the type and the distance in bytes between two
// elements that follow one another (MPI_Type_get_extent, MPI-4.0 §5.1.7). Bounds
// are those of MPI's definition: of the explicit markers if there are any, here or
// in a type that this one is made of; else of the data, the upper one rounded up so
// that the extent is a multiple of the largest alignment.
func (t *Type) Extent() (lb, extent int) { return t.lb, t.ub - t.lb }

// TrueExtent returns the first byte that one element of the type touches and the
// number of bytes up to its last one, without regard to bounds
// (MPI_Type_get_true_extent, MPI-4.0 §5.1.8).
func (t *Type) TrueExtent() (lb, extent int) {
	if t.place.node == nil {
		return 0, 0
	}
	return t.at + t.lo, t.hi - t.lo
}

// Align is the largest alignment in bytes of the elements, and 1 if there are none.
func (t *Type) Align() int {
	if t.place.node == nil {
		return 1
	}
	return t.align
}

// Kind returns the predefined kind that all elements have; false if they differ or
// if there are none. A pair is one element of its kind.
func (t *Type) Kind() (Kind, bool) {
	if t.place.node == nil || t.sole == 0 {
		return 0, false
	}
	return t.sole, true
}

// Basics is the number of basic elements in one element of the type; a pair counts
// as two.
func (t *Type) Basics() int {
	if t.place.node == nil {
		return 0
	}
	return t.elems
}

// Span returns the bytes that count elements of the type touch, [lo, hi) from the
// origin.
func (t *Type) Span(count int) (lo, hi int, err error) {
	const c = call("Span")
	if err := c.count(1, "count", count); err != nil {
		return 0, 0, err
	}
	lo, hi, ok := t.span(count)
	if !ok {
		return 0, 0, c.badValue(1, "count", count, ErrTooLarge)
	}
	return lo, hi, nil
}

// span is Span for a count that is not negative; false if something is too large.
func (t *Type) span(count int) (lo, hi int, ok bool) {
	if t.place.node == nil || count == 0 {
		return 0, 0, true
	}
	lo, hi = t.at+t.lo, t.at+t.hi
	if count == 1 {
		return lo, hi, true
	}
	var k checked
	last := k.mul(count-1, t.ub-t.lb)
	lo, hi = k.add(lo, min(0, last)), k.add(hi, max(0, last))
	k.sub(hi, lo)
	k.mul(count, t.size)
	return lo, hi, !k.over
}

// PackSize is the number of packed bytes of count elements (MPI_Pack_size and
// MPI_Pack_external_size, MPI-4.0 §5.2 and §5.3): not a bound, but the number.
func (t *Type) PackSize(count int) (int, error) {
	const c = call("PackSize")
	if err := c.count(1, "count", count); err != nil {
		return 0, err
	}
	var k checked
	n := k.mul(count, t.Size())
	if k.over {
		return 0, c.badValue(1, "count", count, ErrTooLarge)
	}
	return n, nil
}

// Range reports whether count elements of a committed type are one range of
// memory in the order in which they are sent, and which: n bytes from the origin
// plus off on. It is the one answer to whether a message can be sent from, or
// received into, memory without packing.
func (t *Type) Range(count int) (off, n int, ok bool) {
	p := t.prog.Load()
	switch {
	case p == nil || count < 0:
		return 0, 0, false
	case p.root == nil || count == 0:
		return 0, 0, true
	case p.root.op != codeBlock:
		return 0, 0, false
	case count > 1 && t.ub-t.lb != p.root.size:
		return 0, 0, false
	}
	var k checked
	n = k.mul(count, p.root.size)
	return t.at, n, !k.over
}

// Dense reports whether any number of elements of a committed type is one range of
// memory, see Range.
func (t *Type) Dense() bool {
	_, _, ok := t.Range(2)
	return ok
}

// Commit prepares the type for communication (MPI_Type_commit, MPI-4.0 §5.1.9). It
// is local. Committing a type again does nothing. Predefined types, those of
// TypeOf and of Decode, and duplicates of committed types are committed already.
func (t *Type) Commit() error {
	if t == nil {
		return call("Commit").bad(0, "t", ErrNilType)
	}
	t.commit()
	return nil
}

// commit compiles the typemap. Two callers at once may both do so; one result
// stays.
func (t *Type) commit() {
	if t.prog.Load() == nil {
		t.prog.CompareAndSwap(nil, compileProgram(t.place))
	}
}

// Committed reports whether the type can be used in communication.
func (t *Type) Committed() bool { return t != nil && t.prog.Load() != nil }

// newType finishes a constructor: its error is that of a number that was too
// large, blamed on the argument at pos.
func (k *checked) newType(c call, pos int, arg string, p place, b bounds, from *args) (*Type, error) {
	if p.node != nil {
		k.add(p.at, p.lo)
		k.add(p.at, p.hi)
	} else {
		p.at = 0
	}
	k.sub(b.ub, b.lb)
	if err := k.err(); err != nil {
		return nil, c.bad(pos, arg, err)
	}
	return &Type{place: p, bounds: b, from: from}, nil
}
