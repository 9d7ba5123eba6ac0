//go:build bugs

package comm

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

type bug planted.Seeded

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	how := planted.Tests{Timeout: "20m"}
	planted.Simulate(t, how, bugs)
	how.Hunt(t, callBugs)
}

// The tests of persistent calls find the bugs in them.
func TestPlantedBugsOfPersistentCalls(t *testing.T) {
	planted.Tests{}.Hunt(t, persistentBugs)
}

// The tests of context ids find the bugs in them.
func TestPlantedBugsOfIds(t *testing.T) {
	planted.Tests{}.Hunt(t, idBugs)
}

// The tests of comparisons find the bugs in them.
func TestPlantedBugsOfComparisons(t *testing.T) {
	planted.Tests{}.Hunt(t, compareBugs)
}

// The tests of creations find the bugs in them.
func TestPlantedBugsOfCreations(t *testing.T) {
	planted.Tests{}.Hunt(t, creationBugs)
}

// The tests of meetings, connections and intercommunicators find the bugs in them.
func TestPlantedBugsOfMeetings(t *testing.T) {
	planted.Tests{}.Hunt(t, meetingBugs)
}

// The tests of the barrier of a tree find the bugs in it.
func TestPlantedBugsOfTrees(t *testing.T) {
	planted.Tests{Timeout: "1m"}.Hunt(t, treeBugs)
}

// The tests of counters find the bugs in them.
func TestPlantedBugsOfCounts(t *testing.T) {
	planted.Tests{}.Hunt(t, countBugs)
}

// The tests of how ranks go on without those that have failed find the bugs in that.
func TestPlantedBugsOfFailures(t *testing.T) {
	planted.Tests{}.Hunt(t, failureBugs)
}
