package match_test

import (
	"fmt"

	"github.com/weft-mpi/weft/match"
)

func Example() {
	const world = 1 // a context
	var t match.Table

	// MPI_Irecv: look among the unexpected messages, then post.
	irecv := func(src, tag int32, request uint32) {
		if msg, ok := t.TakeUnexpected(world, src, tag); ok {
			fmt.Printf("request %d takes message %d at once\n", request, msg)
			return
		}
		t.Post(world, src, tag, request)
	}
	// A message arrives: look among the posted receives, then keep it.
	deliver := func(src, tag int32, msg uint32) {
		if request, ok := t.Arrive(world, src, tag); ok {
			fmt.Printf("message %d completes request %d\n", msg, request)
			return
		}
		t.AddUnexpected(world, src, tag, msg)
	}

	irecv(match.AnySource, 5, 1)
	irecv(3, 5, 2)
	deliver(3, 5, 100)
	deliver(4, 5, 101)
	deliver(3, 5, 102)
	irecv(4, match.AnyTag, 3)
	fmt.Println(t.Posted(), t.Unexpected())

	// Output:
	// message 100 completes request 1
	// message 102 completes request 2
	// request 3 takes message 101 at once
	// 0 0
}
