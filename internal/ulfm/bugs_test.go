//go:build bugs

package ulfm

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The explorer and the simulations find every planted bug, and nothing where none is
// planted.
func TestPlantedBugs(t *testing.T) {
	planted.Tests{}.Hunt(t, bugs)
}
