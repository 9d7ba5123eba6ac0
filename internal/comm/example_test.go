package comm_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// A rank alone has a communicator, too; of more ranks each calls Dup.
func Example() {
	domain, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "example", Log: slog.Default()})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine := comm.New(comm.Config{
		Limits:   pt2pt.DefaultLimits,
		Progress: progress.Config{Domain: domain, Addrs: [][]byte{domain.Addr()}, Log: slog.Default()},
	})
	dup, err := engine.World.Dup(context.Background())
	fmt.Println(dup.ID == engine.World.ID, dup.Size, err)
	engine.End()
	fmt.Println(dup.Over(), engine.Close())
	// Output:
	// false 1 <nil>
	// true <nil>
}
