package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/tier"
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
		// A leader for each daemon, and both on this host.
		{"two daemons", []string{"-launcher", "fork", "-hosts", "localhost,127.0.0.2", "-ppn", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, n := range []int{1, 4} {
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

// slurm runs a command on the cluster of scripts/slurm, or skips the test where
// that can't run. With WEFT_CI=1 that is a failure.
func slurm(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(deadline(t), filepath.Join("..", "..", "scripts", "slurm"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it cleans up
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 77 {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("WEFT_CI=1 says that Slurm must run: %s", out)
		}
		t.Skipf("%s", out)
	}
	return string(out), err
}

// Both nodes are this machine. Each has a daemon, and so its ranks a leader.
func TestSlurmStartsOurRanks(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	for _, n := range []int{2, 4} {
		out, err := slurm(t, roleEnv("greet"), "srun", "-N2", fmt.Sprint("-n", n), "--mpi=pmi2", os.Args[0])
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		checkGreetings(t, out, n, LauncherPMI1)
	}
}
