package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// playLauncherOfShells starts a shell for each rank, and is to be killed.
func playLauncherOfShells() error {
	l := Launch{N: 3, Path: "sh", Args: []string{"-c", os.Args[0] + "; true"}, Env: roleEnv("orphan"),
		Stdout: os.Stdout, Stderr: os.Stdout, Direct: true}
	return l.Run(context.Background())
}

// playOrphan: rank 1 has left its job, rank 2 rests, and rank 0 cleans up behind itself.
func playOrphan() error {
	term := make(chan os.Signal, 1)
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	switch j.Rank {
	case 0:
		signal.Notify(term, syscall.SIGTERM)
	case 1:
		err = j.Close()
	case 2:
		err = j.Rest()
	}
	if err != nil {
		return err
	}
	fmt.Println("ready")
	select {
	case <-term:
		fmt.Println("cleaned up")
	case <-time.After(3 * patience):
	}
	return nil
}

// The kernel kills the shells with their launcher. The ranks, which hold the pipe, end by
// themselves.
func TestRanksUnderAShellDoNotOutliveTheirLauncher(t *testing.T) {
	cmd, in := piped(t, exec.Command(os.Args[0]), "launcher of shells")
	for range 3 {
		if line, err := in.ReadString('\n'); line != "ready\n" {
			t.Fatal(line, err)
		}
	}
	cmd.Process.Kill()
	out, err := io.ReadAll(in)
	if err != nil {
		t.Fatalf("a rank is left: %v\n%s", err, out)
	}
	for _, want := range []string{"weft: the launcher of rank 0 has ended", "of rank 1 has ended", "of rank 2 has ended", "cleaned up\n"} {
		if strings.Count(string(out), want) != 1 {
			t.Errorf("nobody says %q:\n%s", want, out)
		}
	}
}

// piped starts a process of this program, in a role, whose output is a pipe.
func piped(t *testing.T, cmd *exec.Cmd, role string, env ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	cmd.Env, cmd.Stdout = roleEnv(role, env...), w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	r.SetReadDeadline(time.Now().Add(patience))
	return cmd, bufio.NewReader(r)
}
