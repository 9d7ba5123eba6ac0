package mpi

import (
	"slices"

	"github.com/weft-mpi/weft/internal/topo"
)

// GraphOptions describe a graph that every rank knows. It has as many nodes as Index has
// numbers, the ranks from 0 on.
type GraphOptions struct {
	// Index is how many neighbors the nodes up to and with each one have together.
	Index []int
	// Edges are the neighbors of node 0, then those of node 1 and so on. A node may be
	// its own neighbor, or one several times.
	Edges []int
	// Reorder allows ranks to be numbered such that neighbors are near each other.
	Reorder bool
}

// graph is the graph on n ranks.
func (o GraphOptions) graph(call string, n int) (topo.Graph, error) {
	g := topo.Graph{Index: slices.Clone(o.Index), Edges: slices.Clone(o.Edges)}
	if err := g.Check(n); err != nil {
		return topo.Graph{}, &Error{Class: ErrArg, Call: call, Err: err}
	}
	return g, nil
}

// GraphCreate makes a communicator whose ranks are the nodes of a graph (MPI_Graph_create,
// MPI-4.0 §8.5.3). Every rank calls it with the whole graph, the same everywhere, in the
// same order among the communicator's collective calls. Ranks without a node are the last
// ones, and get nil. The graph need not be symmetric, but neighborhood calls on it want
// that. For large graphs DistGraphAdjacent is better.
//
// Reorder and the new communicator are as CartCreate says. A wrong
// argument at one rank makes the call fail at all, with ErrArg for more nodes than ranks,
// Index that falls or does not end with the number of Edges, and a neighbor that is no node;
// with ErrNotSame if ranks give different graphs. On an intercommunicator it fails with
// ErrComm. Non-local.
func (c *Comm) GraphCreate(o GraphOptions) (*Comm, error) {
	const call = "Comm.GraphCreate"
	if err := c.mayArrange(call); err != nil {
		return nil, err
	}
	k := c.arrange(call, "Index, Edges and Reorder", o.Reorder)
	g, err := o.graph(call, c.size)
	k.spec.Failed, k.n = err, g.Size()
	k.edges = func([][]int) []topo.Edge { return g.List() }
	k.at = func(position int) *topology {
		near := g.Neighbors(position)
		return &topology{kind: TopologyGraph, graph: g, sources: near, dests: near}
	}
	return k.make(g.Index, g.Edges)
}

// Graph is the graph of the communicator, as GraphOptions have it (MPI_Graph_get, MPI-4.0
// §8.5.5). It has len(index) nodes and len(edges) edges (MPI_Graphdims_get, MPI-4.0 §8.5.5).
// The caller owns the result. It fails with ErrTopology without such a graph. Local.
func (c *Comm) Graph() (index, edges []int, err error) {
	t, err := c.topology("Comm.Graph", TopologyGraph, c.Rank())
	if err != nil {
		return nil, nil, err
	}
	return slices.Clone(t.graph.Index), slices.Clone(t.graph.Edges), nil
}

// GraphNeighbors are the neighbors of a rank in the graph (MPI_Graph_neighbors, MPI-4.0
// §8.5.5), as many as the result is long (MPI_Graph_neighbors_count, MPI-4.0 §8.5.5). The
// caller owns the result. It fails with ErrTopology without a graph of GraphCreate, and
// ErrRank for a rank that there is not. Local.
func (c *Comm) GraphNeighbors(rank int) ([]int, error) {
	t, err := c.topology("Comm.GraphNeighbors", TopologyGraph, rank)
	if err != nil {
		return nil, err
	}
	return slices.Clone(t.graph.Neighbors(rank)), nil
}

// GraphMap is the rank that this one would have in a graph that GraphCreate reorders if only
// the hosts counted, or Undefined if it would be left over (MPI_Graph_map, MPI-4.0 §8.5.8).
// It does not look at Reorder. All ranks that call it with the same graph get a rank of
// their own. It fails as GraphCreate, at this rank alone: with ErrArg or ErrComm. Local.
func (c *Comm) GraphMap(o GraphOptions) (int, error) {
	const call = "Comm.GraphMap"
	if err := c.mayArrange(call); err != nil {
		return Undefined, err
	}
	g, err := o.graph(call, c.size)
	if err != nil {
		return Undefined, c.raise(err)
	}
	return c.mapped(g.List(), nil, g.Size()), nil
}
