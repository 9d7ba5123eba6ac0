//go:build bugs

package comm

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/weft-mpi/weft/internal/planted"
)

// bug is a mistake that the simulation has to find within so many seeds. Old
// stands in the file exactly once.
type bug struct {
	name, file, old, new string
	seeds                int
}

var simulation = planted.Tests{Root: "..", Args: []string{"-test.run", "^TestSim$", "-test.timeout", "20m"}}

var found = regexp.MustCompile(`seed (\d+): (.*)`)

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	most := 0
	for _, b := range bugs {
		most = max(most, b.seeds)
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			out, err := simulation.Find(t, &planted.Bug{Name: b.name, File: b.file, Old: b.old, New: b.new}, "-seeds", fmt.Sprint(b.seeds))
			if err == nil {
				t.Fatalf("%d seeds have not found it", b.seeds)
			}
			m := found.FindSubmatch(out)
			if m == nil {
				t.Fatalf("no seed failed: %v\n%s", err, planted.Tail(out))
			}
			t.Logf("seed %s: %s", m[1], m[2])
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, err := simulation.Find(t, nil, "-seeds", fmt.Sprint(most)); err != nil {
			t.Errorf("%v\n%s", err, planted.Tail(out))
		}
	})
}
