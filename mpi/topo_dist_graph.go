package mpi

import (
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/internal/topo"
)

// DistGraph is what a rank has of a distributed graph: the edges that come to it and those
// that leave it. A rank may be there several times, or be its own neighbor.
type DistGraph struct {
	// Sources are the ranks that edges come from, Dests those that they go to.
	Sources, Dests []int
	// SourceWeights and DestWeights are a weight for each edge, 0 or more: how much goes
	// along it, for Reorder. All ranks give weights, or none does. Both are nil for a graph
	// without weights. A rank without edges gives an empty list, MPI_WEIGHTS_EMPTY.
	SourceWeights, DestWeights []int
	// Reorder allows ranks to be numbered such that neighbors are near each other.
	Reorder bool
	// Info are hints for the new communicator, as SetInfo gives them.
	Info *Info
}

// DistGraphAdjacent makes a communicator whose ranks are the nodes of a graph
// (MPI_Dist_graph_create_adjacent, MPI-4.0 §8.5.4). Every rank calls it with its own edges,
// in the same order among the communicator's collective calls. An edge is given at both
// ends, with the same weight, which the call does not check. The order of edges is that of
// the blocks of neighborhood calls: the edges from one rank to another are matched in it.
//
// With Reorder all ranks gather the whole graph, and the processes are numbered anew, as
// CartCreate says. The graph does not move: rank r of the new communicator has the edges
// that rank r of this one has given, whichever process it is.
//
// The new communicator has the context and the error handler of this one, and no attributes.
// Its duplicates have the topology too. A wrong argument at one rank makes the call fail at
// all, with ErrRank for a rank that there is not, ProcNull among them, ErrArg for weights
// that are negative or not one for each edge, and for other numbers of edges to oneself
// among Sources and Dests, ErrInfoValue where SetInfo would refuse the hints, and
// ErrNotSame if ranks give different Reorder or only some give weights. On an
// intercommunicator it fails with ErrComm. Non-local.
func (c *Comm) DistGraphAdjacent(g DistGraph) (*Comm, error) {
	const call = "Comm.DistGraphAdjacent"
	if err := c.mayArrange(call); err != nil {
		return nil, err
	}
	weighted := g.SourceWeights != nil || g.DestWeights != nil
	return c.arrangeGraph(call, g.Info, g.Reorder, g.check(c, call, weighted)).distributed(&g, weighted)
}

// arrangeGraph begins a distributed graph; wrong is what is wrong with its edges, or nil.
func (c *Comm) arrangeGraph(call string, info *Info, reorder bool, wrong error) *arrangement {
	k := c.arrange(call, "Reorder, and all with weights or none", reorder)
	hints, err := hintsOf(call, info)
	if err == nil {
		k.hints, err = *hints, wrong
	}
	k.spec.Failed = err
	return k
}

// distributed makes the communicator of a graph whose edges at this rank are g's, or will be
// when the ranks have told one another.
func (k *arrangement) distributed(g *DistGraph, weighted bool) (*Comm, error) {
	k.at = func(int) *topology { return g.topology(weighted) }
	k.tells = func() []int {
		return slices.Concat([]int{len(g.Sources)}, g.Sources, g.SourceWeights, g.Dests, g.DestWeights)
	}
	k.edges = func(told [][]int) (edges []topo.Edge) {
		k.at = func(position int) *topology { return distGraphOf(told[position], weighted).topology(weighted) }
		for r, words := range told {
			of := distGraphOf(words, weighted)
			for i, to := range of.Dests {
				e := topo.Edge{From: r, To: to, Weight: 1}
				if weighted {
					e.Weight = of.DestWeights[i]
				}
				edges = append(edges, e)
			}
		}
		return edges
	}
	return k.make(weighted)
}

// distGraphOf is the graph that a rank tells.
func distGraphOf(words []int, weighted bool) *DistGraph {
	sources, words, lists := words[0], words[1:], 1
	if weighted {
		lists = 2
	}
	in, out := words[:lists*sources], words[lists*sources:]
	dests := len(out) / lists
	return &DistGraph{Sources: in[:sources], SourceWeights: in[sources:], Dests: out[:dests], DestWeights: out[dests:]}
}

// topology is that of the rank which has these edges.
func (g *DistGraph) topology(weighted bool) *topology {
	d := g.copied(weighted)
	return &topology{kind: TopologyDistGraph, dist: d, sources: d.Sources, dests: d.Dests}
}

// copied is the edges in memory of their own. Of a graph with weights no list of them is
// nil.
func (g *DistGraph) copied(weighted bool) DistGraph {
	d := DistGraph{Sources: slices.Clone(g.Sources), Dests: slices.Clone(g.Dests)}
	if weighted {
		d.SourceWeights, d.DestWeights = append([]int{}, g.SourceWeights...), append([]int{}, g.DestWeights...)
	}
	return d
}

func (g *DistGraph) check(c *Comm, call string, weighted bool) error {
	if err := c.checkEdges(call, "Sources", g.Sources, "SourceWeights", g.SourceWeights, weighted); err != nil {
		return err
	}
	if err := c.checkEdges(call, "Dests", g.Dests, "DestWeights", g.DestWeights, weighted); err != nil {
		return err
	}
	self := 0
	for _, r := range g.Sources {
		if r == c.rank {
			self++
		}
	}
	for _, r := range g.Dests {
		if r == c.rank {
			self--
		}
	}
	if self != 0 {
		return badArg(call, ErrArg, "this rank, %d, is not as often in Sources as in Dests: an edge to oneself is in both", c.rank)
	}
	return nil
}

// checkEdges checks the ranks at ends of edges, and the edges' weights.
func (c *Comm) checkEdges(call, what string, ranks []int, whose string, weights []int, weighted bool) error {
	for i, r := range ranks {
		if uint(r) >= uint(c.size) {
			return notIn(call, ErrRank, fmt.Sprintf("%s[%d]", what, i), r, c.called(), c.size)
		}
	}
	if weighted && len(weights) != len(ranks) {
		return badArg(call, ErrArg, "%d %s for %d edges: give one for each, or nil if no rank gives weights", len(weights), whose, len(ranks))
	}
	for i, w := range weights {
		if w < 0 {
			return badArg(call, ErrArg, "%s[%d] is %d: a weight is 0 or more", whose, i, w)
		}
	}
	return nil
}

// DistGraphEdges are edges of a distributed graph, of any ranks.
type DistGraphEdges struct {
	// Sources are ranks that edges come from, and Degrees how many come from each.
	Sources, Degrees []int
	// Dests are the ranks that they go to: those from Sources[0], then those from
	// Sources[1] and so on.
	Dests []int
	// Weights are those of the edges, 0 or more. All ranks give weights, or none does:
	// then they are nil. A rank without edges gives an empty list, MPI_WEIGHTS_EMPTY.
	Weights []int
	// Reorder allows ranks to be numbered such that neighbors are near each other.
	Reorder bool
	// Info are hints for the new communicator, as SetInfo gives them.
	Info *Info
}

// DistGraphCreate makes a communicator whose ranks are the nodes of a graph
// (MPI_Dist_graph_create, MPI-4.0 §8.5.4). Every rank calls it with some of the edges, of
// whichever ranks, in the same order among the communicator's collective calls. Each edge is
// given once; one that is given twice is there twice. Both ends hear of an edge, and have
// their edges in the order of the ranks that gave them, and of its lists.
//
// Reorder and the new communicator are as DistGraphAdjacent says. A wrong
// argument at one rank makes the call fail at all, with ErrRank for a rank that there is
// not, ProcNull among them, ErrArg for Degrees or Weights that are negative or of another
// length, and for Degrees that do not make the number of Dests, ErrInfoValue where SetInfo
// would refuse the hints, and ErrNotSame if ranks give different Reorder or only some give
// weights. On an intercommunicator it fails with ErrComm. Non-local.
func (c *Comm) DistGraphCreate(g DistGraphEdges) (*Comm, error) {
	const call = "Comm.DistGraphCreate"
	if err := c.mayArrange(call); err != nil {
		return nil, err
	}
	var own DistGraph
	edges, err := g.list(c, call)
	k := c.arrangeGraph(call, g.Info, g.Reorder, err)
	k.swap = func(d *Comm) error { return own.gather(d, edges, g.Weights != nil) }
	return k.distributed(&own, g.Weights != nil)
}

// list checks the edges and returns them one by one.
func (g *DistGraphEdges) list(c *Comm, call string) (edges []topo.Edge, err error) {
	if len(g.Degrees) != len(g.Sources) {
		return nil, badArg(call, ErrArg, "%d Degrees for %d Sources: give one for each", len(g.Degrees), len(g.Sources))
	}
	if err := c.checkEdges(call, "Sources", g.Sources, "", nil, false); err != nil {
		return nil, err
	}
	if err := c.checkEdges(call, "Dests", g.Dests, "Weights", g.Weights, g.Weights != nil); err != nil {
		return nil, err
	}
	for i, degree := range g.Degrees {
		if degree < 0 || degree > len(g.Dests)-len(edges) {
			return nil, badArg(call, ErrArg, "Degrees[%d] is %d, with %d Dests left: each is how many of Dests the edges from that source go to", i, degree, len(g.Dests)-len(edges))
		}
		for range degree {
			e := topo.Edge{From: g.Sources[i], To: g.Dests[len(edges)], Weight: 1}
			if g.Weights != nil {
				e.Weight = g.Weights[len(edges)]
			}
			edges = append(edges, e)
		}
	}
	if len(edges) < len(g.Dests) {
		return nil, badArg(call, ErrArg, "%d Dests, and the Degrees make %d: give just those that edges go to", len(g.Dests), len(edges))
	}
	return edges, nil
}

// gather sends edges to the ranks at both ends, and takes those that have this rank at one,
// in the order of the ranks that gave them.
func (g *DistGraph) gather(d *Comm, edges []topo.Edge, weighted bool) error {
	to, counts, theirs, n := make([][]int, d.size), make([]int, d.size), make([]int, d.size), 0
	for _, e := range edges {
		to[e.From] = append(to[e.From], e.From, e.To, e.Weight)
		if e.To != e.From {
			to[e.To] = append(to[e.To], e.From, e.To, e.Weight)
		}
	}
	for r := range to {
		counts[r] = len(to[r])
	}
	if err := Alltoall(d, counts, theirs); err != nil {
		return err
	}
	for _, count := range theirs {
		n += count
	}
	words := make([]int, n)
	if err := Alltoallv(d, slices.Concat(to...), counts, nil, words, theirs, nil); err != nil {
		return err
	}
	for ; len(words) > 0; words = words[3:] {
		if words[0] == d.rank {
			g.Dests, g.DestWeights = append(g.Dests, words[1]), append(g.DestWeights, words[2])
		}
		if words[1] == d.rank {
			g.Sources, g.SourceWeights = append(g.Sources, words[0]), append(g.SourceWeights, words[2])
		}
	}
	*g = g.copied(weighted)
	return nil
}

// DistGraphNeighbors are the edges of this rank in a distributed graph
// (MPI_Dist_graph_neighbors, MPI-4.0 §8.5.5), as many as the lists are long
// (MPI_Dist_graph_neighbors_count, MPI-4.0 §8.5.5). Weights are nil in a graph that has
// none. The caller owns the result. It fails with ErrTopology without a distributed graph.
// Local.
func (c *Comm) DistGraphNeighbors() (DistGraph, error) {
	t, err := c.topology("Comm.DistGraphNeighbors", TopologyDistGraph, c.Rank())
	if err != nil {
		return DistGraph{}, err
	}
	return t.dist.copied(t.dist.SourceWeights != nil), nil
}
