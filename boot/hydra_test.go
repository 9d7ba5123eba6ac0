package boot

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// need returns the path of a tool, or skips the test. With WEFT_CI=1 a missing
// tool is a failure, so that a skip can't hide a bug.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("%s is missing, and WEFT_CI=1 says that it must not be", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}

func TestHydraStartsOurRanks(t *testing.T) {
	mpiexec := need(t, "mpiexec.hydra")
	for _, c := range []struct {
		name string
		args []string
	}{
		{"PMI_FD", nil},
		{"PMI_PORT", []string{"-pmi-port"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 3} {
				cmd := exec.CommandContext(deadline(t), mpiexec, append(c.args, "-n", fmt.Sprint(n), os.Args[0])...)
				cmd.Env = roleEnv("greet")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				checkGreetings(t, string(out), n, LauncherPMI1)
			}
		})
	}
}

func TestHydraWithinOurLauncherOwnsItsRanks(t *testing.T) {
	mpiexec := need(t, "mpiexec.hydra")
	out, err := launch(t, 1, "greet", func(l *Launch) {
		l.Path, l.Args = mpiexec, []string{"-n", "2", os.Args[0]}
		l.Bind = BindNone
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkGreetings(t, out, 2, LauncherPMI1)
}
