package mpi

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Views are parts of slices as Bufs, each one element of a committed type. A view that does
// not lie in its slice is a Buf that every operation refuses, with ErrBuffer, ErrArg or
// ErrCount and the name of the argument.

// Strided is count blocks of blocklen elements of s. Blocks begin stride elements apart,
// the first one at s[0]: a column of a matrix, say. Its type is that of TypeVector. Shapes
// that have been used lately are kept, so that a view of such a one costs little. Local.
func Strided[T Scalar](s []T, count, blocklen, stride int) Buf {
	const call = "Strided"
	if err := checkStrided(call, len(s), count, blocklen, stride); err != nil {
		return badBuf(err)
	}
	key := viewKey{kind: elementKind[T](), shape: [maxView]int{count, blocklen, stride}}
	d, err := views.get(call, key, func() (*datatype.Type, error) { return datatype.Vector(count, blocklen, stride, datatype.Of(key.kind)) })
	if err != nil {
		return badBuf(err)
	}
	return Buf{mem: bytesOf(s), t: d, n: 1}
}

func checkStrided(call string, n, count, blocklen, stride int) error {
	switch {
	case count < 0:
		return viewError(call, 2, "count", -1, count, datatype.ErrNegative, "")
	case blocklen < 0:
		return viewError(call, 3, "blocklen", -1, blocklen, datatype.ErrNegative, "")
	case count == 0 || blocklen == 0:
		return nil
	case blocklen > n:
		return viewError(call, 3, "blocklen", -1, blocklen, errOutsideSlice, fmt.Sprintf("s has %d elements", n))
	case count > 1 && stride < 0:
		return viewError(call, 4, "stride", -1, stride, errOutsideSlice, fmt.Sprintf("the second block would begin at element %d: Indexed takes blocks in any order", stride))
	case count > 1 && stride > 0 && count-1 > (n-blocklen)/stride:
		return viewError(call, 4, "stride", -1, stride, errOutsideSlice, fmt.Sprintf("s has %d elements, so that %d blocks of %d fit", n, (n-blocklen)/stride+1, blocklen))
	}
	return nil
}

// Subarray is a part of an array of sizes elements that lies in s in the order of C, the
// last dimension's neighbours side by side: subsizes elements from starts on, in each
// dimension. s may be longer than the array. The part's type is that of TypeSubarray for
// starts of 0, and displacement 0 lies at the part's first element. Shapes of up to four
// dimensions that have been used lately are kept, so that a view of such a one costs
// little. Local.
func Subarray[T Scalar](s []T, sizes, subsizes, starts []int) Buf {
	const call = "Subarray"
	first, err := checkSubarray(call, len(s), sizes, subsizes, starts)
	if err != nil {
		return badBuf(err)
	}
	key := viewKey{kind: elementKind[T](), dims: len(sizes)}
	build := func() (*datatype.Type, error) {
		return datatype.Subarray(sizes, subsizes, make([]int, len(sizes)), datatype.OrderC, datatype.Of(key.kind))
	}
	var d *Datatype
	if 2*len(sizes) <= maxView {
		copy(key.shape[copy(key.shape[:], sizes):], subsizes)
		d, err = views.get(call, key, build)
	} else {
		d, err = viewOf(call, key.kind, build)
	}
	if err != nil {
		return badBuf(err)
	}
	return Buf{mem: bytesOf(s), t: d, n: 1, origin: first * sizeOf[T]()}
}

// checkSubarray returns the place of the part's first element in a slice of n.
func checkSubarray(call string, n int, sizes, subsizes, starts []int) (first int, err error) {
	switch dims := len(sizes); {
	case dims == 0:
		return 0, viewArg(call, 2, "sizes", datatype.ErrValue, "an array has at least one dimension")
	case len(subsizes) != dims:
		return 0, viewArg(call, 3, "subsizes", datatype.ErrLengths, fmt.Sprintf("it has %d items, sizes has %d", len(subsizes), dims))
	case len(starts) != dims:
		return 0, viewArg(call, 4, "starts", datatype.ErrLengths, fmt.Sprintf("it has %d items, sizes has %d", len(starts), dims))
	}
	total := uint(1)
	for i, size := range sizes {
		switch {
		case size < 1:
			return 0, viewError(call, 2, "sizes", i, size, datatype.ErrValue, "a dimension has at least one element")
		case subsizes[i] < 1 || subsizes[i] > size:
			return 0, viewError(call, 3, "subsizes", i, subsizes[i], datatype.ErrOutside, fmt.Sprintf("give 1 to %d", size))
		case starts[i] < 0 || starts[i] > size-subsizes[i]:
			return 0, viewError(call, 4, "starts", i, starts[i], datatype.ErrOutside, fmt.Sprintf("give 0 to %d", size-subsizes[i]))
		}
		over, all := bits.Mul(total, uint(size))
		if over != 0 || all > uint(n) {
			return 0, viewError(call, 2, "sizes", i, size, errOutsideSlice, fmt.Sprintf("s has %d elements, an array of %v has more", n, sizes))
		}
		total, first = all, first*size+starts[i]
	}
	return first, nil
}

// Indexed is a list of blocks of s: lens[i] elements from s[offs[i]] on, which are sent in
// the order of the list. Its type is that of TypeIndexed, made in each call: keep the Buf
// if the same blocks are used again. The lists are copied. Local.
func Indexed[T Scalar](s []T, lens, offs []int) Buf {
	const call = "Indexed"
	if err := checkIndexed(call, len(s), lens, offs); err != nil {
		return badBuf(err)
	}
	k := elementKind[T]()
	d, err := viewOf(call, k, func() (*datatype.Type, error) { return datatype.Indexed(lens, offs, datatype.Of(k)) })
	if err != nil {
		return badBuf(err)
	}
	return Buf{mem: bytesOf(s), t: d, n: 1}
}

func checkIndexed(call string, n int, lens, offs []int) error {
	if len(offs) != len(lens) {
		return viewArg(call, 3, "offs", datatype.ErrLengths, fmt.Sprintf("it has %d items, lens has %d", len(offs), len(lens)))
	}
	for i, l := range lens {
		switch off := offs[i]; {
		case l < 0:
			return viewError(call, 2, "lens", i, l, datatype.ErrNegative, "")
		case off < 0 || off > n:
			return viewError(call, 3, "offs", i, off, errOutsideSlice, fmt.Sprintf("s has %d elements", n))
		case l > n-off:
			return viewError(call, 2, "lens", i, l, errOutsideSlice, fmt.Sprintf("s has %d elements from %d on", n-off, off))
		}
	}
	return nil
}

var errOutsideSlice = errors.New("it is outside of s")

func viewArg(call string, pos int, arg string, why error, hint string) error {
	return typeFailure(call, &ArgError{Arg: arg, Pos: pos, Item: -1, Err: why, Hint: hint})
}

func viewError(call string, pos int, arg string, item, value int, why error, hint string) error {
	return typeFailure(call, &ArgError{Arg: arg, Pos: pos, Item: item, Value: value, HasValue: true, Err: why, Hint: hint})
}

// elementKind is the kind of T's memory, which has one number in both packages.
func elementKind[T Scalar]() datatype.Kind { return datatype.Kind(kindOf[T]()) }

// viewOf is the committed type of a view of elements of kind k.
func viewOf(call string, k datatype.Kind, build func() (*datatype.Type, error)) (*Datatype, error) {
	t, err := build()
	if err != nil {
		if arg, ok := errors.AsType[*ArgError](err); ok {
			arg.Pos++ // behind s
		}
		return nil, typeFailure(call, err)
	}
	if err := t.Commit(); err != nil {
		return nil, typeFailure(call, err)
	}
	return &Datatype{t: t, parts: []*Datatype{kinds[k]}, shared: true}, nil
}
