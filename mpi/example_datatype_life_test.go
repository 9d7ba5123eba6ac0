package mpi_test

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

// A library keeps with a type what it has computed for it. Duplicates get a copy, and Free
// deletes it.
func ExampleNewTypeKeyval() {
	key := mpi.NewTypeKeyval(
		func(_ *mpi.Datatype, plan string) (string, bool, error) { return plan + ", copied", true, nil },
		func(d *mpi.Datatype, plan string) error {
			fmt.Printf("%v loses %q\n", d, plan)
			return nil
		})
	column, err := mpi.TypeVector(3, 1, 4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	if err := key.Set(column, "a plan"); err != nil {
		log.Fatal(err)
	}
	dup, err := column.Dup()
	if err != nil {
		log.Fatal(err)
	}
	plan, _, err := key.Get(dup)
	fmt.Println(plan, err)
	if err := dup.SetName("the duplicate"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(dup.Free())
	fmt.Println(dup.Commit())
	// Output:
	// a plan, copied <nil>
	// the duplicate loses "a plan, copied"
	// <nil>
	// mpi.Datatype.Commit: the datatype has been freed: make it again, or free it later
}

// A duplicate is another type with the same elements.
func ExampleDatatype_Dup() {
	row, err := mpi.TypeContiguous(4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	dup, err := row.Dup()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dup.Size(), dup == row)
	// Output: 16 false
}

// A type tells how it was made.
func ExampleDatatype_Contents() {
	column, err := mpi.TypeVector(3, 1, 4, mpi.TypeInt32)
	if err != nil {
		log.Fatal(err)
	}
	columns, err := mpi.TypeResized(column, 0, 4)
	if err != nil {
		log.Fatal(err)
	}
	for t := columns; ; {
		combiner, ints, addrs, types := t.Contents()
		fmt.Println(combiner, ints, addrs, types)
		if combiner == mpi.CombinerNamed {
			break
		}
		t = types[0]
	}
	// Output:
	// resized [] [0 4] [vector of 12 bytes, lb 0, extent 36]
	// vector [3 1 4] [] [MPI_INT32_T]
	// named [] [] []
}

// A field's displacement is the difference of two addresses.
func ExampleAddress() {
	type cell struct {
		kind int32
		heat float64
	}
	c := cell{1, 0.5}
	base, err := mpi.Address(&c)
	if err != nil {
		log.Fatal(err)
	}
	heat, err := mpi.Address(&c.heat)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mpi.AintDiff(heat, base), mpi.AintAdd(base, 8) == heat)
	// Output: 8 true
}
