package partitioned_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/partitioned"
	"github.com/weft-mpi/weft/progress"
)

// A rank sends itself four partitions, of which the receive sees two halves. Package
// mpi has the calls for programs.
func Example() {
	domain, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "example", Log: slog.Default()})
	if err != nil {
		fmt.Println(err)
		return
	}
	loop := progress.New(progress.Config{Domain: domain, Addrs: [][]byte{domain.Addr()}, Log: slog.Default()})
	defer loop.Close()
	engine := partitioned.New(loop, 0)
	loop.Go()

	out, in := []byte("the left, the right."), make([]byte, 20)
	send := engine.PsendInit(context.Background(), 0, 0, 7, out, 4)
	recv := engine.PrecvInit(context.Background(), 0, 0, 7, in, 2)
	requests := []progress.Handle{send.Request(), recv.Request()}
	if err := progress.RestartAll(requests); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(send.Ready(2, 3))
	first, _ := recv.Arrived(0)
	second, _ := recv.Arrived(1)
	fmt.Println(first, second, string(in[10:]))
	fmt.Println(send.Ready(0, 1))
	_, err = progress.Wait(&requests[1])
	fmt.Println(string(in), err)
	// Output:
	// <nil>
	// false true the right.
	// <nil>
	// the left, the right. <nil>
}
