package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// The second column of a matrix of 3 x 4 elements.
func ExampleStrided() {
	matrix := []int32{
		11, 12, 13, 14,
		21, 22, 23, 24,
		31, 32, 33, 34,
	}
	column := mpi.Strided(matrix[1:], 3, 1, 4)
	fmt.Println(sent[int32](column))
	// Output: [12 22 32]
}

// Two rows and two columns of a matrix of 3 x 4 elements, from row 1 and column 2 on.
func ExampleSubarray() {
	matrix := []int32{
		11, 12, 13, 14,
		21, 22, 23, 24,
		31, 32, 33, 34,
	}
	part := mpi.Subarray(matrix, []int{3, 4}, []int{2, 2}, []int{1, 2})
	fmt.Println(sent[int32](part))
	// Output: [23 24 33 34]
}

// Three elements from place 5 on, then the first one.
func ExampleIndexed() {
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	chosen := mpi.Indexed(s, []int{3, 1}, []int{5, 0})
	fmt.Println(sent[int32](chosen))
	// Output: [5 6 7 0]
}

// A column is received as a row: the two types have the same sequence of elements.
func ExampleComm_Send_column() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			matrix := []int32{
				11, 12, 13, 14,
				21, 22, 23, 24,
				31, 32, 33, 34,
			}
			return c.Send(mpi.Strided(matrix[3:], 3, 1, 4), 1, 0)
		}
		row := make([]int32, 3)
		if _, err := mpi.Recv(c, row, 0, 0); err != nil {
			return err
		}
		fmt.Println(row)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [14 24 34]
}

// Structs are sent without what a receiver can't use.
func ExampleOfStructs() {
	type particle struct {
		Kind  int8
		Place [3]float64
		Next  int32 `mpi:"-"` // an index that means nothing elsewhere
	}
	err := mpi.Run(2, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			return c.Send(mpi.OfStructs([]particle{{1, [3]float64{0.5, 1, 2}, 7}}), 1, 0)
		}
		got := []particle{{Next: -1}}
		st, err := c.Recv(mpi.OfStructs(got), 0, 0)
		if err != nil {
			return err
		}
		fmt.Println(got[0], "in", st.Bytes, "bytes")
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: {1 [0.5 1 2] -1} in 25 bytes
}

// The type of a struct: a character for each byte, and nothing of the padding.
func ExampleTypeOf() {
	type particle struct {
		Kind  int8
		Place [3]float64
		Mass  float32
	}
	t, err := mpi.TypeOf[particle]()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(picture(t, 1))

	_, err = mpi.TypeOf[struct{ Name string }]()
	fmt.Println(err)
	// Output:
	// [0.......1111111122222222333333334444....]
	// mpi.TypeOf: struct { Name string }.Name, a string, can't be sent: it holds a pointer: send what it points to, or leave the field out with the tag mpi:"-"
}

// Any type is sent from any slice without pointers. At moves displacement 0.
func ExampleAs() {
	pair, err := mpi.TypeIndexedBlock(1, []int{-1, 1}, mpi.TypeInt32) // the neighbours
	if err != nil {
		log.Fatal(err)
	}
	if err := pair.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4}
	fmt.Println(sent[int32](mpi.As(pair, s, 1).At(2 * 4)))
	fmt.Println(mpi.As(pair, s, 1).Err())
	// Output:
	// [1 3]
	// mpi.Buf.Err: b: its 1 elements touch the bytes from -4 to 8 behind displacement 0, the memory has those from 0 to 20
}
