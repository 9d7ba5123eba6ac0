package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/testkit/hosts"
	"github.com/weft-mpi/weft/mpi"
)

// takes is a rank that takes what a limit may refuse: a connection, memory, a window.
func takes(all *mpi.World, c *mpi.Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if _, err := mpi.Alloc[byte](1 << 20); err != nil {
		return err
	}
	w, err := mpi.WinAllocate[int64](c, 1000, mpi.WinOptions{})
	if err != nil {
		return err
	}
	if err := w.Free(); err != nil {
		return err
	}
	return all.Finalize()
}

// full is rank 0 with a peer that has a few descriptors left, which that says. Rank 0 calls
// it when its standard input says so. Both say what they get, and live until they are ended.
func full(_ *mpi.World, c *mpi.Comm) (err error) {
	if c.Rank() == 0 {
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return err
		}
		err = mpi.Send(c, []byte{1}, 1, 0)
	} else {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100, Max: 100}); err != nil {
			return err
		}
		var left int
		fmt.Sscan(os.Getenv("TEST_OF_WEFT_LEFT"), &left)
		var taken []int
		for {
			fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				break
			}
			taken = append(taken, fd)
		}
		for _, fd := range taken[len(taken)-left:] {
			unix.Close(fd)
		}
		fmt.Println("full")
		_, err = mpi.Recv(c, []byte{0}, 0, 0)
	}
	fmt.Printf("rank %d gets %q\n", c.Rank(), fmt.Sprint(err))
	return computes()
}

// A job below a limit runs, or says which limit it is and what raises it.
func TestALimitIsNamedWithItsRemedy(t *testing.T) {
	const size = "(ulimit -f)"
	for _, c := range []struct {
		limit, fabric, flags, program string
		says                          string // and fails
		may                           bool   // or runs
	}{
		{"ulimit -f 0", "shm", "", "takes", size, false},
		{"ulimit -f 512", "shm", "", "takes", size, false}, // enough for the control segment
		{"ulimit -f 0", "tcp", "", "takes", size, true},
		{"ulimit -f 0", "tcp", "", "none", "", false},
		{"ulimit -f 0", "tcp", "--trace FILE", "none", size, false},
		{"ulimit -f 0", "tcp", "--metrics-file FILE", "none", size, false},
		{"ulimit -n 12", "shm", "", "takes", "see ulimit -Hn", false},
		{"ulimit -n 24", "shm", "", "takes", "(ulimit -n)", true},
		{"ulimit -n 24", "tcp", "", "takes", "(ulimit -n)", true},
	} {
		t.Run(strings.Join([]string{c.limit, c.fabric, c.flags, c.program}, " "), func(t *testing.T) {
			t.Parallel()
			flags := strings.ReplaceAll(c.flags, "FILE", filepath.Join(t.TempDir(), "file"))
			cmd := weft(t, "-c", c.limit+" && exec \"$0\" run -n 2 "+flags+" \"$0\" hang "+c.program, os.Args[0])
			cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh"}, cmd.Args[1:]...)
			cmd.Env = append(cmd.Env, "WEFT_FABRIC="+c.fabric)
			out, err := cmd.CombinedOutput()
			switch code := exitCode(t, err); {
			case code == 0 && (c.says == "" || c.may):
			case code == 0 || c.says == "" || !strings.Contains(string(out), c.says):
				t.Errorf("exit code %d, want the error to say %q:\n%s", code, c.says, out)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Count(line, size) > 1 {
					t.Errorf("it says the remedy twice: %s", line)
				}
			}
		})
	}
}

// Both ranks of a connection learn which of them is at its limit on open files. The only
// numbers are that of the rank that says it and that of its peer.
func TestAPeerWithoutDescriptorsIsNamed(t *testing.T) {
	for fabric, left := range map[string]int{"shm": 2, "tcp": 1} {
		t.Run(fabric, func(t *testing.T) {
			t.Parallel()
			cmd := weft(t, "run", "-n", "2", os.Args[0], "hang", "full")
			cmd.Env = append(cmd.Env, "WEFT_FABRIC="+fabric, "WEFT_TCP_DEADLINE=1s", fmt.Sprint("TEST_OF_WEFT_LEFT=", left))
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			if !lines.Scan() || lines.Text() != "full" {
				t.Errorf("rank 1 says %q", lines.Text())
			}
			io.WriteString(in, "\n")
			for range 2 {
				lines.Scan()
				text := lines.Text()
				if !strings.Contains(text, "connect over ") || strings.Count(text, "rank ") != 2 || !strings.Contains(text, "too many open files") || !strings.Contains(text, "(ulimit -n)") {
					t.Error(text)
				}
			}
			cmd.Process.Signal(unix.SIGTERM)
			if code := exitCode(t, cmd.Wait()); code != 128+int(unix.SIGTERM) {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// A host gives out so few ports that some rank can't listen, or can't call another.
func TestPortsThatAreUsedUpAreNamed(t *testing.T) {
	host := hosts.Up(t, 1)
	for _, ports := range []string{"40000 40000", "40000 40001"} {
		script := "echo " + ports + " > /proc/sys/net/ipv4/ip_local_port_range && exec \"$0\" run -n 2 \"$0\" hang takes"
		command := host.Command(host.Names[0], "sh", "-c", script, os.Args[0])
		cmd := weft(t, command[1:]...)
		cmd.Path = command[0]
		cmd.Env = append(cmd.Env, "WEFT_FABRIC=tcp", "WEFT_TCP_DEADLINE=1s")
		out, err := cmd.CombinedOutput()
		if code := exitCode(t, err); code != 1 || !strings.Contains(string(out), "net.ipv4.ip_local_port_range") {
			t.Errorf("ports %s: exit code %d\n%s", ports, code, out)
		}
	}
}
