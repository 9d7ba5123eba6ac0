//go:build bugs

package coll

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The symbolic machine finds every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{Run: "Symbolic", Timeout: "20m", Args: []string{"-most", "20"}}.Hunt(t, bugs)
}

// The tests of neighborhoods find the bugs in them.
func TestPlantedBugsOfNeighborhoods(t *testing.T) {
	planted.Tests{Run: "TestNeighbors"}.Hunt(t, neighborBugs)
}
