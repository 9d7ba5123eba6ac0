package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/hosts"
)

func TestRanksTellEachOtherTheirHosts(t *testing.T) {
	k := hosts.Up(t, 2)
	kit := strings.TrimSuffix(k.Names[0], "0")
	cores, err := AllowedCores()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, host, hosts string
		local             [][]int // by rank
	}{
		{"blocks", "$((WEFT_RANK / 2))", "[0 0 1 1]", [][]int{{0, 1}, {0, 1}, {2, 3}, {2, 3}}},
		{"in turns", "$((WEFT_RANK % 2))", "[0 1 0 1]", [][]int{{0, 2}, {1, 3}, {0, 2}, {1, 3}}},
		{"the second host first", "$((WEFT_RANK < 3))", "[0 0 0 1]", [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}, {3}}},
		{"one host", "0", "[0 0 0 0]", [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}}},
	} {
		for _, bind := range []Bind{BindAuto, BindNone} {
			out, err := launch(t, 4, "places", func(l *Launch) {
				l.Path, l.Args, l.Bind = "sh", []string{"-c", "exec " + k.Script + " in " + kit + c.host + ` "$0"`, os.Args[0]}, bind
			})
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.name, err, out)
			}
			for rank, local := range c.local {
				n := len(cores)
				if bind == BindAuto {
					its := map[int]bool{}
					for _, r := range local {
						its[cores[r%len(cores)]] = true
					}
					n = len(its)
				}
				want := fmt.Sprintf("rank %d: hosts %s local %v cores %d\n", rank, c.hosts, local, n)
				if !strings.Contains(out, want) {
					t.Errorf("%s: nothing says %q:\n%s", c.name, want, out)
				}
			}
		}
	}
}

func TestCardsThatLieEndTheJob(t *testing.T) {
	for bad, says := range map[string]string{
		"version": "card of rank 1: bootstrap protocol broken: card of version 2",
		"leads":   "card of rank 1: bootstrap protocol broken: it gives the job an id",
	} {
		out, err := launch(t, 2, "bad card", func(l *Launch) { l.Env = append(l.Env, badVar+"="+bad) })
		if err != nil || !strings.Contains(out, says) {
			t.Errorf("%s: %v\n%s", bad, err, out)
		}
	}
}

// badVar says what is wrong with rank 1's card.
const badVar = "BOOT_TEST_BAD"
