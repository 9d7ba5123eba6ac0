package oracle_test

import (
	"fmt"

	"github.com/weft-mpi/weft/internal/testkit/oracle"
)

func ExampleCheck() {
	fmt.Println(oracle.Check(2, []oracle.Event{
		{Kind: oracle.Send, Rank: 0, Peer: 1, Req: 1, Tag: 3, Data: []byte("a")},
		{Kind: oracle.Send, Rank: 0, Peer: 1, Req: 2, Tag: 4, Data: []byte("b")},
		{Kind: oracle.Arrive, Rank: 1, Peer: 0, Tag: 4, Whole: true},
	}))
	// Output: event 2: at rank 1 arrives from 0, context 0, tag 4, whole true: it has overtaken #1 with tag 3, or nobody sent it
}
