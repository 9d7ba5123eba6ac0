//go:build bugs

package rma

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The tests find every planted bug of windows, and nothing where none is planted. A
// program that hangs is found by its patience.
func TestPlantedBugsOfWindows(t *testing.T) {
	planted.Tests{Args: []string{"-patience", "20s", "-seeds", "1500"}}.Hunt(t, windowBugs)
}
