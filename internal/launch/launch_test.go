package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"
)

// greetings parses the lines of playGreet, sorted by rank.
func greetings(t *testing.T, out string) []map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	sort.Strings(lines)
	var all []map[string]string
	for _, line := range lines {
		m := map[string]string{}
		for _, f := range strings.Fields(line) {
			k, v, _ := strings.Cut(f, "=")
			m[k] = v
		}
		all = append(all, m)
	}
	return all
}

func checkGreetings(t *testing.T, out string, n int, launcher string) []map[string]string {
	t.Helper()
	all := greetings(t, out)
	if len(all) != n {
		t.Fatalf("%d ranks of %d spoke:\n%s", len(all), n, out)
	}
	local := make([]int, n)
	for i := range local {
		local[i] = i
	}
	for i, m := range all {
		if m["rank"] != fmt.Sprint(i) || m["size"] != fmt.Sprint(n) || m["launcher"] != launcher ||
			len(m["id"]) != 32 || m["id"] != all[0]["id"] || m["key"] != all[0]["key"] ||
			m["local"] != strings.ReplaceAll(fmt.Sprint(local), " ", ",") {
			t.Errorf("rank %d does not fit into the job: %v, rank 0: %v", i, m, all[0])
		}
	}
	return all
}

func TestRanksExchangeInEveryRound(t *testing.T) {
	ids := map[string]bool{}
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var told []string
			out, err := launch(t, n, "greet", func(l *Launch) { l.Begun = func(id string, _ Key) { told = append(told, id) } })
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			id := checkGreetings(t, out, n, LauncherWeft)[0]["id"]
			if ids[id] {
				t.Errorf("two jobs have id %s", id)
			}
			if len(told) != 1 || told[0] != id {
				t.Errorf("the launcher was told of the jobs %q, the ranks have %s", told, id)
			}
			ids[id] = true
		})
	}
}

func TestRunNamesTheFirstRankThatFailed(t *testing.T) {
	for _, c := range []struct {
		role string
		n    int
		want ExitError
		is   error
		says string // in the output
	}{
		{role: "killed", n: 3, want: ExitError{Rank: 1, Code: -1, Signal: syscall.SIGKILL}},
		{role: "stubborn", n: 3, want: ExitError{Rank: 0, Code: 4}},
		{role: "deserter", n: 1, want: ExitError{Rank: 0, Code: 0}, is: ErrNotFinalized},
		{role: "resumed", n: 1, want: ExitError{Rank: 0, Code: 0}, is: ErrNotFinalized},
		{role: "rests and fails", n: 1, want: ExitError{Rank: 0, Code: 5}},
		{role: "garbage", n: 2, want: ExitError{Rank: 1, Code: -1}, is: ErrProtocol, says: `not a frame of Weft's launcher`},
		{role: "version", n: 1, want: ExitError{Rank: 0, Code: -1}, is: ErrProtocol, says: "version 77 of the launcher protocol, this program version 6"},
		{role: "twins", n: 1, want: ExitError{Rank: 0, Code: -1}, is: ErrProtocol, says: "two processes take themselves for rank 0"},
		{role: "impostor", n: 1, want: ExitError{Rank: 0, Code: -1}, is: ErrProtocol, says: "hello from rank 5 of 9"},
		{role: "late", n: 1, want: ExitError{Rank: 0, Code: -1}, is: ErrProtocol, says: "offer for round 3 while round 0 is on"},
	} {
		t.Run(c.role, func(t *testing.T) {
			t.Parallel()
			out, err := launch(t, c.n, c.role, func(l *Launch) { l.KillGrace = enough }) // time to print
			got, ok := errors.AsType[*ExitError](err)
			if !ok {
				t.Fatalf("got %v\n%s", err, out)
			}
			if got.Rank != c.want.Rank || got.Code != c.want.Code || got.Signal != c.want.Signal || !errors.Is(got.Err, c.is) {
				t.Errorf("got %v, want %v with %v\n%s", err, &c.want, c.is, out)
			}
			if !strings.Contains(out, c.says) {
				t.Errorf("the rank was not told %q:\n%s", c.says, out)
			}
			noneLeft(t, out)
		})
	}
}

func TestRanksInExchangeHearOfOneThatWillNotCome(t *testing.T) {
	for _, c := range []struct {
		role string
		n    int
		fail bool
	}{
		{"early", 3, false},
		{"early code", 3, true},
		{"closed", 3, false},
		{"failed", 3, true},
	} {
		t.Run(c.role, func(t *testing.T) {
			out, err := launch(t, c.n, c.role)
			if (err != nil) != c.fail {
				t.Errorf("Run: %v\n%s", err, out)
			}
			if n := strings.Count(out, "told\n"); n != c.n-1 {
				t.Errorf("%d ranks were told, want %d:\n%s", n, c.n-1, out)
			}
		})
	}
}

// noneLeft checks that the processes that printed "hanging <pid>" are gone.
func noneLeft(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var pid int
		if _, err := fmt.Sscanf(line, "hanging %d", &pid); err != nil {
			continue
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

func TestCancelStopsTheRanksWithTheSignalOfItsCause(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause error
	}{
		{"no cause", nil},
		{"interrupt", &Interrupted{syscall.SIGINT}},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(deadline(t))
			defer cancel(nil)
			r, w := io.Pipe()
			l := Launch{N: 2, Path: os.Args[0], Env: roleEnv("hang"), Stdout: w, KillGrace: patience}
			done := make(chan error, 1)
			go func() {
				done <- l.Run(ctx)
				w.Close()
			}()
			in := bufio.NewReader(r)
			var out string
			for range l.N { // both run
				line, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				out += line
			}
			cancel(c.cause)
			err := <-done
			if !errors.Is(err, context.Canceled) || c.cause != nil && !errors.Is(err, c.cause) {
				t.Errorf("Run: %v", err)
			}
			noneLeft(t, out)
		})
	}
}

func TestContextThatHasEndedStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := (&Launch{N: 1, Path: os.Args[0], Env: roleEnv("hang")}).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSignalsEndTheirContextWithTheSignalAsCause(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT} {
		ctx, stop := WithSignals(deadline(t))
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
		by, ok := errors.AsType[*Interrupted](context.Cause(ctx))
		if !ok || by.Signal != sig {
			t.Errorf("%v: %v", sig, context.Cause(ctx))
		}
		stop()
	}
}

// The ranks hold the write end of the pipe: its end of file means that all are
// dead.
func TestRanksDieWithTheirLauncher(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = roleEnv("launcher")
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	in := bufio.NewReader(r)
	for range 3 {
		if _, err := in.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Now().Add(patience))
	if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
		t.Errorf("ranks outlive their launcher: %q, %v", rest, err)
	}
	cmd.Wait()
}

// The process left behind holds the rank's output pipe open, and Run waits for
// the end of file for as long as KillGrace: it returns because the process is
// killed.
func TestProcessesThatARankLeavesBehindAreKilled(t *testing.T) {
	out, err := launch(t, 2, "parent", func(l *Launch) { l.KillGrace = time.Hour })
	if err != nil || strings.Count(out, "hanging") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestProgramsStartedByARankDoNotTakeThemselvesForIt(t *testing.T) {
	out, err := launch(t, 1, "family")
	if want := "socket 3\nchild: \"\"\n"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

func TestRunLeavesNoDescriptorAndNoGoroutine(t *testing.T) {
	files := func() int {
		d, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(d)
	}
	run := func() {
		if out, err := launch(t, 3, "greet", func(l *Launch) { l.Stdin = strings.NewReader("x") }); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		launch(t, 3, "failed", quick)
		launch(t, 1, "greet", func(l *Launch) { l.Path = "/dev/null" })
	}
	run() // opens the runtime's own descriptors
	fds, gos := files(), runtime.NumGoroutine()
	run()
	if n := files(); n != fds {
		t.Errorf("%d descriptors, %d before", n, fds)
	}
	// Goroutines that have done their work may not have returned yet.
	ctx := deadline(t)
	for runtime.NumGoroutine() > gos+1 && ctx.Err() == nil { // one for ctx itself
		runtime.Gosched()
	}
	if ctx.Err() != nil {
		t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), gos)
	}
}

func TestLaunchThatCannotStartSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Launch)
		want error
	}{
		{"program is missing", func(l *Launch) { l.Path = "/no/such/program" }, os.ErrNotExist},
		{"program is no program", func(l *Launch) { l.Path = os.DevNull }, os.ErrPermission},
		{"exec fails", func(l *Launch) { l.Path = notExecutable(t) }, syscall.ENOEXEC},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := launch(t, 2, "greet", c.set); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func notExecutable(t *testing.T) string {
	name := t.TempDir() + "/program"
	if err := os.WriteFile(name, []byte("\x00not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}
