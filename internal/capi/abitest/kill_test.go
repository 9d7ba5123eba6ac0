package abitest

import (
	"path/filepath"
	"strings"
	"testing"
)

// A rank of three is killed in each state in which the others wait for it. They go on with
// an error, and nothing hangs.
func TestAKilledRankIsAnErrorOfTheOthers(t *testing.T) {
	program := compile(t, "mpicc", filepath.Join("testdata", "kill.c"))
	for _, state := range strings.Fields(`recv recv-any ssend rendezvous waitall test persistent probe barrier bcast
		allreduce iallreduce dup split partitioned fence lock finalize`) {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			out, _ := job(t, 3, []string{"--keep-going"}, nil, program, state) // weft run ends as the killed rank does
			for _, rank := range []string{"0", "2"} {
				if !strings.Contains(out, rank+" goes on") {
					t.Errorf("rank %s does not:\n%s", rank, out)
				}
			}
		})
	}
}
