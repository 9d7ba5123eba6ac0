package mpi_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/launch"
)

// An abstract socket is reached from its own network namespace only, so ranks in
// two are on two hosts.
func TestRanksInTwoNetworkNamespacesAreToldSo(t *testing.T) {
	unshare := installed(t, "unshare")
	if out, err := exec.Command(unshare, "-n", "true").CombinedOutput(); err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("no network namespace can be made, and WEFT_CI=1 says that one must be: %v: %s", err, out)
		}
		t.Skipf("no network namespace can be made: %v: %s", err, out)
	}
	for fabric, says := range map[string]string{
		"shm":     "1 of 2 ranks are on other machines, which shm does not reach: choose a fabric that reaches the network",
		"shm+tcp": "choose a network interface: none can be used (lo: it has no address); name interfaces or prefixes in WEFT_TCP_IF",
	} {
		t.Setenv("WEFT_FABRIC", fabric)
		out, err := program(t, "run: ring", 2, 2, func(l *launch.Launch) {
			l.Path, l.Args = "sh", []string{"-c", `[ "$WEFT_RANK" = 1 ] && exec "$0" -n "$1"; exec "$1"`, unshare, os.Args[0]}
		})
		if err == nil {
			t.Fatalf("%s: the ranks have met:\n%s", fabric, out)
		}
		if !strings.Contains(out, says) {
			t.Errorf("%s: nothing says %q:\n%s", fabric, says, out)
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
