package group_test

import (
	"fmt"

	"github.com/weft-mpi/weft/group"
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
