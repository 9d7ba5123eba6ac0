package mpi

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/topo"
)

// TopologyKind is a kind of virtual topology. The values are those of MPI-5's ABI.
type TopologyKind int

const (
	// TopologyCart is a grid, of CartCreate or CartSub (MPI_CART, MPI-4.0 §8.5.5).
	TopologyCart TopologyKind = 211
	// TopologyGraph is a graph that every rank knows, of GraphCreate (MPI_GRAPH, MPI-4.0
	// §8.5.5).
	TopologyGraph TopologyKind = 212
	// TopologyDistGraph is a graph of which each rank knows its own edges, of
	// DistGraphAdjacent or DistGraphCreate (MPI_DIST_GRAPH, MPI-4.0 §8.5.5).
	TopologyDistGraph TopologyKind = 213
)

// String is the kind in words.
func (k TopologyKind) String() string {
	switch k {
	case TopologyCart:
		return "a Cartesian topology"
	case TopologyGraph:
		return "a graph"
	case TopologyDistGraph:
		return "a distributed graph"
	case Undefined:
		return "no topology"
	}
	return fmt.Sprintf("TopologyKind(%d)", int(k))
}

// topology is the virtual topology of a communicator, as this rank knows it. Nothing
// changes it.
type topology struct {
	kind  TopologyKind
	grid  topo.Grid  // of TopologyCart
	graph topo.Graph // of TopologyGraph
	dist  DistGraph  // of TopologyDistGraph

	sources, dests []int // the neighbors of this rank, by slots
}

// near is the ranks that a neighborhood call receives from and sends to, by slots. Where a
// grid ends it is ProcNull. cart reports whether the two slots of a dimension are each
// other's partners.
func (t *topology) near() (sources, dests []int, cart bool) {
	if t == nil {
		return nil, nil, false
	}
	return t.sources, t.dests, t.kind == TopologyCart
}

// Package topo has the same number for no rank.
const _ = uint(ProcNull-topo.None) + uint(topo.None-ProcNull)

// Topology is the kind of the communicator's topology, or Undefined if it has none
// (MPI_Topo_test, MPI-4.0 §8.5.5). A duplicate has that of its parent; what Split, Create,
// Shrink and the like make has none. It has no errors but the general ones. Local.
func (c *Comm) Topology() (TopologyKind, error) {
	if c.lost() {
		return Undefined, c.explain("Comm.Topology", 0, 0, false)
	}
	return c.st.topo.kindOf(), nil
}

func (t *topology) kindOf() TopologyKind {
	if t == nil {
		return Undefined
	}
	return t.kind
}

// Neighbors are the ranks that a neighborhood call of this rank sends to, in the order of
// its blocks: ProcNull where a grid has no neighbor, nothing without a topology. Of a grid
// they are for each dimension that in the negative direction and that in the positive one.
// The caller owns the result. Local.
func (c *Comm) Neighbors() []int {
	if c == nil || c.st == nil {
		return nil
	}
	_, dests, _ := c.st.topo.near()
	return slices.Clone(dests)
}

// topologyMakers are the calls that make each kind.
var topologyMakers = map[TopologyKind]string{TopologyCart: "CartCreate or CartSub", TopologyGraph: "GraphCreate", TopologyDistGraph: "DistGraphAdjacent or DistGraphCreate"}

// topology is the communicator's, for a call that is about one of a kind and about a rank.
func (c *Comm) topology(call string, kind TopologyKind, rank int) (*topology, error) {
	if c.lost() {
		return nil, c.explain(call, 0, 0, false)
	}
	t := c.st.topo
	if is := t.kindOf(); is != kind {
		return nil, c.raise(badArg(call, ErrTopology, "%s has %v, and the call is for %v: take what %s returns", c.called(), is, kind, topologyMakers[kind]))
	}
	if uint(rank) >= uint(c.size) {
		return nil, c.raise(notIn(call, ErrRank, "rank", rank, c.called(), c.size))
	}
	return t, nil
}

// mayArrange returns the error of a call for a topology on a communicator that can't be
// given one.
func (c *Comm) mayArrange(call string) error {
	switch {
	case c.gone():
		return c.explain(call, 0, 0, false)
	case c.TestInter():
		return c.raise(badArg(call, ErrComm, "%s has two groups, and a topology is one of a single group: take what Merge makes of it", c.called()))
	}
	return nil
}

// arrangement is what this rank brings to a communicator with a topology. Rank r of the new
// communicator has position r of the topology.
type arrangement struct {
	creation
	same    string // the arguments that all ranks give alike
	n       int    // positions: ranks that are left over get no communicator
	reorder bool
	at      func(position int) *topology

	// For reorder, the edges of all positions, and the grid whose these are, or nil. Of a
	// distributed graph they are what each rank has told.
	grid  *topo.Grid
	edges func(told [][]int) []topo.Edge
	tells func() []int

	swap func(d *Comm) error // nil, or has the ranks tell one another their edges
}

// arrange begins one. The caller has found that the communicator mayArrange.
func (c *Comm) arrange(call, same string, reorder bool) *arrangement {
	return &arrangement{creation: creation{c: c, call: call, spec: comm.Spec{Split: true, Key: c.rank}}, same: same, n: c.size, reorder: reorder}
}

// make makes the communicator. args are what all ranks give alike.
//
// One of all ranks is made first: by that all find out whether their arguments are right
// and the same. Over it they tell one another what they need to know. If there is a better
// order, or a rank is left over, another one takes its place.
func (k *arrangement) make(args ...any) (*Comm, error) {
	c := k.c
	h := fnv.New64a()
	fmt.Fprint(h, k.call, k.reorder, args)
	k.spec.Kind = h.Sum64() | 1 // 0 stands for none
	if !k.reorder && c.rank >= k.n {
		k.spec.Color = Undefined
	}
	frames.Callers(&k.spec.Place)
	core, err := c.core.Create(c.ctx, k.spec)
	if core != nil && (k.reorder || k.swap != nil) {
		core, err = k.settle(core)
	}
	if errors.As(err, new(*comm.KindsError)) {
		err = badArg(k.call, ErrNotSame, "the ranks give different arguments, or make different calls: all make this one, with the same %s", k.same)
	}
	if e, ok := err.(*Error); ok { // maybe of a call that the program has not made
		return nil, c.raise(&Error{Class: e.Class, Call: k.call, Err: e.Err})
	}
	if core != nil {
		k.topo = k.at(core.Rank)
	}
	return k.end(core, err)
}

// settle has all ranks tell one another what they know, and returns the communicator of
// all, or the one that takes its place.
func (k *arrangement) settle(all *comm.Comm) (core *comm.Comm, err error) {
	defer func() {
		if core != all {
			all.Free()
		}
	}()
	d := newComm(k.c.w, all, k.c.ctx)
	if k.swap != nil {
		if err := k.swap(d); err != nil {
			return nil, err
		}
	}
	if !k.reorder {
		return all, nil
	}
	order, err := k.order(d)
	if err != nil {
		return nil, err
	}
	if k.n == d.size && slices.IsSorted(order) { // nobody moves
		return all, nil
	}
	k.spec.Key = order[d.rank]
	if k.spec.Key >= k.n {
		k.spec.Color = Undefined
	}
	return all.Create(k.c.ctx, k.spec)
}
