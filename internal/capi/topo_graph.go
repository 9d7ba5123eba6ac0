package capi

import "github.com/weft-mpi/weft/mpi"

// Graphs (MPI-5.0 §8.5).

// graph is a graph of arguments 1 to 3: nodes, how many neighbors the nodes up to each one
// have, and all neighbors.
func (a *Args) graph() (o mpi.GraphOptions, err error) {
	if o.Index, err = a.list(2, a.int(1)); err != nil {
		return o, err
	}
	last := 0
	for node, n := range o.Index {
		if n < last { // then nobody knows how many there are
			return o, fail(mpi.ErrArg, "index[%d] is %d, less than the number before: it counts all neighbors up to those of the node", node, n)
		}
		last = n
	}
	o.Edges, err = a.list(3, last)
	return o, err
}

func graphCreate(a *Args) error {
	o, err := a.graph()
	if err != nil {
		return err
	}
	o.Reorder = a.flag(4)
	c, err := a.comm(0).GraphCreate(o)
	return a.madeComm(5, c, err, a.handlerOf(0))
}

func graphMap(a *Args) error {
	o, err := a.graph()
	if err != nil {
		return err
	}
	rank, err := a.comm(0).GraphMap(o)
	if err == nil {
		a.setInt(4, rank)
	}
	return err
}

func graphdimsGet(a *Args) error {
	index, edges, err := a.comm(0).Graph()
	if err == nil {
		a.setInt(1, len(index))
		a.setInt(2, len(edges))
	}
	return err
}

func graphGet(a *Args) error {
	index, edges, err := a.comm(0).Graph()
	if err == nil {
		err = a.setList(3, index, a.int(1))
	}
	if err == nil {
		err = a.setList(4, edges, a.int(2))
	}
	return err
}

func graphNeighborsCount(a *Args) error {
	near, err := a.comm(0).GraphNeighbors(a.int(1))
	if err == nil {
		a.setInt(2, len(near))
	}
	return err
}

func graphNeighbors(a *Args) error {
	near, err := a.comm(0).GraphNeighbors(a.int(1))
	if err != nil {
		return err
	}
	return a.setList(3, near, a.int(2))
}

// weights is the weights of n edges, nil for MPI_UNWEIGHTED. An empty list may be a null
// pointer, as malloc returns it.
func (a *Args) weights(i, n int) ([]int, error) {
	switch a.words[i] {
	case unweighted:
		return nil, nil
	case weightsEmpty:
		return []int{}, nil
	}
	return a.list(i, n)
}

// edges is the edges of three arguments from i on: how many, their other ends, and their
// weights.
func (a *Args) edges(i int) (ranks, weights []int, err error) {
	if ranks, err = a.list(i+1, a.int(i)); err == nil {
		weights, err = a.weights(i+2, a.int(i))
	}
	return ranks, weights, err
}

func distGraphCreateAdjacent(a *Args) error {
	g := mpi.DistGraph{Info: a.info(7), Reorder: a.flag(8)}
	var err error
	if g.Sources, g.SourceWeights, err = a.edges(1); err != nil {
		return err
	}
	if g.Dests, g.DestWeights, err = a.edges(4); err != nil {
		return err
	}
	c, err := a.comm(0).DistGraphAdjacent(g)
	return a.madeComm(9, c, err, a.handlerOf(0))
}

func distGraphCreate(a *Args) error {
	g := mpi.DistGraphEdges{Info: a.info(6), Reorder: a.flag(7)}
	var err error
	if g.Sources, err = a.list(2, a.int(1)); err != nil {
		return err
	}
	if g.Degrees, err = a.list(3, a.int(1)); err != nil {
		return err
	}
	edges := 0
	for i, n := range g.Degrees {
		if n < 0 { // then nobody knows how many there are
			return fail(mpi.ErrArg, "degrees[%d] is %d: it is 0 or more", i, n)
		}
		edges += n
	}
	if g.Dests, err = a.list(4, edges); err != nil {
		return err
	}
	if g.Weights, err = a.weights(5, edges); err != nil {
		return err
	}
	c, err := a.comm(0).DistGraphCreate(g)
	return a.madeComm(8, c, err, a.handlerOf(0))
}

func distGraphNeighborsCount(a *Args) error {
	g, err := a.comm(0).DistGraphNeighbors()
	if err == nil {
		a.setInt(1, len(g.Sources))
		a.setInt(2, len(g.Dests))
		a.setFlag(3, g.SourceWeights != nil)
	}
	return err
}

// distGraphNeighbors is MPI_Dist_graph_neighbors, which gives as much as there is room for.
func distGraphNeighbors(a *Args) error {
	g, err := a.comm(0).DistGraphNeighbors()
	if err == nil && (a.int(1) < 0 || a.int(4) < 0) {
		err = fail(mpi.ErrArg, "room for %d sources and %d destinations", a.int(1), a.int(4))
	}
	if err != nil {
		return err
	}
	a.setInts(2, g.Sources, a.int(1))
	a.setInts(3, g.SourceWeights, a.int(1))
	a.setInts(5, g.Dests, a.int(4))
	a.setInts(6, g.DestWeights, a.int(4))
	return nil
}
