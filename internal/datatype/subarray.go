package datatype

import (
	"fmt"
)

// Order is the order in which the elements of an array lie in memory. The values are those
// of MPI-5's ABI.
type Order int

const (
	// OrderC has the last dimension's neighbours side by side (MPI_ORDER_C).
	OrderC Order = 12
	// OrderFortran has the first dimension's (MPI_ORDER_FORTRAN).
	OrderFortran Order = 15
)

func (o Order) String() string {
	switch o {
	case OrderC:
		return "C"
	case OrderFortran:
		return "Fortran"
	}
	return fmt.Sprintf("Order(%d)", int(o))
}

// dims visits n dimensions from the one whose neighbours lie side by side to the
// outermost.
func (o Order) dims(n int, visit func(dim int) error) error {
	for i := range n {
		dim := i
		if o == OrderC {
			dim = n - 1 - i
		}
		if err := visit(dim); err != nil {
			return err
		}
	}
	return nil
}

func (c call) order(pos int, o Order) error {
	if o != OrderC && o != OrderFortran {
		return hint(c.badValue(pos, "order", int(o), ErrValue), "give OrderC or OrderFortran")
	}
	return nil
}

// Subarray is a part of an array of sizes elements of t: subsizes elements from
// starts on, in each dimension. Its extent is that of the whole array
// (MPI_Type_create_subarray, MPI-4.0 §5.1.3). Elements come in the array's order.
// The lists are copied.
func Subarray(sizes, subsizes, starts []int, order Order, t *Type) (*Type, error) {
	const c = call("Subarray")
	err := first(c.equallyLong(2, "subsizes", len(subsizes), "sizes", len(sizes)), c.equallyLong(3, "starts", len(starts), "sizes", len(sizes)),
		c.order(4, order), c.oldType(5, t))
	switch {
	case err != nil:
		return nil, err
	case len(sizes) == 0:
		return nil, hint(c.bad(1, "sizes", ErrValue), "an array has at least one dimension")
	}
	for i, size := range sizes {
		switch {
		case size < 1:
			return nil, hint(c.badItemValue(1, "sizes", i, size, ErrValue), "a dimension has at least one element")
		case subsizes[i] < 1 || subsizes[i] > size:
			return nil, hint(c.badItemValue(2, "subsizes", i, subsizes[i], ErrOutside), "give 1 to %d", size)
		case starts[i] < 0 || starts[i] > size-subsizes[i]:
			return nil, hint(c.badItemValue(3, "starts", i, starts[i], ErrOutside), "give 0 to %d", size-subsizes[i])
		}
	}
	var k checked
	p, step := t.place, t.ub-t.lb // step is the distance of neighbours in a dimension
	err = order.dims(len(sizes), func(dim int) error {
		p = k.shifted(k.rep(subsizes[dim], step, p), k.mul(starts[dim], step))
		step = k.mul(step, sizes[dim])
		if err := k.err(); err != nil {
			return c.badItemValue(1, "sizes", dim, sizes[dim], err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ints := list(len(sizes), sizes, subsizes, starts, []int{int(order)})
	return k.newType(c, 1, "sizes", p, bounds{0, step, true, true}, &args{CombinerSubarray, ints, nil, []*Type{t}})
}
