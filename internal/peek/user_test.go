package peek

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// beVar makes the test binary be a process of another user, which asks a rank.
const beVar = "TEST_OF_PEEK_BE"

func TestMain(m *testing.M) {
	if job := os.Getenv(beVar); job != "" {
		os.Exit(stranger(NameOf(Key{}, job, 0)))
	}
	os.Exit(m.Run())
}

// stranger returns 0 if neither side has talked to the other.
func stranger(n Name) int {
	var other *UserError
	r := Ask(context.Background(), []Name{n}, "one")[0]
	if !errors.As(r.Err, &other) || other.UID != 0 {
		return 1
	}
	c, err := net.Dial("unix", n.socket())
	if err != nil {
		return 2
	}
	io.WriteString(c, `{"weft":1,"ask":"one"}`+"\n") // which may find the end
	if got, _ := io.ReadAll(c); len(got) > 0 {
		return 3
	}
	if c, err = net.Dial("unix", lastSocket(Key{}, n.Job)); err != nil {
		return 4
	}
	io.WriteString(c, `{"weft":1,"job":"`+n.Job+`","rank":0,"body":1}`+"\n")
	c.Close()
	return 0
}

func TestAnotherUserIsToldNothing(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	job := jobOf(t)
	asked := make(chan struct{}, 10)
	serve(t, Config{About: About{Job: job}, Answers: map[string]Answer{"one": {Give: func() (any, error) { asked <- struct{}{}; return 1, nil }}}})
	heard := hear(t, job)
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	// The binary lies where other users may not look.
	copied, err := os.CreateTemp("/dev/shm", "peek")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(copied.Name())
	_, err = copied.Write(exe)
	if err := errors.Join(err, copied.Chmod(0o755), copied.Close()); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(within(t), copied.Name())
	cmd.Dir = "/"
	cmd.Env = []string{beVar + "=" + job}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, os.ErrPermission) {
		t.Skipf("no program can be run there: %v", err)
	}
	if err != nil || len(asked) != 0 || strings.Contains(string(out), "panic") {
		t.Errorf("%v, %d answers\n%s", err, len(asked), out)
	}
	if all := heard(); len(all) > 0 {
		t.Errorf("another user's words are heard: %+v", all)
	}
	if r := Ask(within(t), []Name{NameOf(Key{}, job, 0)}, "one")[0]; r.Unmarshal(new(int)) != nil {
		t.Errorf("%+v", r)
	}
}
