package mpi_test

import (
	"context"
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// A library has a session of its own, and the program need not know of it. It begins
// with a process set and ends with its communicator; the next call makes another one.
func ExampleNewSession() {
	total := func(ctx context.Context, value int) (int, error) {
		s, err := mpi.NewSession(ctx)
		if err != nil {
			return 0, err
		}
		defer s.Finalize()
		c, err := s.Comm(mpi.PsetWorld, "org.example.total")
		if err != nil {
			return 0, err
		}
		sum := []int{0}
		err = mpi.Allreduce(c, mpi.Sum, []int{value}, sum)
		return sum[0], err
	}
	err := mpi.RunSessions(3, func(ctx context.Context) error {
		for _, value := range []int{1, 10} {
			sum, err := total(ctx, value)
			if err != nil {
				return err
			}
			s, err := mpi.NewSession(ctx)
			if err != nil {
				return err
			}
			all, err := s.Group(mpi.PsetWorld)
			if err != nil {
				return err
			}
			if all.Rank() == 0 {
				fmt.Println(sum)
			}
			if err := s.Finalize(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// 3
	// 30
}

// Only the ranks of the group make the call; the others do something else.
func ExampleComm_CreateGroup() {
	err := mpi.Run(4, func(w *mpi.World) error {
		odd, err := w.Comm().Group().Incl(3, 1)
		if err != nil || odd.Rank() == mpi.Undefined {
			return err
		}
		c, err := w.Comm().CreateGroup(odd, 0)
		if err != nil {
			return err
		}
		ranks := make([]int, c.Size())
		if err := mpi.Gather(c, []int{w.Comm().Rank()}, ranks, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(ranks)
		}
		return c.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 1]
}

// A communicator is made of a group alone: its ranks agree on a name.
func ExampleCommCreateFromGroup() {
	err := mpi.RunSessions(4, func(ctx context.Context) error {
		s, err := mpi.NewSession(ctx)
		if err != nil {
			return err
		}
		defer s.Finalize()
		all, err := s.Group(mpi.PsetWorld)
		if err != nil {
			return err
		}
		half, err := all.RangeIncl(mpi.Range{First: all.Rank() % 2, Last: 3, Stride: 2})
		if err != nil {
			return err
		}
		c, err := mpi.CommCreateFromGroup(half, "org.example.half", mpi.CommOptions{Context: ctx})
		if err != nil {
			return err
		}
		ranks := make([]int, c.Size())
		if err := mpi.Allgather(c, []int{all.Rank()}, ranks); err != nil {
			return err
		}
		if all.Rank() == 1 {
			fmt.Println(ranks)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [1 3]
}
