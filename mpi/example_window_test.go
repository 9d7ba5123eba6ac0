package mpi_test

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Between two fences each rank puts its number into its right neighbour's memory, which
// makes no call for it.
func ExampleWinAllocate() {
	err := mpi.Run(3, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[int](c, 1, mpi.WinOptions{})
		if err != nil {
			return err
		}
		if err := w.Fence(mpi.NoPrecede); err != nil {
			return err
		}
		if err := w.Put([]int{c.Rank()}, (c.Rank()+1)%c.Size(), 0); err != nil {
			return err
		}
		if err := w.Fence(mpi.NoSucceed); err != nil {
			return err
		}
		if c.Rank() == 1 {
			fmt.Println("rank 1 has", w.Local()[0])
		}
		return w.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 1 has 0
}

// Ranks draw numbers from a counter at rank 0: no two get the same one.
func ExampleWindow_FetchAndOpNow() {
	err := mpi.Run(4, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})
		if err != nil {
			return err
		}
		if err := w.LockAll(); err != nil {
			return err
		}
		ticket, err := w.FetchAndOpNow(mpi.Sum, 1, 0, 0)
		if err != nil {
			return err
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
		sum := []int64{ticket}
		if err := mpi.AllreduceInPlace(c, mpi.Sum, sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("the tickets are 0 to 3, together", sum[0])
		}
		return w.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: the tickets are 0 to 3, together 6
}

// Ranks elect one of them: the first that finds no winner is it.
func ExampleWindow_CompareAndSwapNow() {
	err := mpi.Run(3, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[int32](c, 1, mpi.WinOptions{})
		if err != nil {
			return err
		}
		if err := w.LockAll(); err != nil {
			return err
		}
		old, err := w.CompareAndSwapNow(0, int32(c.Rank()+1), 0, 0)
		if err != nil {
			return err
		}
		if err := w.UnlockAll(); err != nil {
			return err
		}
		won := []int{0}
		if old == 0 {
			won[0] = 1
		}
		if err := mpi.AllreduceInPlace(c, mpi.Sum, won); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(won[0], "winner")
		}
		return w.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 1 winner
}

// Under an exclusive lock a rank changes several elements of another at once.
func ExampleWin_Epoch() {
	err := mpi.Run(3, func(world *mpi.World) error {
		c := world.Comm()
		w, err := mpi.WinAllocate[float64](c, 2, mpi.WinOptions{})
		if err != nil {
			return err
		}
		err = w.Epoch(mpi.LockExclusive, 0, func() error {
			both := make([]float64, 2)
			if err := errors.Join(w.Get(both, 0, 0), w.Flush(0)); err != nil {
				return err
			}
			both[0], both[1] = both[0]+1, 2*(both[0]+1)
			return w.Put(both, 0, 0)
		})
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(w.Local())
		}
		return w.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 6]
}
