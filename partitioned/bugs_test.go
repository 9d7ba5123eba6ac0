//go:build bugs

package partitioned

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

type bug planted.Seeded

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Simulate(t, planted.Tests{Sim: "TestModel", Timeout: "20m"}, bugs)
}

// Those that no order of calls by one goroutine shows.
func TestPlantedBugsOfGoroutinesAndOfHostilePeers(t *testing.T) {
	planted.Tests{Timeout: "20m"}.Hunt(t, others)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{}.Hunt(t, countBugs)
}
