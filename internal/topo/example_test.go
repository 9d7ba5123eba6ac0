package topo_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/topo"
)

// The rows of a grid that is a cylinder, and what rank 4 has around it.
func Example() {
	dims, err := topo.Dims(6, []int{0, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	grid := topo.Grid{Dims: dims, Periodic: []bool{false, true}}
	fmt.Println(dims, grid.Coords(4), grid.Neighbors(4))
	row, color, key := grid.Sub(4, []bool{false, true})
	fmt.Println(row.Dims, color, key)
	// Output:
	// [2 3] [1 1] [1 -3 3 5]
	// [3] 1 1
}

// Eight processes are dealt out to two hosts. Each host gets a block of the grid.
func ExampleReorder() {
	grid := topo.Grid{Dims: []int{4, 2}, Periodic: []bool{false, false}}
	var places []topo.Place
	for i := range 8 {
		places = append(places, topo.Place{i % 2})
	}
	order := topo.Reorder(places, grid.Edges(), &grid)
	fmt.Println(order, topo.Cost(places, grid.Edges(), nil), topo.Cost(places, grid.Edges(), order))
	// Output: [0 4 1 5 2 6 3 7] 28 24
}

func ExampleDimsError() {
	_, err := topo.Dims(12, []int{5, 0})
	fmt.Println(err)
	_, err = topo.Dims(12, []int{3, 2})
	fmt.Println(err)
	// Output:
	// 12 processes can't be divided by the dimensions [5 0]: dimension 0, of size 5, leaves a rest
	// the dimensions [3 2] are given and do not make 12 processes: set one to 0, to have it chosen
}

func ExampleGraphError() {
	fmt.Println(topo.Graph{Index: []int{2, 1}, Edges: []int{1}}.Check(4))
	fmt.Println(topo.Graph{Index: []int{1, 2}, Edges: []int{1, 2}}.Check(4))
	// Output:
	// the index of node 1 is 1, and that of node 0 is 2: an index is the sum of the neighbours so far, so it can't fall
	// edge 1 leads to node 2, and the nodes are 0 to 1
}
