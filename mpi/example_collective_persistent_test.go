package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// An iteration makes one call again and again, and another rank may be behind. What is in
// the buffers at each Start counts.
func ExampleAllreduceInit() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		mine, sum := []int{c.Rank()}, []int{0}
		r, err := mpi.AllreduceInit(c, mpi.Sum, mine, sum)
		if err != nil {
			return err
		}
		for range 3 {
			if err := r.Start(); err != nil {
				return err
			}
			// Here it computes, and touches neither.
			if _, err := r.Wait(); err != nil {
				return err
			}
			mine[0] += sum[0]
		}
		if c.Rank() == 0 {
			fmt.Println(sum[0])
		}
		return r.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 48
}

// Rank 0 gives its parameters to all before each step, and all say when they are done.
func ExampleComm_BarrierInit() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		step := []float64{0}
		params, err := mpi.BcastInit(c, step, 0)
		if err != nil {
			return err
		}
		done, err := c.BarrierInit()
		if err != nil {
			return err
		}
		for i := range 2 {
			if c.Rank() == 0 {
				step[0] = 0.5 / float64(1+i)
			}
			if err := params.Start(); err != nil {
				return err
			}
			if _, err := params.Wait(); err != nil {
				return err
			}
			if c.Rank() == 1 {
				fmt.Println(step[0])
			}
			if err := done.Start(); err != nil {
				return err
			}
			if _, err := done.Wait(); err != nil {
				return err
			}
		}
		if err := params.Free(); err != nil {
			return err
		}
		return done.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0.5
	// 0.25
}
