package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const patience = 5 * time.Minute

// runRanks starts a job of the program hung, and returns its launcher's process id. The job
// is killed at the end of the test.
func runRanks(t *testing.T, n int, name string, env ...string) (pid string) {
	t.Helper()
	cmd := weft(t, "run", "-n", fmt.Sprint(n), os.Args[0], "hang", name)
	cmd.Env = append(cmd.Env, env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("the job has printed\n%s", out.String())
		}
	})
	return fmt.Sprint(cmd.Process.Pid)
}

// until runs a command of weft until what it prints matches all of want.
func until(t *testing.T, want []string, args ...string) (printed string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		var stdout, stderr bytes.Buffer
		run(args, &stdout, &stderr)
		printed = stdout.String()
		missing := ""
		for _, w := range want {
			if !regexp.MustCompile(w).MatchString(printed) {
				missing = w
			}
		}
		if missing == "" {
			return printed
		}
		if time.Now().After(end) {
			t.Fatalf("weft %s prints\n%s%s\nwant %s", strings.Join(args, " "), printed, stderr.String(), missing)
		}
	}
}

func TestStacksSaysWhyAJobHangs(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks int
		want  []string
		never string // in the last output; "": nothing is forbidden
	}{
		{"tags", 2, []string{
			`=> rank 1 is in a receive from rank 0, tag 7, MPI_COMM_WORLD, and a message from rank 0 with tag 8 in MPI_COMM_WORLD \(12 bytes\) is there, which nobody receives: the tags differ, 7 and 8\n`,
			`=> ranks 0 and 1 wait to receive from each other, and neither sends: deadlock`, `hung_test.go:\d+`}, ""},
		{"communicators", 2, []string{`=> rank 1 is in a receive from rank 0, tag 5, communicator "second", and a message from rank 0 with tag 5 in MPI_COMM_WORLD \(4 bytes\) is there.*: the communicators differ`}, "deadlock"},
		{"sends", 2, []string{`=> ranks 0 and 1 wait for each other's receive, both are blocked in a send: deadlock; use Sendrecv`}, "has no receive"},
		{"send", 2, []string{`=> rank 0 waits in a send to rank 1, tag 3, MPI_COMM_WORLD, 200000 bytes, for which rank 1 has no receive: rank 1 is blocked in no call`}, "deadlock"},
		{"any", 3, []string{`=> ranks 0 to 2 wait to receive from one another, and none of them sends: deadlock`}, ""},
		{"free", 3, []string{`=> rank 1 waits in a receive from rank 0.*rank 0 is in a receive from any rank, tag 1`}, "deadlock"},
		{"late", 3, []string{
			`=> ranks 0 and 1 wait in Allreduce of 8 bytes by Sum of int64, number 2 of MPI_COMM_WORLD, which rank 2 has not called: rank 2 is in a receive from rank 0, tag 4`,
			`=> ranks 0 to 2 wait for one another: deadlock`}, ""},
		{"flags", 3, []string{`=> ranks 0 and 1 wait in Barrier, number 5 of MPI_COMM_WORLD, which rank 2 has not called: rank 2 is blocked in no call`}, "deadlock"},
		{"nonblocking", 3, []string{`=> ranks 0 and 1 wait in nonblocking Allreduce of 8 bytes by Sum of int64, number 1 of MPI_COMM_WORLD, which rank 2 has not called`}, "deadlock"},
		{"lock", 3, []string{
			`=> rank 1 waits for the lock of rank 2 in window "counters", which rank 0 holds exclusively: rank 0 is in a receive from rank 1, tag 2`,
			`=> ranks 0 and 1 wait for each other: deadlock \(rank 0: a receive from rank 1, tag 2.*; rank 1: Lock of window "counters"`}, ""},
		{"start", 2, []string{`=> rank 0 waits in Start in the window of context \d+ for the Post of rank 1: rank 1 is blocked in no call`}, "deadlock"},
		{"partitions", 2, []string{`=> partitions 2, 3 and 5 to 7 of the 8 of rank 0's partitioned send to rank 1, tag 6, MPI_COMM_WORLD, are not ready, and rank 1 waits for them`}, "deadlock"},
		{"stopped", 2, []string{`=> rank 1: no reply, its process \d+ is stopped \(SIGSTOP`, `rank 0 waits in a receive from rank 1.*: rank 1 has not told`}, "deadlock"},
		{"finalize", 2, []string{`=> rank 0 waits in Finalize, which rank 1 has not called`}, "deadlock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pid := runRanks(t, c.ranks, c.name)
			printed := until(t, c.want, "stacks", "--wait", "3s", pid)
			if c.never != "" && strings.Contains(printed, c.never) {
				t.Errorf("%q is in\n%s", c.never, printed)
			}
			if testing.Verbose() {
				t.Logf("\n%s", printed)
			}
		})
	}
}

func TestStacksAsJSONHasWhatRanksHaveTold(t *testing.T) {
	pid := runRanks(t, 3, "late")
	text := until(t, []string{"wait in Allreduce"}, "stacks", "--json", "-g", pid)
	var got told
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Size != 3 || len(got.Ranks) != 3 || len(got.Silent) != 0 || len(got.Goroutines) != 3 || len(got.Job) != 32 {
		t.Errorf("%s", text)
	}
	for pid, stacks := range got.Goroutines {
		if !strings.Contains(stacks, ".hung(") {
			t.Errorf("process %s: %s", pid, stacks)
		}
	}
}

func TestARankWithoutItsSocketIsNotFound(t *testing.T) {
	pid := runRanks(t, 2, "sends", "WEFT_PEEK=0")
	with := runRanks(t, 2, "sends")
	until(t, []string{"deadlock"}, "stacks", with)
	var stdout, stderr bytes.Buffer
	if code := run([]string{"stacks", pid}, &stdout, &stderr); code != 1 || !strings.Contains(stderr.String(), "no job has the id or process") {
		t.Errorf("%d, %s%s", code, stdout.String(), stderr.String())
	}
}
