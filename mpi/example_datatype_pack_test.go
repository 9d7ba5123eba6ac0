package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// A length and as many numbers go in one message.
func ExamplePack() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		message := make([]byte, 100)
		n := []int64{3}
		if c.Rank() == 0 {
			pos, err := mpi.Pack(mpi.Of(n), message, 0)
			if err != nil {
				return err
			}
			if pos, err = mpi.Pack(mpi.Of([]float32{0.5, 1, 2}), message, pos); err != nil {
				return err
			}
			return c.Send(mpi.As(mpi.TypePacked, message, pos), 1, 0)
		}
		if _, err := c.Recv(mpi.As(mpi.TypePacked, message, len(message)), 0, 0); err != nil {
			return err
		}
		pos, err := mpi.Unpack(message, 0, mpi.Of(n))
		if err != nil {
			return err
		}
		numbers := make([]float32, n[0])
		if _, err := mpi.Unpack(message, pos, mpi.Of(numbers)); err != nil {
			return err
		}
		fmt.Println(numbers)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [0.5 1 2]
}

// Bytes for a file, the same on every machine.
func ExamplePackExternal() {
	type header struct {
		Version int16
		Length  int32
	}
	h := []header{{1, 258}}
	d, err := mpi.TypeOf[header]()
	if err != nil {
		log.Fatal(err)
	}
	size, err := mpi.PackExternalSize(1, d)
	if err != nil {
		log.Fatal(err)
	}
	file := make([]byte, size)
	if _, err := mpi.PackExternal(mpi.OfStructs(h), file, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file)

	h[0] = header{}
	if _, err := mpi.UnpackExternal(file, 0, mpi.OfStructs(h)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(h[0])
	// Output:
	// [0 1 0 0 1 2]
	// {1 258}
}

// A message may end within an element: its basic elements can be counted all the same.
func ExampleStatus_Elements() {
	three, err := mpi.TypeContiguous(3, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := three.Commit(); err != nil {
		log.Fatal(err)
	}
	err = mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return mpi.Send(c, []int32{1, 2, 3, 4}, 1, 0)
		}
		st, err := c.Recv(mpi.As(three, make([]int32, 9), 3), 0, 0)
		if err != nil {
			return err
		}
		fmt.Println(st.Elements(three), st.Count(three) == mpi.Undefined)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: 4 true
}
