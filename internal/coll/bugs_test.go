//go:build bugs

package coll

import (
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/planted"
)

// The symbolic machine finds every planted bug, and nothing where none is planted.
func TestPlantedBugs(t *testing.T) {
	list := make(planted.List, len(bugs))
	for i, b := range bugs {
		list[i] = [5]string{b[0], "coll/" + b[1], b[2], b[3], "Symbolic"}
	}
	planted.Tests{Root: "../..", Args: []string{"-most", "20", "-test.timeout", "20m"}}.Hunt(t, list)
}
