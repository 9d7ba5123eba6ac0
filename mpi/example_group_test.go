package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Groups are made from those of communicators, each rank for itself.
func ExampleGroup() {
	err := mpi.Run(5, func(w *mpi.World) error {
		all := w.Comm().Group()
		even, err := all.RangeIncl(mpi.Range{First: 0, Last: 4, Stride: 2})
		if err != nil {
			return err
		}
		odd, err := all.Difference(even)
		if err != nil || w.Comm().Rank() != 3 {
			return err
		}
		fmt.Println("I am", odd.Rank(), "of", odd.Size())
		for rank, world := range odd.All() {
			fmt.Println("rank", rank, "is rank", world, "of the job")
		}
		fmt.Println(even.Rank() == mpi.Undefined, even.Translate([]int{2, 1}, all))
		return nil
	}, mpi.WithFabric("mem"))
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// I am 1 of 2
	// rank 0 is rank 1 of the job
	// rank 1 is rank 3 of the job
	// true [4 2]
}
