package coll_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/coll"
)

// Rank 1 of four has its operand in In, and gets the sum of ranks 0 and 1 in Out.
func Example() {
	s := &coll.Shape{Rank: 1, Size: 4, Count: 2, Bytes: 8}
	p := coll.Make(coll.Scan, s)
	fmt.Println(coll.Algorithms(coll.Scan)[p.By].Name)
	for _, step := range p.Steps {
		fmt.Println(step)
	}
	// Output:
	// doubling
	// send In[0:2] to 2
	// receive Out[0:2] from 0
	// wait
	// Out[0:2] = Out[0:2] ⊕ In[0:2]
	// send Out[0:2] to 3
	// wait
}

// A call between two groups: the root is rank 1 of the other group, the peer 2+1.
func ExampleMake_betweenGroups() {
	s := &coll.Shape{Rank: 0, Size: 2, Remote: 3, Root: 1, Count: 5, Bytes: 4}
	for _, step := range coll.Make(coll.Bcast, s).Steps {
		fmt.Println(step)
	}
	// Output:
	// receive Out[0:5] from 3
	// wait
	// send Out[0:5] to 1
	// wait
}
