package launch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
	"golang.org/x/sys/unix"
)

// playShell is a launcher like weft run: it follows signals and exits with the
// job's code.
func playShell() error {
	ctx, stop := WithSignals(context.Background())
	defer stop()
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv(os.Getenv("BOOT_TEST_LAUNCH")), Stdout: struct{ io.Writer }{os.Stdout}, KillGrace: 300 * time.Millisecond}
	err := l.Run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(ExitCode(err))
	return nil
}

// shell starts playShell with ranks of a role.
func shell(t *testing.T, role string, out *os.File) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(os.Args[0])
	cmd.Env = roleEnv("shell", "BOOT_TEST_LAUNCH="+role)
	cmd.Stdout, cmd.Stderr = out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, &errs
}

// hangingRanks starts a launcher of ranks that hang. It returns their output
// and their process ids.
func hangingRanks(t *testing.T) (cmd *exec.Cmd, said string, pids []int) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd, _ = shell(t, "hang", w)
	w.Close()
	r.SetReadDeadline(time.Now().Add(patience))
	in := bufio.NewReader(r)
	for range 3 {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Sscanf(line, "hanging %d", &pid); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		said, pids = said+line, append(pids, pid)
	}
	return cmd, said, pids
}

func TestCtrlZStopsTheRanksUntilTheLauncherGoesOn(t *testing.T) {
	if signal.Ignored(syscall.SIGTSTP) {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatal("this process was started to ignore SIGTSTP, and WEFT_CI=1 says that it must not be")
		}
		t.Skip("this process was started to ignore SIGTSTP")
	}
	cmd, said, pids := hangingRanks(t)
	for range 2 {
		cmd.Process.Signal(syscall.SIGTSTP)
		awaitState(t, "T", append(pids, cmd.Process.Pid)...)
		cmd.Process.Signal(syscall.SIGCONT)
		awaitState(t, "RSD", append(pids, cmd.Process.Pid)...)
	}
	// Shells terminate a stopped job like this: the signal, then SIGCONT.
	cmd.Process.Signal(syscall.SIGTSTP)
	awaitState(t, "T", append(pids, cmd.Process.Pid)...)
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Process.Signal(syscall.SIGCONT)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
	noneLeft(t, said)
}

// awaitState waits until each process is in one of the states of proc(5).
func awaitState(t *testing.T, states string, pids ...int) {
	t.Helper()
	for ctx := deadline(t); len(pids) > 0; runtime.Gosched() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids[0]))
		if err != nil || ctx.Err() != nil {
			t.Fatalf("process %d: %v, want state %s: %s", pids[0], err, states, stat)
		}
		if _, rest, ok := bytes.Cut(stat, []byte(") ")); ok && strings.IndexByte(states, rest[0]) >= 0 {
			pids = pids[1:]
		}
	}
}

func TestAContextWithoutSignalsLeavesCtrlZAlone(t *testing.T) {
	if j := followJobControl(t.Context()); j.got != nil {
		t.Error("a Run without WithSignals catches SIGTSTP")
	}
}

func TestGraceDoesNotCountTheTimeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGraceTimer()
		begin := time.Now()
		fires := func(after time.Duration) {
			t.Helper()
			<-g.timer.C
			g.armed = false
			if d := time.Since(begin); d != after {
				t.Errorf("fired after %v, want %v", d, after)
			}
		}
		sleep := func(d time.Duration) { time.Sleep(d); synctest.Wait() }

		g.reset(10 * time.Second)
		fires(10 * time.Second)

		begin = time.Now()
		g.reset(10 * time.Second)
		sleep(4 * time.Second)
		g.pause()
		g.pause()
		sleep(time.Hour)
		g.resume()
		g.resume()
		fires(time.Hour + 10*time.Second)

		begin = time.Now()
		g.pause() // while nothing is set
		sleep(time.Second)
		g.reset(10 * time.Second)
		sleep(time.Hour)
		g.resume()
		fires(time.Hour + 11*time.Second)

		g.pause()
		g.resume()
		select {
		case <-g.timer.C:
			t.Error("fired once more")
		case <-time.After(time.Hour):
		}
	})
}

func TestLaunchersExitAsShellsDo(t *testing.T) {
	for _, c := range []struct {
		role string
		sig  syscall.Signal // to the launcher, once the ranks run
		code int
		says string
	}{
		{"greet", 0, 0, ""},
		{"killed", 0, 137, "launch: rank 1 was killed by signal 9 (killed)\n"},
		{"stubborn", 0, 4, "launch: rank 0 exited with code 4\n"},
		{"deserter", 0, 1, "exited without MPI_Finalize"},
		{"abort", 0, 7, "launch: rank 1 has aborted the job with code 7: \"no \\\"input\\\"\"\n"},
		{"hang", syscall.SIGINT, 130, "launch: job stopped: stopped by signal: interrupt\n"},
		{"hang", syscall.SIGTERM, 143, "terminated\n"},
		{"hang", syscall.SIGQUIT, 131, "quit\n"},
	} {
		t.Run(fmt.Sprint(c.role, c.code), func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd, errs := shell(t, c.role, w)
			w.Close()
			in := bufio.NewReader(r)
			if c.sig != 0 {
				for range 3 {
					if _, err := in.ReadString('\n'); err != nil {
						t.Fatal(err)
					}
				}
				cmd.Process.Signal(c.sig)
			}
			io.Copy(io.Discard, in)
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(errs.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, c.code, c.says, errs)
			}
		})
	}
}

func TestOutputThatCanNotBeWrittenIsAFailureOfTheLauncher(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	cmd, errs := shell(t, "greet", full)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(errs.String(), "no space left on device") {
		t.Errorf("exit code %d, want 1 and the reason:\n%s", code, errs)
	}
}

func TestExitCodes(t *testing.T) {
	interrupted := fmt.Errorf("launch: job stopped: %w", &Interrupted{syscall.SIGINT})
	killed := &ExitError{Rank: 1, Code: -1, Signal: unix.SIGSEGV}
	for _, c := range []struct {
		err  error
		code int
	}{
		{nil, 0},
		{errFull, 1},
		{&LimitError{}, 1},
		{killed, 139},
		{&ExitError{Code: 255}, 255},
		{&ExitError{Code: 0, Err: ErrNotFinalized}, 1},
		{&ExitError{Code: -1, Err: ErrProtocol}, 1},
		{errors.Join(errFull, killed, &ExitError{Code: 3}), 139},
		{errors.Join(killed, &cause.AbortError{Code: 0}), 0},
		{errors.Join(killed, &cause.AbortError{Code: 9}, interrupted), 130},
	} {
		if got := ExitCode(c.err); got != c.code {
			t.Errorf("%v: %d, want %d", c.err, got, c.code)
		}
	}
}
