package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// Rank 0 puts a row into a column of rank 1's matrix of 3 x 4 elements.
func ExampleWin_Put() {
	err := mpi.Run(2, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[int32](c, 3*4, mpi.WinOptions{})
		if err != nil {
			return err
		}
		column, err := mpi.TypeVector(3, 1, 4, mpi.TypeInt32)
		if err != nil {
			return err
		}
		if err := column.Commit(); err != nil {
			return err
		}
		if err := w.Fence(mpi.NoPrecede); err != nil {
			return err
		}
		if c.Rank() == 0 {
			row := []int32{1, 2, 3}
			if err := w.Win.Put(mpi.Of(row), 1, 3, 1, column); err != nil {
				return err
			}
		}
		if err := w.Fence(mpi.NoSucceed); err != nil {
			return err
		}
		if c.Rank() == 1 {
			for matrix := w.Local(); len(matrix) > 0; matrix = matrix[4:] {
				fmt.Println(matrix[:4])
			}
		}
		return w.Free()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [0 0 0 1]
	// [0 0 0 2]
	// [0 0 0 3]
}

// All ranks add to every second element of rank 0's memory, and get what was there.
func ExampleWin_GetAccumulate() {
	err := mpi.Run(3, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[int64](c, 6, mpi.WinOptions{})
		if err != nil {
			return err
		}
		seconds, err := mpi.TypeVector(3, 1, 2, mpi.TypeInt64)
		if err != nil {
			return err
		}
		if err := seconds.Commit(); err != nil {
			return err
		}
		if err := w.LockAll(); err != nil {
			return err
		}
		ones, was := []int64{1, 1, 1}, make([]int64, 3)
		if err := w.Win.GetAccumulate(mpi.Sum, mpi.Of(ones), mpi.Of(was), 0, 0, 1, seconds); err != nil {
			return err
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
		sum := []int64{was[0]} // 0, 1 and 2, at whichever rank
		if err := mpi.Allreduce(c, mpi.Sum, mpi.InPlace[int64](), sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(w.Local())
			fmt.Println(sum)
		}
		return w.Free()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [3 0 3 0 3 0]
	// [3]
}
