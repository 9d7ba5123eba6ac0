package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/internal/topo"
)

// DimsCreate divides n ranks among the dimensions of a grid (MPI_Dims_create, MPI-4.0
// §8.5.2). It returns dims with its zeros replaced, such that all together make n. Those
// that are filled in are as close to each other as they can be: the largest is as small as
// possible, then the next, and they do not rise. Without zeros dims has to make n already.
// It fails with ErrDims for n below 1, for a negative dimension, and for dimensions that do
// not divide n. Local.
func DimsCreate(n int, dims ...int) ([]int, error) {
	filled, err := topo.Dims(n, dims)
	if err != nil {
		return nil, raiseSelf(&Error{Class: ErrDims, Call: "DimsCreate", Err: err})
	}
	return filled, nil
}

// CartOptions describe a grid of ranks.
type CartOptions struct {
	// Dims are how many ranks there are in each direction. Zeros are filled in as by
	// DimsCreate, over all ranks. Without dimensions there is one rank.
	Dims []int
	// Periodic are the dimensions whose last rank has the first one as neighbor; nil
	// stands for none.
	Periodic []bool
	// Reorder allows ranks to be numbered such that neighbors are near each other.
	Reorder bool
}

// grid is the grid on n ranks.
func (o CartOptions) grid(call string, n int) (topo.Grid, error) {
	g := topo.Grid{Dims: slices.Clone(o.Dims), Periodic: slices.Clone(o.Periodic)}
	if o.Periodic == nil {
		g.Periodic = make([]bool, len(o.Dims))
	}
	var err error
	if slices.Contains(g.Dims, 0) {
		g.Dims, err = topo.Dims(n, o.Dims)
	}
	if err == nil {
		err = g.Check(n)
	}
	if err != nil {
		return topo.Grid{}, &Error{Class: ErrDims, Call: call, Err: err}
	}
	return g, nil
}

// CartCreate makes a communicator whose ranks are a grid (MPI_Cart_create, MPI-4.0 §8.5.1).
// Ranks are numbered along the last dimension first. Every rank calls it with the same
// options, in the same order among the communicator's collective calls. Ranks that the grid
// has no place for are its last ones, and get nil.
//
// With Reorder the ranks tell one another where they are, host and processor, and each
// block of the grid is laid on a host, and within it on a package and so on, if that makes
// what neighbors are apart less by 5 % at least; else nobody moves. A rank of the new
// communicator has the place in the grid that belongs to its number there, so a rank that
// has moved has other coordinates than without Reorder.
//
// The new communicator has the context and the error handler of this one, and neither
// attributes nor hints. Its duplicates have the topology too. A wrong argument at one rank
// makes the call fail at all, with ErrDims for dimensions that are negative, do not divide
// the ranks or need more, and for Periodic of another length, and ErrNotSame if ranks give
// different options. On an intercommunicator it fails with ErrComm. Non-local.
func (c *Comm) CartCreate(o CartOptions) (*Comm, error) {
	const call = "Comm.CartCreate"
	if err := c.mayArrange(call); err != nil {
		return nil, err
	}
	k := c.arrange(call, "Dims, Periodic and Reorder", o.Reorder)
	g, err := o.grid(call, c.size)
	k.spec.Failed, k.n, k.grid = err, g.Size(), &g
	k.edges = func([][]int) []topo.Edge { return g.Edges() }
	k.at = func(position int) *topology { return cartOf(g, position) }
	return k.make(g.Dims, g.Periodic)
}

// cartOf is the topology of the rank at a position of a grid.
func cartOf(g topo.Grid, position int) *topology {
	near := g.Neighbors(position)
	return &topology{kind: TopologyCart, grid: g, sources: near, dests: near}
}

// CartInfo is a grid and where this rank is in it.
type CartInfo struct {
	Dims     []int
	Periodic []bool
	Coords   []int
}

// Cart is the grid of the communicator (MPI_Cart_get, MPI-4.0 §8.5.5), which has as many
// dimensions as the lists have numbers (MPI_Cartdim_get, MPI-4.0 §8.5.5). The caller owns
// the result. It fails with ErrTopology without a Cartesian topology. Local.
func (c *Comm) Cart() (CartInfo, error) {
	t, err := c.topology("Comm.Cart", TopologyCart, c.Rank())
	if err != nil {
		return CartInfo{}, err
	}
	return CartInfo{Dims: slices.Clone(t.grid.Dims), Periodic: slices.Clone(t.grid.Periodic), Coords: t.grid.Coords(c.rank)}, nil
}

// CartRank is the rank at coordinates (MPI_Cart_rank, MPI-4.0 §8.5.5). Those of a periodic
// dimension may be outside of it and are taken around. It fails with ErrTopology without a
// Cartesian topology, and ErrArg for coordinates outside of the grid, or not one for each
// dimension. Local.
func (c *Comm) CartRank(coords ...int) (int, error) {
	const call = "Comm.CartRank"
	t, err := c.topology(call, TopologyCart, c.Rank())
	if err != nil {
		return Undefined, err
	}
	rank, err := t.grid.Rank(coords)
	if err != nil {
		return Undefined, c.raise(&Error{Class: ErrArg, Call: call, Err: err})
	}
	return rank, nil
}

// CartCoords are the coordinates of a rank (MPI_Cart_coords, MPI-4.0 §8.5.5). It fails with
// ErrTopology without a Cartesian topology, and ErrRank for a rank that there is not. Local.
func (c *Comm) CartCoords(rank int) ([]int, error) {
	t, err := c.topology("Comm.CartCoords", TopologyCart, rank)
	if err != nil {
		return nil, err
	}
	return t.grid.Coords(rank), nil
}

// CartShift is for a shift of data by disp along a dimension (MPI_Cart_shift, MPI-4.0
// §8.5.6): the rank that this one receives from, and the one that it sends to. Either is
// ProcNull where the grid ends. disp may be negative, or more than the dimension. It fails
// with ErrTopology without a Cartesian topology, and ErrDims for a dimension that there is
// not. Local.
func (c *Comm) CartShift(dim, disp int) (source, dest int, err error) {
	const call = "Comm.CartShift"
	t, err := c.topology(call, TopologyCart, c.Rank())
	if err == nil && uint(dim) >= uint(len(t.grid.Dims)) {
		err = c.raise(badArg(call, ErrDims, "dimension %d of a grid that has %d, numbered from 0", dim, len(t.grid.Dims)))
	}
	if err != nil {
		return ProcNull, ProcNull, err
	}
	source, dest = t.grid.Shift(c.rank, dim, disp)
	return source, dest, nil
}

// CartSub cuts the grid into grids of fewer dimensions and makes a communicator of each
// (MPI_Cart_sub, MPI-4.0 §8.5.7). keep says of each dimension whether the new ones have it;
// ranks that differ only in the others are in different ones. Every rank calls it with the
// same keep, in the same order among the communicator's collective calls. The new
// communicator is as CartCreate says. It fails with ErrTopology without a Cartesian topology, with ErrDims at all ranks if one has not a value for each dimension,
// and with ErrNotSame if ranks give different ones. Non-local.
func (c *Comm) CartSub(keep ...bool) (*Comm, error) {
	const call = "Comm.CartSub"
	if err := c.mayArrange(call); err != nil {
		return nil, err
	}
	t, err := c.topology(call, TopologyCart, c.rank)
	if err != nil {
		return nil, err
	}
	k := c.arrange(call, "keep", false)
	if dims := len(t.grid.Dims); len(keep) == dims {
		var sub topo.Grid
		sub, k.spec.Color, k.spec.Key = t.grid.Sub(c.rank, keep)
		k.at = func(position int) *topology { return cartOf(sub, position) }
	} else {
		k.spec.Failed = badArg(call, ErrDims, "%d values of keep for a grid of %d dimensions: give one for each", len(keep), dims)
	}
	return k.make(keep)
}

// CartMap is the rank that this one would have in a grid that CartCreate reorders if only
// the hosts counted, or Undefined if it would be left over (MPI_Cart_map, MPI-4.0 §8.5.8).
// It does not look at Reorder. All ranks that call it with the same grid get a rank of
// their own. It fails as CartCreate, at this rank alone: with ErrDims or ErrComm. Local.
func (c *Comm) CartMap(o CartOptions) (int, error) {
	const call = "Comm.CartMap"
	if err := c.mayArrange(call); err != nil {
		return Undefined, err
	}
	g, err := o.grid(call, c.size)
	if err != nil {
		return Undefined, c.raise(err)
	}
	return c.mapped(g.Edges(), &g, g.Size()), nil
}
