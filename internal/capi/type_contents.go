package capi

import (
	"slices"

	"github.com/weft-mpi/weft/mpi"
)

// contents are the arguments of the call that has made a type (MPI-5.0 §5.1.13).
type contents struct {
	combiner mpi.Combiner
	ints     []int
	addrs    []int
	large    []int // counts and displacements of a function with _c
	types    []*layout
}

func (l *layout) contents() (c contents) {
	if f := l.fortran; f != nil {
		return contents{combiner: f.combiner, ints: f.ints()}
	}
	if l.predefined != nil { // also those that package mpi has no kind for
		return contents{combiner: mpi.CombinerNamed}
	}
	c.combiner, c.ints, c.addrs, _ = l.from.Contents()
	c.types = l.parts
	dims := 0
	switch c.combiner {
	case mpi.CombinerSubarray:
		dims = c.ints[0]
	case mpi.CombinerDarray:
		dims = c.ints[2]
		for i := 3 + 2*dims; i < 3+3*dims; i++ {
			if c.ints[i] == mpi.DistributeDfltDarg {
				c.ints[i] = defaultDarg
			}
		}
	}
	if !l.large {
		return c
	}
	switch i := c.ints; c.combiner {
	case mpi.CombinerDup:
	case mpi.CombinerSubarray: // dimensions and order stay
		c.ints, c.large = []int{dims, i[1+3*dims]}, i[1:1+3*dims]
	case mpi.CombinerDarray: // sizes do not
		c.ints, c.large = slices.Concat(i[:3], i[3+dims:]), i[3:3+dims]
	default:
		c.ints, c.addrs, c.large = nil, nil, append(i, c.addrs...)
	}
	return c
}

// contentsOf is the contents of the type that argument i is. Large counts have no place in
// the functions without _c.
func (a *Args) contentsOf(i int) (c contents, err error) {
	l, _ := a.part(i)
	if l == nil {
		return c, errDatatype
	}
	c = l.contents()
	if len(c.large) > 0 && a.large == 0 {
		return c, fail(mpi.ErrType, "the type has been made by a function with _c: ask the function with _c how")
	}
	return c, nil
}

func typeGetEnvelope(a *Args) error {
	c, err := a.contentsOf(0)
	if err != nil {
		return err
	}
	lengths := []int{len(c.ints), len(c.addrs), len(c.large), len(c.types)}
	if a.large == 0 {
		lengths = slices.Delete(lengths, 2, 3)
	}
	for i, n := range lengths {
		a.setCount(1+i, n)
	}
	a.setInt(1+len(lengths), int(c.combiner))
	return nil
}

// listRoom is where a list of contents goes: the argument that is the array, and its length.
type listRoom struct{ at, n int }

func typeGetContents(a *Args) error {
	c, err := a.contentsOf(0)
	switch {
	case err != nil:
		return err
	case a.large == 0:
		return a.setContents(&c, listRoom{4, a.int(1)}, listRoom{5, a.int(2)}, listRoom{}, listRoom{6, a.int(3)})
	}
	return a.setContents(&c, listRoom{5, a.count(1)}, listRoom{6, a.count(2)}, listRoom{7, a.count(3)}, listRoom{8, a.count(4)})
}

// setContents writes contents to arrays. Types get new handles, which the program frees,
// but for those that can't be freed.
func (a *Args) setContents(c *contents, ints, addrs, large, handles listRoom) error {
	if c.combiner == mpi.CombinerNamed {
		return fail(mpi.ErrType, "the type is predefined: it has no contents")
	}
	for _, l := range []struct {
		room listRoom
		n    int
		what string
	}{{ints, len(c.ints), "integers"}, {addrs, len(c.addrs), "addresses"}, {large, len(c.large), "large counts"}, {handles, len(c.types), "types"}} {
		switch {
		case l.n > l.room.n:
			return fail(mpi.ErrArg, "the type has %d %s, and there is room for %d", l.n, l.what, l.room.n)
		case l.n > 0 && a.pointer(l.room.at) == nil:
			return errNull
		}
	}
	a.setInts(ints.at, c.ints, len(c.ints))
	copy(array[int](a, addrs.at, len(c.addrs)), c.addrs)
	copy(array[int](a, large.at, len(c.large)), c.large)
	to := array[uint64](a, handles.at, len(c.types))
	for i, l := range c.types {
		h := l.handle
		if h == 0 {
			var err error
			if h, err = addDatatype(l); err != nil {
				return err
			}
		}
		to[i] = uint64(h)
	}
	return nil
}
