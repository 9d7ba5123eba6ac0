package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Each rank of a grid sends its number down its column.
func ExampleComm_CartCreate() {
	err := mpi.Run(6, func(w *mpi.World) error {
		cart, err := w.Comm().CartCreate(mpi.CartOptions{Dims: []int{2, 0}, Periodic: []bool{true, false}, Reorder: true})
		if err != nil {
			return err
		}
		up, down, err := cart.CartShift(0, 1)
		if err != nil {
			return err
		}
		got := make([]int, 1)
		if _, err := mpi.Sendrecv(cart, []int{cart.Rank()}, down, 0, got, up, 0); err != nil {
			return err
		}
		if cart.Rank() == 4 {
			here, err := cart.Cart()
			if err != nil {
				return err
			}
			fmt.Println("rank 4 is at", here.Coords, "of", here.Dims, "and gets", got[0])
			fmt.Println("its neighbors are", cart.Neighbors())
		}
		return nil
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// rank 4 is at [1 1] of [2 3] and gets 1
	// its neighbors are [1 1 3 5]
}

// Each row of a grid is a communicator, which sums its ranks.
func ExampleComm_CartSub() {
	err := mpi.Run(6, func(w *mpi.World) error {
		cart, err := w.Comm().CartCreate(mpi.CartOptions{Dims: []int{2, 3}})
		if err != nil {
			return err
		}
		row, err := cart.CartSub(false, true)
		if err != nil {
			return err
		}
		sum := []int{cart.Rank()}
		if err := mpi.Allreduce(row, mpi.Sum, mpi.InPlace[int](), sum); err != nil {
			return err
		}
		if cart.Rank() == 5 {
			fmt.Println("rank", row.Rank(), "of", row.Size(), "in its row, whose sum is", sum[0])
		}
		return nil
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 2 of 3 in its row, whose sum is 12
}

// Rank 0 knows the whole graph, a tree, and every rank hears of its own edges.
func ExampleComm_DistGraphCreate() {
	err := mpi.Run(5, func(w *mpi.World) error {
		var tree mpi.DistGraphEdges
		if w.Comm().Rank() == 0 {
			tree.Sources, tree.Degrees, tree.Dests = []int{0, 1}, []int{2, 2}, []int{1, 2, 3, 4}
		}
		c, err := w.Comm().DistGraphCreate(tree)
		if err != nil || c.Rank() != 1 {
			return err
		}
		g, err := c.DistGraphNeighbors()
		if err == nil {
			fmt.Println("edges come from", g.Sources, "and go to", g.Dests)
		}
		return err
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output: edges come from [0] and go to [3 4]
}

// Each rank has a block of a torus, with a border for its neighbors' cells around it. In
// each step it sends its outermost rows and columns, which are parts of its memory, and
// receives the border.
func ExampleComm_NeighborAlltoallwInit() {
	const n = 2 // cells of a block in each dimension
	err := mpi.Run(4, func(w *mpi.World) error {
		cart, err := w.Comm().CartCreate(mpi.CartOptions{Dims: []int{2, 2}, Periodic: []bool{true, true}})
		if err != nil {
			return err
		}
		cells := make([]int, (n+2)*(n+2))
		part := func(row, column, rows, columns int) mpi.Buf {
			return mpi.Subarray(cells, []int{n + 2, n + 2}, []int{rows, columns}, []int{row, column})
		}
		// Slots: up, down, left, right.
		send := []mpi.Buf{part(1, 1, 1, n), part(n, 1, 1, n), part(1, 1, n, 1), part(1, n, n, 1)}
		recv := []mpi.Buf{part(0, 1, 1, n), part(n+1, 1, 1, n), part(1, 0, n, 1), part(1, n+1, n, 1)}
		halo, err := cart.NeighborAlltoallwInit(send, recv)
		if err != nil {
			return err
		}
		for step := range 2 {
			for row := 1; row <= n; row++ {
				for column := 1; column <= n; column++ {
					cells[row*(n+2)+column] = 100*step + 10*cart.Rank() + n*(row-1) + column
				}
			}
			if err := halo.Start(); err != nil {
				return err
			}
			if _, err := halo.Wait(); err != nil {
				return err
			}
		}
		for row := 0; cart.Rank() == 0 && row < n+2; row++ {
			fmt.Println(cells[row*(n+2) : (row+1)*(n+2)])
		}
		return halo.Free()
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// [0 123 124 0]
	// [112 101 102 111]
	// [114 103 104 113]
	// [0 121 122 0]
}
