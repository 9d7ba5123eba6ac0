package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

const agentsVar = "BOOT_TEST_AGENTS"

// playLauncherWithSignals is a launcher like weft run, on two hosts or here.
func playLauncherWithSignals() error {
	ctx, stop := WithSignals(context.Background())
	defer stop()
	l := Launch{N: 3, Path: os.Args[0], Env: roleEnv("signals"), Stdout: struct{ io.Writer }{os.Stdout}, KillGrace: patience}
	if os.Getenv(agentsVar) != "" {
		two(2)(&l)
	}
	os.Exit(ExitCode(l.Run(ctx)))
	return nil
}

// playSignals says who has started it and which signals it gets.
func playSignals() error {
	got := make(chan os.Signal, 4)
	signal.Notify(got, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGHUP)
	fmt.Println("child of", os.Getppid())
	for s := range got {
		fmt.Println(s)
		if s == syscall.SIGTERM || s == syscall.SIGHUP {
			break
		}
	}
	return nil
}

func TestSignalsReachTheRanks(t *testing.T) {
	caught := make(chan os.Signal, 1) // not ignored by the launcher either, should nohup run the tests
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	for _, c := range []struct {
		name string
		argv []string
		env  string
		code int
	}{
		{"here", []string{os.Args[0]}, "", 129},
		{"agents", []string{os.Args[0]}, agentsVar + "=1", 129},
		{"nohup", []string{"sh", "-c", `trap "" HUP; exec "$0"`, os.Args[0]}, "", 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, in := piped(t, exec.Command(c.argv[0], c.argv[1:]...), "launcher with signals", c.env)
			all := func(want string) (lines []string) {
				t.Helper()
				for range 3 {
					line, err := in.ReadString('\n')
					if err != nil || !strings.HasPrefix(line, want) {
						t.Fatalf("%q, %v, want %q of each rank", line, err, want)
					}
					lines = append(lines, line)
				}
				return lines
			}
			parents := map[int]bool{}
			for _, line := range all("child of ") {
				var pid int
				fmt.Sscanf(line, "child of %d", &pid)
				parents[pid] = true
			}
			if c.code == 143 {
				cmd.Process.Signal(syscall.SIGHUP) // which does nothing
			}
			for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2} {
				cmd.Process.Signal(s)
				all(s.String())
				if c.env != "" {
					for pid := range parents {
						syscall.Kill(pid, s)
					}
					all(s.String())
				}
			}
			cmd.Process.Signal(syscall.Signal(c.code - 128))
			all("terminated")
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}
