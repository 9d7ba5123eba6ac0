package mpi_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// A message of unknown length is received into a buffer made to measure.
func ExampleProbe() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return mpi.Send(c, []int32{2, 3, 5, 7, 11}, 1, 0)
		}
		st, err := mpi.Probe(c, mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		in := make([]int32, mpi.Count[int32](st))
		if _, err := mpi.Recv(c, in, st.Source, st.Tag); err != nil {
			return err
		}
		fmt.Println(in)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [2 3 5 7 11]
}

// A buffered send that finds no room says how much it needs.
func ExampleNoBufferError() {
	err := mpi.Run(1, func(w *mpi.World) error {
		if err := w.BufferAttach(make([]byte, 1000)); err != nil {
			return err
		}
		err := mpi.Bsend(w.Comm(), make([]float64, 1000), 0, 0)
		var full *mpi.NoBufferError
		if !errors.As(err, &full) {
			return err
		}
		fmt.Println(errors.Is(err, mpi.ErrBuffer), full.Need-mpi.BsendOverhead, "bytes,", full.Size, "attached")
		_, err = w.BufferDetach(context.Background())
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: true 8000 bytes, 1000 attached
}

// Where several goroutines receive, a matched probe keeps the message for the
// one that has found it.
func ExampleMprobe() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return mpi.Send(c, []byte("to whom it may concern"), 1, 0)
		}
		m, st, err := mpi.Mprobe(c, mpi.AnySource, mpi.AnyTag)
		if err != nil {
			return err
		}
		letter := make([]byte, mpi.Count[byte](st))
		if _, err := mpi.Mrecv(&m, letter); err != nil {
			return err
		}
		fmt.Printf("%s\n", letter)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: to whom it may concern
}

// The same exchange takes place in every step of a computation: it is described
// once and started again and again.
func ExampleStartall() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		other := 1 - c.Rank()
		mine, theirs := []float64{float64(c.Rank())}, make([]float64, 1)
		send, err := mpi.SendInit(c, mine, other, 0)
		if err != nil {
			return err
		}
		recv, err := mpi.RecvInit(c, theirs, other, 0)
		if err != nil {
			return err
		}
		halo := []mpi.Request{recv, send}
		for range 10 {
			if err := mpi.Startall(halo); err != nil {
				return err
			}
			if err := mpi.Waitall(halo, nil); err != nil {
				return err
			}
			mine[0] = (mine[0] + theirs[0]) / 2
		}
		if c.Rank() == 0 {
			fmt.Println(mine[0])
		}
		for i := range halo {
			if err := mpi.RequestFree(&halo[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 0.5
}

// Nobody waits for the message: a function is called when it is there.
func ExampleOnComplete() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return mpi.Send(c, []int64{42}, 1, 0)
		}
		in, done := make([]int64, 1), make(chan error, 1)
		r, err := mpi.Irecv(c, in, 0, 0)
		if err != nil {
			return err
		}
		err = mpi.OnComplete(&r, func(st mpi.Status, err error) {
			fmt.Println("from rank", st.Source, "came", in[0])
			done <- err
		})
		if err != nil {
			return err
		}
		return <-done // or anything else that has nothing to do with MPI
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: from rank 0 came 42
}

// A library talks on a duplicate of the communicator it is given: its messages
// and the caller's have the same ranks and tags and do not meet.
func ExampleComm_Dup() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		library, err := c.Dup()
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			if err := mpi.Send(c, []byte("application"), 1, 0); err != nil {
				return err
			}
			return mpi.Send(library, []byte("library"), 1, 0)
		}
		in := make([]byte, 20)
		for _, comm := range []*mpi.Comm{library, c} {
			st, err := mpi.Recv(comm, in, mpi.AnySource, mpi.AnyTag)
			if err != nil {
				return err
			}
			fmt.Printf("%s\n", in[:mpi.Count[byte](st)])
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// library
	// application
}

// A buffered send never waits for its receiver: here both ranks send first.
func ExampleBsend() {
	const n = 100_000
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		other := 1 - c.Rank()
		if err := w.BufferAttach(make([]byte, n*8+mpi.BsendOverhead)); err != nil {
			return err
		}
		b := make([]float64, n)
		b[n-1] = float64(c.Rank())
		if err := mpi.Bsend(c, b, other, 0); err != nil {
			return err
		}
		// The message is a copy: b is ours again.
		if _, err := mpi.Recv(c, b, other, 0); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("rank 0 got", b[n-1])
		}
		_, err := w.BufferDetach(context.Background())
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: rank 0 got 1
}

// An operation of the program's own is waited for like a message.
func ExampleGrequestStart() {
	err := mpi.Run(1, func(w *mpi.World) error {
		answer := 0
		query := func() (mpi.Status, error) {
			st := mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
			err := mpi.SetCount[int](&st, 1)
			return st, err
		}
		r, err := mpi.GrequestStart(w, query, nil, nil)
		if err != nil {
			return err
		}
		go func(operation mpi.Request) {
			answer = 6 * 7
			mpi.GrequestComplete(operation)
		}(r)
		if _, err := mpi.Wait(&r); err != nil {
			return err
		}
		fmt.Println(answer)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 42
}
