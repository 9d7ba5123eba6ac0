package mpi_test

import (
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// A program tells what it runs with.
func ExampleSettings() {
	for _, s := range mpi.Settings(mpi.WithFabric("mem"), mpi.WithChecks()) {
		if s.Origin == mpi.FromOption {
			fmt.Printf("%s=%s by %s\n", s.Variable, s.Value, s.Option)
		}
	}
	// Output:
	// WEFT_FABRIC=mem by WithFabric
	// WEFT_CHECK=coll by WithChecks
}
