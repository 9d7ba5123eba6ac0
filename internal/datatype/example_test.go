package datatype_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/datatype"
)

// A column of a matrix of 3 by 4 bytes is packed in pieces of two bytes.
func ExampleCursor_Pack() {
	column, err := datatype.Vector(3, 1, 4, datatype.Of(datatype.Byte))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := column.Commit(); err != nil {
		fmt.Println(err)
		return
	}
	matrix := []byte("abcd" + "efgh" + "ijkl")
	var c datatype.Cursor
	if err := c.Reset(column, 1, matrix, 2); err != nil { // the third column
		fmt.Println(err)
		return
	}
	piece := make([]byte, 2)
	for c.Len() > 0 {
		n := c.Pack(piece)
		fmt.Printf("%s\n", piece[:n])
	}
	// Output:
	// cg
	// k
}

// The pieces of memory go to someone who copies by other means.
func ExampleCursor_Runs() {
	inner, err := datatype.Subarray([]int{4, 5}, []int{2, 3}, []int{1, 1}, datatype.OrderC, datatype.Of(datatype.Float64))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := inner.Commit(); err != nil {
		fmt.Println(err)
		return
	}
	var c datatype.Cursor
	if err := c.Reset(inner, 1, make([]byte, 4*5*8), 0); err != nil {
		fmt.Println(err)
		return
	}
	for off, n := range c.Runs(1 << 20) {
		fmt.Printf("%d bytes at %d\n", n, off)
	}
	// Output:
	// 24 bytes at 48
	// 24 bytes at 88
}

func ExampleTypeOf() {
	type particle struct {
		Kind  int8 // and padding, which is never sent
		Place [3]float64
		Next  *particle
	}
	_, err := datatype.TypeOf[particle]()
	fmt.Println(err)

	type cell struct {
		Kind  int8
		Place [3]float64
	}
	t, err := datatype.TypeOf[cell]()
	fmt.Println(t, err)
	// Output:
	// particle.Next, a *datatype_test.particle, can't be sent: it holds a pointer: send what it points to, or leave the field out with the tag mpi:"-"
	// struct of 25 bytes, lb 0, extent 32 <nil>
}

func Example_badArgument() {
	_, err := datatype.Subarray([]int{4, 5}, []int{2, 6}, []int{0, 0}, datatype.OrderC, datatype.Of(datatype.Int32))
	fmt.Println(err)
	// Output: Subarray: argument 2, subsizes[1] = 6: it does not fit into the array: give 1 to 5
}
