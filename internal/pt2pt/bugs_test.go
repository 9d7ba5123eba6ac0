//go:build bugs

package pt2pt

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

type bug planted.Seeded

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Simulate(t, planted.Tests{Timeout: "20m"}, bugs)
}

// The tests of contexts find the bugs in them.
func TestPlantedBugsOfContexts(t *testing.T) {
	planted.Tests{Timeout: "2m", Args: []string{"-test.short"}}.Hunt(t, contextBugs)
}

// The tests of layouts find the bugs in them that the simulation does not.
func TestPlantedBugsOfLayouts(t *testing.T) {
	planted.Tests{Timeout: "2m"}.Hunt(t, layoutBugs)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{}.Hunt(t, countBugs)
}

// The tests of what may wait find the bugs in that.
func TestPlantedBugsOfWaits(t *testing.T) {
	planted.Tests{}.Hunt(t, wildBugs)
}
