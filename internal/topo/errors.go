package topo

import "fmt"

// DimsError is the error of sizes that Dims can't fill up.
type DimsError struct {
	N    int // processes
	Dims []int
	Item int // the place in Dims of what is wrong, or -1
}

func (e *DimsError) Error() string {
	switch {
	case e.N < 1:
		return fmt.Sprintf("a grid of %d processes: give 1 or more", e.N)
	case len(e.Dims) == 0:
		return fmt.Sprintf("a grid without dimensions is one process, not %d: give a dimension", e.N)
	case e.Item < 0:
		return fmt.Sprintf("the dimensions %v are given and do not make %d processes: set one to 0, to have it chosen", e.Dims, e.N)
	case e.Dims[e.Item] < 0:
		return fmt.Sprintf("dimension %d has the size %d: give 1 or more, or 0 to have it chosen", e.Item, e.Dims[e.Item])
	}
	return fmt.Sprintf("%d processes can't be divided by the dimensions %v: dimension %d, of size %d, leaves a rest", e.N, e.Dims, e.Item, e.Dims[e.Item])
}

// GridError is the error of a Grid that is none, or that has not enough processes.
type GridError struct {
	N    int // processes
	Grid Grid
	Item int // the dimension that is wrong, or -1
}

func (e *GridError) Error() string {
	switch {
	case len(e.Grid.Dims) != len(e.Grid.Periodic):
		return fmt.Sprintf("%d dimensions, and for %d of them it is said whether they are periodic: give as many", len(e.Grid.Dims), len(e.Grid.Periodic))
	case e.Item >= 0:
		return fmt.Sprintf("dimension %d has the size %d: give 1 or more", e.Item, e.Grid.Dims[e.Item])
	}
	return fmt.Sprintf("a grid of the dimensions %v has more positions than there are processes, %d: make it smaller", e.Grid.Dims, e.N)
}

// CoordError is the error of coordinates that are outside a grid, or too few or many.
type CoordError struct {
	Dim   int // the dimension, or -1 if their number is wrong
	Value int // the coordinate, or how many were given
	Size  int // of the dimension, or how many dimensions there are
}

func (e *CoordError) Error() string {
	if e.Dim < 0 {
		return fmt.Sprintf("%d coordinates in a grid of %d dimensions: give one for each", e.Value, e.Size)
	}
	return fmt.Sprintf("coordinate %d is %d, and dimension %d goes from 0 to %d and is not periodic", e.Dim, e.Value, e.Dim, e.Size-1)
}

// GraphError is the error of a Graph that is none, or that has not enough processes.
type GraphError struct {
	N     int // processes
	Graph Graph
	Node  int // the node whose Index is wrong, or -1
	Edge  int // the place in Edges of a neighbour that is not there, or -1
}

func (e *GraphError) Error() string {
	index, edges := e.Graph.Index, e.Graph.Edges
	switch {
	case len(index) > e.N:
		return fmt.Sprintf("a graph of %d nodes, and there are %d processes: give at most one node for each", len(index), e.N)
	case e.Node == 0:
		return fmt.Sprintf("the index of node 0 is %d: it is the number of its neighbours, 0 or more", index[0])
	case e.Node > 0:
		return fmt.Sprintf("the index of node %d is %d, and that of node %d is %d: an index is the sum of the neighbours so far, so it can't fall", e.Node, index[e.Node], e.Node-1, index[e.Node-1])
	case e.Edge >= 0:
		return fmt.Sprintf("edge %d leads to node %d, and the nodes are 0 to %d", e.Edge, edges[e.Edge], len(index)-1)
	}
	return fmt.Sprintf("%d edges, and the index of the last node is another number: give as many edges as it says, none without nodes", len(edges))
}
