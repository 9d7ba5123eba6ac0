package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Every rank gets the sum over all ranks, element by element.
func ExampleAllreduce() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		mine, sum := []int{c.Rank(), 1}, make([]int, 2)
		if err := mpi.Allreduce(c, mpi.Sum, mine, sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 3]
}

// Each rank has as many items as its rank. The root's list has them in the order of
// ranks; the root's own, none, are in place.
func ExampleGatherv() {
	err := mpi.Run(4, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() > 0 {
			items := make([]byte, c.Rank())
			for i := range items {
				items[i] = byte('0' + c.Rank())
			}
			return mpi.Gatherv(c, items, nil, nil, nil, 0)
		}
		list := make([]byte, 6)
		if err := mpi.Gatherv(c, mpi.InPlace[byte](), list, []int{0, 1, 2, 3}, nil, 0); err != nil {
			return err
		}
		fmt.Printf("%s\n", list)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 122333
}

// The operator combines functions ax+b, packed as a<<32|b. It is associative and not
// commutative: operands come in the order of ranks.
func ExampleNewOp() {
	compose := mpi.NewOp(func(lower, upper uint64) uint64 {
		a, b := lower>>32, lower&0xffffffff
		return a*(upper>>32)<<32 | (a*(upper&0xffffffff) + b)
	})
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		f, all := uint64(2)<<32|uint64(c.Rank()), []uint64{0}
		if err := mpi.Allreduce(c, compose, []uint64{f}, all); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Printf("2(2(2x+2)+1)+0 = %dx+%d\n", all[0]>>32, all[0]&0xffffffff)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 2(2(2x+2)+1)+0 = 8x+10
}

// Each rank's numbers are replaced by the sums of all.
func ExampleAllreduceInPlace() {
	err := mpi.Run(3, func(w *mpi.World) error {
		c := w.Comm()
		sums := []int{c.Rank(), 10}
		if err := mpi.AllreduceInPlace(c, mpi.Sum, sums); err != nil {
			return err
		}
		if c.Rank() == 2 {
			fmt.Println(sums)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 30]
}

// A rank computes while the maximum is found.
func ExampleIallreduce() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		most := []float64{0}
		r, err := mpi.Iallreduce(c, mpi.Max, []float64{float64(c.Rank()) + 0.5}, most)
		if err != nil {
			return err
		}
		// Here it computes, and does not touch most.
		if _, err := r.Wait(); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(most[0])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 1.5
}
