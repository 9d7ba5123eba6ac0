package strangers

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// takeVar makes the test binary be a process that takes a name and keeps it until its
// input ends.
const takeVar = "TEST_OF_STRANGERS_TAKE"

func TestMain(m *testing.M) {
	if name := os.Getenv(takeVar); name != "" {
		_, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: name, Net: "unixpacket"})
		fmt.Println(err)
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestANameIsKnownToWhoHasTheSecret(t *testing.T) {
	a := Name([]byte("secret"), "rank 1")
	if len(a) != 32 || a != Name([]byte("secret"), "rank 1") || a == Name([]byte("secret"), "rank 2") || a == Name([]byte("Secret"), "rank 1") {
		t.Errorf("%s", a)
	}
}

func TestWhoHasTakenANameIsTold(t *testing.T) {
	name := fmt.Sprintf("@weft-test-%d", os.Getpid())
	l, err := Listen("unixpacket", name)
	if err != nil {
		t.Fatal(err)
	}
	taken, other := Listen("unixpacket", name)
	if _, others := errors.AsType[*TakenError](other); taken != nil || !errors.Is(other, syscall.EADDRINUSE) || others {
		t.Errorf("taken by this user: %v", other)
	}
	l.Close()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	// Where the binary lies other users may not look: the process has it open.
	exe, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer exe.Close()
	cmd := exec.Command("/proc/self/fd/3")
	cmd.ExtraFiles = []*os.File{exe}
	cmd.Dir, cmd.Env = "/", []string{takeVar + "=" + name}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); errors.Is(err, os.ErrPermission) {
		t.Skipf("no program can be run so: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	said := make([]byte, 6)
	if _, err := io.ReadFull(out, said); err != nil || string(said) != "<nil>\n" {
		t.Fatalf("it says %q, %v", said, err)
	}
	want := fmt.Sprintf("the name is taken by a process of another user (%s, user 65534, process %d)", name, cmd.Process.Pid)
	if _, err := Listen("unixpacket", name); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
