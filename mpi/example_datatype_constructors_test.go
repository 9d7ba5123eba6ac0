package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// The examples of constructors print the type's memory, with a character for each element,
// and what is sent of a slice.

// Four elements, one after another.
func ExampleTypeContiguous() {
	four, err := mpi.TypeContiguous(4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := four.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fmt.Println(picture(four, 4))
	fmt.Println(sent[int32](mpi.As(four, s, 2)))
	// Output:
	// [0123]
	// [0 1 2 3 4 5 6 7]
}

// Three blocks of two elements, which begin four elements apart.
func ExampleTypeVector() {
	blocks, err := mpi.TypeVector(3, 2, 4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := blocks.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fmt.Println(picture(blocks, 4))
	fmt.Println(sent[int32](mpi.As(blocks, s, 1)))
	// Output:
	// [01..23..45]
	// [0 1 4 5 8 9]
}

// A field of each of three structs: the stride is the size of the struct, in bytes.
func ExampleTypeHvector() {
	type cell struct {
		heat float64
		kind int32
	}
	heats, err := mpi.TypeHvector(3, 1, 16, mpi.TypeFloat64)
	if err != nil {
		log.Fatal(err)
	}
	if err := heats.Commit(); err != nil {
		log.Fatal(err)
	}
	cells := []cell{{1.5, 1}, {2.5, 2}, {3.5, 3}}
	fmt.Println(picture(heats, 8))
	fmt.Println(sent[float64](mpi.As(heats, cells, 1)))
	// Output:
	// [0.1.2]
	// [1.5 2.5 3.5]
}

// The upper triangle of a matrix of 4 x 4 elements.
func ExampleTypeIndexed() {
	upper, err := mpi.TypeIndexed([]int{4, 3, 2, 1}, []int{0, 5, 10, 15}, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := upper.Commit(); err != nil {
		log.Fatal(err)
	}
	matrix := []int32{
		11, 12, 13, 14,
		21, 22, 23, 24,
		31, 32, 33, 34,
		41, 42, 43, 44,
	}
	fmt.Println(rows(upper, 4, 4))
	fmt.Println(sent[int32](mpi.As(upper, matrix, 1)))
	// Output:
	// 0123
	// .456
	// ..78
	// ...9
	// [11 12 13 14 22 23 24 33 34 44]
}

// Blocks at displacements in bytes, sent in the order of the list.
func ExampleTypeHindexed() {
	parts, err := mpi.TypeHindexed([]int{1, 2}, []int{20, 4}, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := parts.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fmt.Println(picture(parts, 4))
	fmt.Println(sent[int32](mpi.As(parts, s, 1)))
	// Output:
	// .[12..0]
	// [5 1 2]
}

// Pairs of elements, wherever a list says.
func ExampleTypeIndexedBlock() {
	pairs, err := mpi.TypeIndexedBlock(2, []int{0, 3, 8}, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := pairs.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fmt.Println(picture(pairs, 4))
	fmt.Println(sent[int32](mpi.As(pairs, s, 1)))
	// Output:
	// [01.23...45]
	// [0 1 3 4 8 9]
}

// The same with displacements in bytes.
func ExampleTypeHindexedBlock() {
	pairs, err := mpi.TypeHindexedBlock(2, []int{32, 0, 12}, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := pairs.Commit(); err != nil {
		log.Fatal(err)
	}
	s := []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	fmt.Println(picture(pairs, 4))
	fmt.Println(sent[int32](mpi.As(pairs, s, 1)))
	// Output:
	// [23.45...01]
	// [8 9 0 1 3 4]
}

// Two fields of a struct, in the other order. The picture has a character for each two
// bytes. TypeOf makes the type of a whole struct.
func ExampleTypeStruct() {
	type atom struct {
		kind  int16
		place [2]float64
		mass  float32
	}
	atoms := []atom{{1, [2]float64{0.5, 0.25}, 2}}
	base, err := mpi.Address(&atoms[0])
	if err != nil {
		log.Fatal(err)
	}
	mass, err := mpi.Address(&atoms[0].mass)
	if err != nil {
		log.Fatal(err)
	}
	fields, err := mpi.TypeStruct(
		[]int{1, 1},
		[]int{mpi.AintDiff(mass, base), 0},
		[]*mpi.Datatype{mpi.TypeFloat32, mpi.TypeInt16})
	if err != nil {
		log.Fatal(err)
	}
	if err := fields.Commit(); err != nil {
		log.Fatal(err)
	}
	got := make([]atom, 1)
	packed := make([]byte, fields.Size())
	if _, err := mpi.Pack(mpi.As(fields, atoms, 1), packed, 0); err != nil {
		log.Fatal(err)
	}
	if _, err := mpi.Unpack(packed, 0, mpi.As(fields, got, 1)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(picture(fields, 2))
	fmt.Println(got[0])
	// Output:
	// [1...........00]
	// {1 [0 0] 2}
}

// The first column of a matrix of 3 x 4 elements with the extent of one element, so that
// elements that follow one another are the columns: the matrix is sent transposed.
func ExampleTypeResized() {
	column, err := mpi.TypeVector(3, 1, 4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	columns, err := mpi.TypeResized(column, 0, 4)
	if err != nil {
		log.Fatal(err)
	}
	if err := columns.Commit(); err != nil {
		log.Fatal(err)
	}
	matrix := []int32{
		11, 12, 13, 14,
		21, 22, 23, 24,
		31, 32, 33, 34,
	}
	fmt.Println(picture(column, 4))
	fmt.Println(picture(columns, 4))
	fmt.Println(sent[int32](mpi.As(columns, matrix, 4)))
	// Output:
	// [0...1...2]
	// [0]...1...2
	// [11 21 31 12 22 32 13 23 33 14 24 34]
}
