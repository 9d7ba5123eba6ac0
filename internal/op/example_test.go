package op_test

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/weft-mpi/weft/internal/op"
)

func Example() {
	f, err := op.Max.Func(op.Uint8)
	if err != nil {
		fmt.Println(err)
		return
	}
	ours := []byte{3, 1, 4}
	f([]byte{2, 7, 1}, ours, ours) // in place: ours are the operands of the upper ranks
	fmt.Println(ours)

	_, err = op.Max.Func(op.Complex128)
	fmt.Println(err)
	// Output:
	// [3 7 4]
	// the operator Max is not defined for complex128: it takes integers and floating-point numbers
}

func ExampleOf() {
	gcd := op.Of("gcd", true, func(lower, upper uint8) uint8 {
		for upper != 0 {
			lower, upper = upper, lower%upper
		}
		return lower
	})
	f, err := gcd.Func(op.Uint8)
	if err != nil {
		fmt.Println(err)
		return
	}
	to := make([]byte, 2)
	f([]byte{12, 35}, []byte{18, 14}, to)
	fmt.Println(to)
	// Output: [6 7]
}

func ExampleVector() {
	// MPI's form: the result replaces the operand of the upper ranks.
	last := op.Vector("last that is set", false, func(in, inout []int32) {
		for i := range inout {
			if inout[i] == 0 {
				inout[i] = in[i]
			}
		}
	})
	f, err := last.Func(op.Int32)
	if err != nil {
		fmt.Println(err)
		return
	}
	var lower, upper bytes.Buffer
	_ = binary.Write(&lower, binary.NativeEndian, []int32{1, 2, 3})
	_ = binary.Write(&upper, binary.NativeEndian, []int32{0, 5, 0})
	f(lower.Bytes(), upper.Bytes(), lower.Bytes())

	to := make([]int32, 3)
	_ = binary.Read(&lower, binary.NativeEndian, to)
	fmt.Println(to)
	// Output: [1 5 3]
}
