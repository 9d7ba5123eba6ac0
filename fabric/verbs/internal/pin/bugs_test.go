//go:build bugs

package pin

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// Every planted bug is found, each time and not by a hang: the time limit is less
// than the tests' patience.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{Timeout: "4m"}.Hunt(t, bugs)
}
