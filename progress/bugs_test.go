//go:build bugs

package progress

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// Every planted bug is found, each time and not by a hang. The states are checked
// after each transition.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{Tags: "invariants"}.Hunt(t, bugs)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{}.Hunt(t, countBugs)
}
