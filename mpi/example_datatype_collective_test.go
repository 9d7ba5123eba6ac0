package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// Each rank has a column of a matrix, and the root gets the matrix, row by row. There an
// element of the receive is a column, and one follows the other by an element of the
// matrix.
func ExampleComm_Gather() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		ten := int32(10 * (c.Rank() + 1))
		mine := []int32{ten + 1, ten + 2}
		column, err := mpi.TypeVector(2, 1, 3, mpi.TypeInt32)
		if err != nil {
			return err
		}
		columns, err := mpi.TypeResized(column, 0, 4)
		if err != nil {
			return err
		}
		if err := columns.Commit(); err != nil {
			return err
		}
		matrix := make([]int32, 2*3)
		if err := c.Gather(mpi.Of(mine), mpi.As(columns, matrix, 3), 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(matrix[:3])
			fmt.Println(matrix[3:])
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [11 21 31]
	// [12 22 32]
}

// The largest of the values of all ranks, and which rank has it.
func ExampleComm_Allreduce() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		values := []float64{0.5, 4, 2}
		best := []mpi.Loc[float64]{{Value: values[c.Rank()], Index: int32(c.Rank())}}
		if err := c.Allreduce(mpi.MaxLoc, mpi.BufInPlace, mpi.OfStructs(best)); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(best[0].Value, "at rank", best[0].Index)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 4 at rank 1
}
