package mpi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// Two ranks, here goroutines of one process, exchange a message.
func ExampleRun() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return mpi.Send(c, []float64{3, 1, 4}, 1, 7)
		}
		in := make([]float64, 10)
		st, err := mpi.Recv(c, in, mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		n := mpi.Count[float64](st)
		fmt.Printf("%v from rank %d with tag %d\n", in[:n], st.Source, st.Tag)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [3 1 4] from rank 0 with tag 7
}

// Errors are told apart by their MPI class. A message that is too long is
// consumed, its beginning received, and the status knows its length.
func ExampleError() {
	err := mpi.Run(1, func(w *mpi.World) error {
		c := w.Comm()
		if err := mpi.Send(c, []int32{1, 2, 3}, 0, 0); err != nil {
			return err
		}
		in := make([]int32, 2)
		st, err := mpi.Recv(c, in, 0, 0)
		fmt.Println(errors.Is(err, mpi.ErrTruncate), in, mpi.Count[int32](st))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: true [1 2] 3
}

// A receive that nobody answers ends with its context.
func ExampleComm_WithContext() {
	err := mpi.Run(1, func(w *mpi.World) error {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := mpi.Recv(w.Comm().WithContext(ctx), make([]byte, 8), 0, 0)
		fmt.Println(errors.Is(err, mpi.ErrCanceled), errors.Is(err, context.Canceled))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: true true
}

// All requests are started before any is waited for.
func ExampleWaitall() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		other := 1 - c.Rank()
		in := make([]int64, 1)
		recv, err := mpi.Irecv(c, in, other, 0)
		if err != nil {
			return err
		}
		send, err := mpi.Isend(c, []int64{int64(c.Rank())}, other, 0)
		if err != nil {
			return err
		}
		if err := mpi.Waitall([]mpi.Request{recv, send}, nil); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("rank 0 got", in[0])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 0 got 1
}
