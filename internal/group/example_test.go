package group_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/group"
)

func Example() {
	m, err := group.New([]int{1, 3, 5}) // the odd ranks of a job of six
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.World(2), m.Rank(3), m.Rank(4))
	// Output: 5 1 -1
}

// The ranks of a job of six, taken apart and put together.
func ExampleMap_Difference() {
	all := group.All(6)
	odd, err := all.RangeIncl([]group.Range{{First: 1, Last: 5, Stride: 2}})
	if err != nil {
		fmt.Println(err)
		return
	}
	even := all.Difference(odd)
	both := even.Union(odd)
	for i := range both.Len() {
		fmt.Print(both.World(i), " ")
	}
	fmt.Println(both.Compare(all) == group.Similar, both.Translate([]int{0, 3}, odd))
	// Output: 0 2 4 1 3 5 true [-1 0]
}

// An error says which item of the list is wrong, and why.
func ExampleRankError() {
	_, err := group.All(4).Incl([]int{0, 3, 4})
	fmt.Println(err)
	_, err = group.All(9).RangeExcl([]group.Range{{First: 0, Last: 4, Stride: 2}, {First: 8, Last: 2, Stride: -3}})
	fmt.Println(err)
	// Output:
	// item 2 of the list names rank 4, which is not in the group of 4 ranks (0 to 3)
	// item 1 of the list names rank 2, and so does item 0: each rank may be named once
}
