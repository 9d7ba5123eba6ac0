//go:build bugs

package rma

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The explorer and the tests of real words find the bugs in locks.
func TestPlantedBugsOfLocks(t *testing.T) {
	planted.Tests{}.Hunt(t, lockBugs)
}
