package mpi_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/boot"
)

// An abstract socket is reached from its own network namespace only.
func TestRanksInTwoNetworkNamespacesAreToldSo(t *testing.T) {
	unshare := installed(t, "unshare")
	if out, err := exec.Command(unshare, "-n", "true").CombinedOutput(); err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("no network namespace can be made, and WEFT_CI=1 says that one must be: %v: %s", err, out)
		}
		t.Skipf("no network namespace can be made: %v: %s", err, out)
	}
	out, err := program(t, "run: ring", 2, 2, func(l *boot.Launch) {
		l.Path, l.Args = "sh", []string{"-c", `[ "$WEFT_RANK" = 1 ] && exec "$0" -n "$1"; exec "$1"`, unshare, os.Args[0]}
	})
	if err == nil {
		t.Fatalf("the ranks have met:\n%s", out)
	}
	for _, want := range []string{"connection refused: the rank is in another network namespace (net:[", "start them in one container"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
}

// Ranks that have nothing more to do leave while others still connect to them.
func TestAJobThatSucceedsPrintsNothingOfItsOwn(t *testing.T) {
	for range 15 {
		out, err := program(t, "run: nothing", 8, 0)
		if err != nil || out != "" {
			t.Fatalf("%v\n%s", err, out)
		}
	}
}
