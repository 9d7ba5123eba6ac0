//go:build bugs

package rma

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The tests find every planted bug of operations with types, and nothing where none is
// planted.
func TestPlantedBugsOfTypes(t *testing.T) {
	planted.Tests{Args: []string{"-patience", "20s", "-seeds", "500"}}.Hunt(t, typedBugs)
}
