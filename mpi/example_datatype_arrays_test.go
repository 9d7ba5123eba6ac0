package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// The inner part of a matrix of 4 x 5 elements.
func ExampleTypeSubarray() {
	inner, err := mpi.TypeSubarray([]int{4, 5}, []int{2, 3}, []int{1, 1}, mpi.OrderC, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := inner.Commit(); err != nil {
		log.Fatal(err)
	}
	matrix := []int32{
		11, 12, 13, 14, 15,
		21, 22, 23, 24, 25,
		31, 32, 33, 34, 35,
		41, 42, 43, 44, 45,
	}
	fmt.Println(rows(inner, 4, 5))
	fmt.Println(sent[int32](mpi.As(inner, matrix, 1)))
	// Output:
	// .....
	// .012.
	// .345.
	// .....
	// [22 23 24 32 33 34]
}

// Ten elements are dealt out to two processes in blocks of two; then a matrix of 4 x 6
// elements to a grid of 2 x 2 processes, of which this is the last.
func ExampleTypeDarray() {
	for process := range 2 {
		mine, err := mpi.TypeDarray(2, process,
			[]int{10}, []mpi.Dist{mpi.DistributeCyclic}, []int{2}, []int{2}, mpi.OrderC, mpi.TypeInt32)
		if err != nil {
			log.Fatal(err)
		}
		if err := mine.Commit(); err != nil {
			log.Fatal(err)
		}
		fmt.Println(picture(mine, 4))
	}
	block, err := mpi.TypeDarray(4, 3,
		[]int{4, 6}, []mpi.Dist{mpi.DistributeBlock, mpi.DistributeBlock},
		[]int{mpi.DistributeDfltDarg, mpi.DistributeDfltDarg}, []int{2, 2}, mpi.OrderC, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := block.Commit(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rows(block, 4, 6))
	// Output:
	// [01..23..45]
	// [..01..23..]
	// ......
	// ......
	// ...012
	// ...345
}
