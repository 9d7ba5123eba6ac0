package capi

import "github.com/weft-mpi/weft/mpi"

// Cartesian topologies (MPI-5.0 §8.5).

func topoTest(a *Args) error {
	kind, err := a.comm(0).Topology()
	if err == nil {
		a.setInt(1, int(kind))
	}
	return err
}

func dimsCreate(a *Args) error {
	n := a.int(1)
	dims, err := a.list(2, n)
	if err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	if dims, err = mpi.DimsCreate(a.int(0), dims...); err != nil {
		return err
	}
	return a.setList(2, dims, n)
}

// grid is a grid of arguments from i on: dimensions, their sizes and whether they are
// periodic. The sizes that mpi.CartOptions leave to the library are wrong in C.
func (a *Args) grid(i int) (o mpi.CartOptions, err error) {
	n := a.int(i)
	if n < 0 {
		return o, fail(mpi.ErrDims, "a grid of %d dimensions", n)
	}
	if o.Dims, err = a.list(i+1, n); err == nil {
		_, err = a.list(i+2, n)
	}
	for k, size := range o.Dims {
		if size <= 0 {
			return o, fail(mpi.ErrDims, "dimension %d has the size %d: it has 1 or more", k, size)
		}
	}
	o.Periodic = a.bools(i+2, n)
	return o, err
}

func cartCreate(a *Args) error {
	o, err := a.grid(1)
	if err != nil {
		return err
	}
	o.Reorder = a.flag(4)
	c, err := a.comm(0).CartCreate(o)
	return a.madeComm(5, c, err, a.handlerOf(0))
}

func cartMap(a *Args) error {
	o, err := a.grid(1)
	if err != nil {
		return err
	}
	rank, err := a.comm(0).CartMap(o)
	if err == nil {
		a.setInt(4, rank)
	}
	return err
}

func cartdimGet(a *Args) error {
	g, err := a.comm(0).Cart()
	if err == nil {
		a.setInt(1, len(g.Dims))
	}
	return err
}

func cartGet(a *Args) error {
	g, err := a.comm(0).Cart()
	if err != nil {
		return err
	}
	periods := make([]int, len(g.Periodic))
	for k, is := range g.Periodic {
		if is {
			periods[k] = 1
		}
	}
	for k, list := range [][]int{g.Dims, periods, g.Coords} {
		if err := a.setList(2+k, list, a.int(1)); err != nil {
			return err
		}
	}
	return nil
}

// numbers is a number for each dimension of the grid that argument 0 has, from argument 1.
func (a *Args) numbers() ([]int, error) {
	g, err := a.comm(0).Cart()
	if err != nil {
		return nil, err
	}
	return a.list(1, len(g.Dims))
}

func cartRank(a *Args) error {
	coords, err := a.numbers()
	if err != nil {
		return err
	}
	rank, err := a.comm(0).CartRank(coords...)
	if err == nil {
		a.setInt(2, rank)
	}
	return err
}

func cartCoords(a *Args) error {
	coords, err := a.comm(0).CartCoords(a.int(1))
	if err != nil {
		return err
	}
	return a.setList(3, coords, a.int(2))
}

func cartShift(a *Args) error {
	source, dest, err := a.comm(0).CartShift(a.int(1), a.int(2))
	if err == nil {
		a.setInt(3, source)
		a.setInt(4, dest)
	}
	return err
}

func cartSub(a *Args) error {
	remain, err := a.numbers()
	if err != nil {
		return err
	}
	c, err := a.comm(0).CartSub(a.bools(1, len(remain))...)
	return a.madeComm(2, c, err, a.handlerOf(0))
}
