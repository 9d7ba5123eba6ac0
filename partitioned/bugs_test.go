//go:build bugs

package partitioned

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// bug is a planted.Seeded.
type bug struct {
	Name, File, Old, New string
	Seeds                int
}

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	var all []planted.Seeded
	for _, b := range bugs {
		b.File, b.Seeds = "partitioned/"+b.File, max(b.Seeds, 1000)
		all = append(all, planted.Seeded(b))
	}
	planted.Tests{Root: "..", Sim: "TestModel", Args: []string{"-test.timeout", "20m"}}.Simulate(t, all)
}

// Those that no order of calls by one goroutine shows.
func TestPlantedBugsOfGoroutinesAndOfHostilePeers(t *testing.T) {
	planted.Tests{Root: "..", Args: []string{"-test.timeout", "20m"}}.Hunt(t, others)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{Root: "..", Args: []string{"-test.timeout", "10m"}}.Hunt(t, countBugs)
}
