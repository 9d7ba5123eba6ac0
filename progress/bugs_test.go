//go:build bugs

package progress

import (
	"regexp"
	"testing"

	"github.com/weft-mpi/weft/internal/planted"
)

// bug is a mistake in waiting that the tests named by run have to find: each
// time, and not by a hang.
type bug struct {
	name, file, old, new string
	run                  string
}

// tests runs this package's with the states checked after each transition.
var tests = planted.Tests{Root: "..", Tags: "invariants", Args: []string{"-test.timeout", "10m"}}

var found = regexp.MustCompile(`--- FAIL: (\S+)|broken invariant: (.*)`)

// Every planted bug is found, and nothing is found where none is planted.
func TestPlantedBugs(t *testing.T) {
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			out, err := tests.Find(t, &planted.Bug{Name: b.name, File: b.file, Old: b.old, New: b.new}, "-test.run", b.run)
			if err == nil {
				t.Fatalf("%s has not found it", b.run)
			}
			m := found.Find(out)
			if m == nil {
				t.Fatalf("no test has failed: %v\n%s", err, planted.Tail(out))
			}
			t.Logf("%s", m)
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		if out, err := tests.Find(t, nil); err != nil {
			t.Errorf("%v\n%s", err, planted.Tail(out))
		}
	})
}
