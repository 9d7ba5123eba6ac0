//go:build bugs

package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/internal/planted"
)

// The tests find every planted bug of the check of types, and nothing where none is
// planted.
func TestPlantedBugsOfTypes(t *testing.T) {
	planted.Tests{Root: "..", Args: []string{"-test.timeout", "5m", "-test.short"}}.Hunt(t, typeBugs)
}

// The tests find the bugs in the calls about ranks that have failed.
func TestPlantedBugsOfFailures(t *testing.T) {
	planted.Tests{Root: "..", Args: []string{"-test.timeout", "5m", "-test.short"}}.Hunt(t, failureBugs)
}
