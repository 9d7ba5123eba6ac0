package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// playFabric prints the fabric, and uses it in turns for barriers and messages,
// some of them too long for one packet.
func playFabric(w *mpi.World) error {
	c := w.Comm()
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for round, n := range []int{1, 1 << 10, 1 << 18} {
		if err := c.Barrier(); err != nil {
			return err
		}
		mine, theirs := slices.Repeat([]int{c.Rank() + 1000*round}, n), make([]int, n)
		if _, err := mpi.Sendrecv(c, mine, right, round, theirs, left, round); err != nil {
			return err
		}
		if want := slices.Repeat([]int{left + 1000*round}, n); !slices.Equal(theirs, want) {
			return fmt.Errorf("%d numbers of rank %d are not what it sent", n, left)
		}
	}
	if err := c.Barrier(); err != nil {
		return err
	}
	fmt.Println("fabric", w.Fabric())
	return ring(w)
}

// fabrics runs playFabric over each fabric between processes of this machine.
func fabrics(t *testing.T, sizes []int, start func(t *testing.T, n int, env []string) (string, error)) {
	for _, c := range []struct{ set, in string }{{"tcp", "tcp"}, {"auto", "shm"}} {
		t.Run(c.set, func(t *testing.T) {
			for _, n := range sizes {
				out, err := start(t, n, append(programEnv("run: fabric", 0), "WEFT_FABRIC="+c.set))
				if err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				checkRing(t, out, n, n)
				if got := strings.Count(out, "fabric "+c.in+"\n"); got != n {
					t.Errorf("%d of %d ranks use %s:\n%s", got, n, c.in, out)
				}
			}
		})
	}
}

func TestFabricsUnderHydra(t *testing.T) {
	mpiexec := installed(t, "mpiexec.hydra")
	fabrics(t, []int{4}, func(t *testing.T, n int, env []string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, mpiexec, "-n", fmt.Sprint(n), os.Args[0])
		cmd.Env = env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		return string(out), err
	})
}

// The two nodes of the cluster are this machine.
func TestFabricsUnderSlurm(t *testing.T) {
	tier.Long(t, "it needs another program's daemon")
	fabrics(t, []int{2, 4}, func(t *testing.T, n int, env []string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, filepath.Join("..", "scripts", "slurm"), "srun", "-N2", fmt.Sprint("-n", n), "--mpi=pmi2", os.Args[0])
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
	})
}
