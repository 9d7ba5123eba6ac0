package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// build returns the path of a weft that is built for this test.
func build(t *testing.T) string {
	t.Helper()
	weft := filepath.Join(t.TempDir(), "weft")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", weft, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return weft
}

// Weft prints one line for each rank that failed by itself, and none for the
// ranks that it stopped.
func TestWeftExitsAsShellsDoAndNamesEachRankThatFailed(t *testing.T) {
	weft := build(t)
	for _, c := range []struct {
		flags, script string
		code          int
		says          []string // lines, sorted
	}{
		{"-n 3", "exit 0", 0, nil},
		{"-n 3", "[ $WEFT_RANK != 1 ] || exit 42; sleep 60", 42, []string{"rank 1 exited with code 42"}},
		{"-n 3", "[ $WEFT_RANK != 2 ] || kill -9 $$; sleep 60", 137, []string{"rank 2 was killed by signal 9 (killed)"}},
		{"-n 3", "[ $WEFT_RANK != 0 ] || kill -TERM $$; sleep 60", 143, []string{"rank 0 was killed by signal 15 (terminated)"}},
		{"-n 3 --keep-going", "echo failing >&2; exit 5", 5, []string{"rank 0 exited with code 5", "rank 1 exited with code 5", "rank 2 exited with code 5"}},
		{"-n 2 --keep-going", "[ $WEFT_RANK != 0 ] || exit 6; sleep 3; echo went on >&2", 6, []string{"rank 0 exited with code 6"}},
	} {
		t.Run(c.flags+" "+c.script, func(t *testing.T) {
			t.Parallel()
			var errs bytes.Buffer
			args := append([]string{"run"}, strings.Fields(c.flags)...)
			cmd := exec.CommandContext(t.Context(), weft, append(args, "sh", "-c", c.script)...)
			cmd.Stderr = &errs
			err := cmd.Run()
			var said []string
			for line := range strings.Lines(errs.String()) {
				if line, ok := strings.CutPrefix(strings.TrimSpace(line), "weft: launch: "); ok {
					said = append(said, line)
				}
			}
			slices.Sort(said)
			if code := cmd.ProcessState.ExitCode(); code != c.code || !slices.Equal(said, c.says) {
				t.Errorf("%v, want code %d and %q:\n%s", err, c.code, c.says, errs.String())
			}
			if strings.Contains(c.script, "went on") && !strings.Contains(errs.String(), "went on") {
				t.Errorf("rank 1 did not go on:\n%s", errs.String())
			}
		})
	}
}

func TestWeftExitsAsIfTheSignalHadEndedIt(t *testing.T) {
	weft := build(t)
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), weft, "run", "-n", "2", "--keep-going", "sh", "-c", "echo running; exec sleep 60")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(out)
			for range 2 {
				if _, err := in.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			cmd.Process.Signal(sig)
			cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Errorf("exit code %d, want %d", got, code)
			}
		})
	}
}
