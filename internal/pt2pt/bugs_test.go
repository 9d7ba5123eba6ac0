//go:build bugs

package pt2pt

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
		all = append(all, planted.Seeded(b))
	}
	planted.Tests{Root: "../..", Args: []string{"-test.timeout", "20m"}}.Simulate(t, all)
}

// The tests of contexts find the bugs in them.
func TestPlantedBugsOfContexts(t *testing.T) {
	planted.Tests{Root: "../..", Args: []string{"-test.timeout", "2m", "-test.short"}}.Hunt(t, contextBugs)
}

// The tests of layouts find the bugs in them that the simulation does not.
func TestPlantedBugsOfLayouts(t *testing.T) {
	planted.Tests{Root: "../..", Args: []string{"-test.timeout", "2m"}}.Hunt(t, layoutBugs)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{Root: "../..", Args: []string{"-test.timeout", "10m"}}.Hunt(t, countBugs)
}

// The tests of what may wait find the bugs in that.
func TestPlantedBugsOfWaits(t *testing.T) {
	planted.Tests{Root: "../..", Args: []string{"-test.timeout", "10m"}}.Hunt(t, wildBugs)
}
