// Package abitest builds the C library as make capi does, and runs C programs on it. The
// programs of cmd/libmpi-abi/testdata say themselves on how many ranks they run; those here
// are about the library in a process: who loads it, what it does to signals, and so on.
package abitest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
)

// patience is how long a job may take before it is called hung.
const patience = 5 * time.Minute

// root is the module's folder, and scratch one for what is built.
var root, scratch string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if root, err = filepath.Abs("../../.."); err == nil {
		scratch, err = os.MkdirTemp("", "abitest")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	return m.Run()
}

var build = sync.OnceValues(func() (tree string, err error) {
	tree = filepath.Join(scratch, "tree")
	out, err := exec.Command(filepath.Join(root, "scripts", "capi"), tree).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("scripts/capi: %w\n%s", err, out)
	}
	return tree, err
})

// library returns the folder that scripts/capi has made, with bin, lib and include.
func library(t *testing.T) string {
	t.Helper()
	need(t, "cc")
	tree, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// need returns the path of a tool, or skips the test. With WEFT_CI a missing tool is a
// failure, so that a skip can't hide a bug.
func need(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("WEFT_CI") != "" {
			t.Fatalf("%s is missing, and WEFT_CI says that nothing may be left out: scripts/setup installs it", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}

// compile builds a program by a wrapper, mpicc or mpicxx, without a warning.
func compile(t *testing.T, wrapper, source string, flags ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	args := append([]string{"-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o", program, source}, flags...)
	if out, err := exec.Command(filepath.Join(library(t), "bin", wrapper), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", wrapper, source, err, out)
	}
	return program
}

// job runs a program as n ranks, 0: without a launcher, and returns what all have printed.
// flags are weft run's. A job that hangs fails the test with what its ranks wait for.
func job(t *testing.T, n int, flags, env []string, command ...string) (string, error) {
	t.Helper()
	weft := filepath.Join(library(t), "bin", "weft")
	if n > 0 { // tests run side by side, so no rank is bound
		command = slices.Concat([]string{weft, "run", "--bind", "none", "-n", strconv.Itoa(n)}, flags, command)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	var stacks []byte
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error {
		stacks, _ = exec.Command(weft, "stacks", strconv.Itoa(cmd.Process.Pid)).CombinedOutput()
		return cmd.Process.Signal(syscall.SIGTERM)
	}
	err := cmd.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatalf("%v hangs:\n%s\nit has printed:\n%s", command, stacks, out.Bytes())
	}
	return out.String(), err
}

// silent runs a program that prints what is wrong, and nothing otherwise.
func silent(t *testing.T, n int, command ...string) {
	t.Helper()
	if out, err := job(t, n, nil, nil, command...); err != nil || out != "" {
		t.Errorf("%d ranks: %v\n%s", n, err, out)
	}
}
