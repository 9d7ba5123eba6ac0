//go:build bugs

package rma

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The tests find every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{Args: []string{"-rapid.nofailfile"}}.Hunt(t, bugs)
}
